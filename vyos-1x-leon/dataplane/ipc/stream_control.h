// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The messages between leond and leon-tls, the program that carries datagrams in TLS connections.
 * leond opens all TCP sockets and passes them; leon-tls has no rights and no configuration. One
 * SOCK_SEQPACKET socket, one structure in each message: both ends belong to a package, and a
 * message of another size ends the receiver. Control thread of leond, main thread of leon-tls.
 */
#pragma once

#include <stdint.h>

#include "base/addr.h"

#define STREAM_ACCEPTED	  1u << 31 /* ids of accepted connections; leond assigns the others */
#define STREAM_NAME_LEN	  256
#define STREAM_PATH_LEN	  256
#define STREAM_REASON_LEN 120
#define STREAM_PROTOCOL	  1

enum stream_order {
	STREAM_SETUP,  /* first message; then: the files of the server may have changed */
	STREAM_LISTEN, /* passes a listening socket */
	STREAM_DIAL,   /* passes a connecting socket */
	STREAM_KEEP,   /* the peer of the connection is a member */
	STREAM_CLOSE,
};
struct stream_command {
	uint32_t protocol; /* STREAM_PROTOCOL */
	enum stream_order order;
	uint32_t id;		 /* DIAL, KEEP, CLOSE */
	struct endpoint sockets; /* SETUP: the sockets of leond for streams */
	/* SETUP: files of the server; empty: a certificate that is made at the start */
	char certificate[STREAM_PATH_LEN], key[STREAM_PATH_LEN];
	/* DIAL: name of the server (SNI), and "host:port" for CONNECT of a proxy; empty: none */
	char server[STREAM_NAME_LEN], connect[STREAM_NAME_LEN + 8];
	/* DIAL: "user:password" for the proxy, or empty */
	char login[STREAM_NAME_LEN];
};

/* COUNT(member and key, help text of the metric). tx_dropped: the oldest datagrams of a full or
 * late queue. refused: no place, or replaced by a newer connection. */
#define STREAM_COUNTS_OF(COUNT)                                                                    \
	COUNT(tx_datagrams, "Datagrams sent over TLS.")                                            \
	COUNT(tx_bytes, "Bytes sent over TLS.")                                                    \
	COUNT(tx_dropped, "Datagrams dropped because they waited too long for TCP.")               \
	COUNT(rx_datagrams, "Datagrams received over TLS.")                                        \
	COUNT(rx_bytes, "Bytes received over TLS.")                                                \
	COUNT(accepted, "TCP connections accepted.")                                               \
	COUNT(refused, "TCP connections closed because other strangers had their places.")         \
	COUNT(failed, "TLS handshakes that failed.")                                               \
	COUNT(expired, "Connections closed because no member used them.")
struct stream_counts {
#define AS_MEMBER(member, help) uint64_t member;
	STREAM_COUNTS_OF(AS_MEMBER)
#undef AS_MEMBER
};
enum stream_news {
	STREAM_UP,     /* datagrams pass between the two */
	STREAM_DOWN,   /* the connection ended, or failed */
	STREAM_COUNTS, /* once a second */
};
struct stream_report {
	uint32_t protocol;
	enum stream_news news;
	uint32_t id;
	struct endpoint local;		/* UP: the socket of leon-tls, IP_STREAM */
	struct endpoint remote;		/* UP: the TCP endpoint of the other end */
	char reason[STREAM_REASON_LEN]; /* DOWN */
	struct stream_counts counts;
};

#define STREAM_FDS_MAX 8
/* Sends a message with n descriptors. Returns 0 or -errno. */
int stream_send_fds(int socket, const void *message, size_t len, const int *fd, unsigned n);
/* The same with one descriptor if fd >= 0. */
int stream_send(int socket, const void *message, size_t len, int fd);
/* Receives a message of `len` bytes. Returns 0; -EAGAIN; -EPIPE: the other end is gone; -EPROTO:
 * another length. *fd is -1 without a descriptor. fd NULL: closes a passed descriptor. */
int stream_receive(int socket, void *message, size_t len, int *fd);
