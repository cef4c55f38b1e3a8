// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * UDP sockets with all that makes them fast and observable: one pair (IPv4, IPv6) a worker on one
 * port, DF set, segmentation offload both ways, receive timestamps, an error queue; and batches to
 * receive and send with one system call. Opening and closing: control thread, which gets failures
 * logged here. A batch belongs to one worker; batches never log and never allocate.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/addr.h"

#define UDP_SOCKETS_MAX 8
/* What one GSO send may hold: 64 segments before Linux 6.9, and what one datagram can hold. */
#define UDP_GSO_SEGMENTS 64
#define UDP_GSO_BYTES	 65000
#define UDP_DATAGRAM_MAX 65507

/* --- sockets --- */
struct udp_config {
	unsigned n;  /* sockets of each family, 1..UDP_SOCKETS_MAX */
	bool v4, v6; /* families wanted; a wanted family that fails is an error */
	struct ip_addr source4, source6; /* family 0: any address */
	uint16_t port;			 /* 0: the kernel chooses one, the same for all sockets */
	const char *device;		 /* SO_BINDTODEVICE: interface or VRF; NULL none */
	int buffer_bytes;		 /* of each socket and direction; 0: 4 MiB */
};
struct udp {
	unsigned n;
	int fd4[UDP_SOCKETS_MAX], fd6[UDP_SOCKETS_MAX]; /* -1 where the family is not wanted */
	uint16_t port;
	bool gso;	    /* UDP_SEGMENT works */
	bool gro;	    /* UDP_GRO is on */
	bool timestamps;    /* SO_TIMESTAMPNS is on */
	int rcvbuf, sndbuf; /* granted, bytes as the kernel counts them; smallest of all sockets */
};
/*
 * 0 or -errno: -EADDRINUSE where any other socket has the port (other users of SO_REUSEPORT
 * included), -EADDRNOTAVAIL where the source address is not on this host, -ENODEV, -EPERM.
 */
int udp_open(struct udp *u, const struct udp_config *c);
void udp_close(struct udp *u);
/* Header fields of what all sockets send from now on; 0: as the host has it. */
struct udp_marking {
	uint8_t tos, ttl, tclass, hoplimit;
	bool df_unset;
	uint32_t fwmark; /* SO_MARK */
};
/* 0 or -errno of what the kernel refused, which is logged; the rest is set all the same. */
int udp_set_marking(struct udp *u, const struct udp_marking *m);
/* Does without offloads that were granted: a flag that is false turns its offload off. */
void udp_limit(struct udp *u, bool gso, bool gro);

/* --- one datagram, for the control thread --- */
/*
 * Sends through fd4 or fd6 by the family of `to`. A pending error of an earlier datagram is
 * swallowed, the datagram is sent nevertheless. 0 or -errno; -EAFNOSUPPORT where there is no
 * socket of that family, -EMSGSIZE where it is larger than the interface's MTU.
 */
int udp_send(int fd4, int fd6, const struct endpoint *to, const void *data, size_t len);
/* The same with this TOS or traffic class instead of that of udp_set_marking(). */
int udp_send_class(int fd4, int fd6, const struct endpoint *to, const void *data, size_t len,
		   uint8_t class);

struct cmsghdr;
/* The control message that says so; room: CMSG_SPACE(sizeof(int)). */
void udp_put_class(struct cmsghdr *c, bool v6, uint8_t class);

/* --- receiving in batches --- */
struct udp_rx;
struct udp_rx_msg {
	uint8_t *data; /* writable; valid until the next udp_rx_read() */
	size_t len;
	/* Several datagrams of this length one behind the other, the last may be shorter; `len`
	 * where there is only one. Never 0. */
	size_t segment;
	bool truncated; /* the buffer was too small */
	struct sockaddr_storage *from;
	uint8_t class;	    /* TOS of IPv4, traffic class of IPv6; of all datagrams in it */
	int64_t rx_real_ns; /* CLOCK_REALTIME at arrival, 0 unknown */
};
struct udp_rx *udp_rx_new(unsigned n_messages, size_t buffer_bytes);
void udp_rx_free(struct udp_rx *rx); /* NULL ok */
/* Reads so many messages at `most`. How many (0: none waits), or -errno (never -EAGAIN). */
int udp_rx_read(struct udp_rx *rx, int fd, unsigned most);
const struct udp_rx_msg *udp_rx_get(const struct udp_rx *rx, unsigned i);

/* One entry of the error queue: an ICMP message about a datagram that this socket sent. */
struct udp_error {
	struct endpoint to; /* destination of the datagram that caused it */
	int error;	    /* errno value, EMSGSIZE among them */
	uint32_t mtu;	    /* with EMSGSIZE: what the router reported */
};
/* True where one was taken from the queue. Also clears the socket's pending error. */
bool udp_error_next(int fd, struct udp_error *e);

/* --- sending in batches --- */
/*
 * Collects messages, each gathered from pieces that must stay valid until udp_tx_flush(), and
 * hands them to the kernel in order with as few calls as possible.
 */
struct udp_tx;
struct udp_tx *udp_tx_new(unsigned n_messages, unsigned n_pieces);
void udp_tx_free(struct udp_tx *tx); /* NULL ok */
/* Room for a message of `pieces` pieces? */
bool udp_tx_has_room(const struct udp_tx *tx, unsigned pieces);
/* Begins a message; sa must stay valid until the flush; tag is given back on failure. */
void udp_tx_begin(struct udp_tx *tx, const void *sa, unsigned sa_len, uint32_t tag);
/* Adds a piece to the message begun last; pieces that touch in memory become one. */
void udp_tx_add(struct udp_tx *tx, const void *data, size_t len);
/* Makes the message begun last a GSO message of segments of this size (0: a plain datagram). */
void udp_tx_set_segment(struct udp_tx *tx, uint16_t segment);
/* Gives the message begun last this TOS (v6: traffic class) instead of that of
 * udp_set_marking(). */
void udp_tx_set_class(struct udp_tx *tx, bool v6, uint8_t class);
unsigned udp_tx_messages(const struct udp_tx *tx);

struct udp_tx_ops {
	/* The kernel refused this message; error > 0 is the errno, EAGAIN where the socket buffer
	 * stayed full. `n` datagrams were in it. */
	void (*failed)(void *arg, uint32_t tag, int error, unsigned n, size_t len);
	/* A GSO message had to be sent segment by segment: better make none for this tag
	 * for a while. */
	void (*gso_refused)(void *arg, uint32_t tag);
};
struct udp_tx_result {
	unsigned calls;	   /* system calls made */
	unsigned messages; /* accepted by the kernel; each segment sent by itself is one */
};
/*
 * Sends all and empties the batch. Where the socket buffer is full it waits once, at most
 * UDP_TX_WAIT_MS, then gives up the rest. A GSO message that the route cannot carry as one (EIO,
 * EINVAL: IPsec, no checksum offload) is sent segment by segment.
 */
#define UDP_TX_WAIT_MS 2
struct udp_tx_result udp_tx_flush(struct udp_tx *tx, int fd, const struct udp_tx_ops *ops,
				  void *arg);
