// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A proxy socket: a TCP socket that joins an existing connection and represents the far host
 * towards the near host. Made with TCP_REPAIR, which needs CAP_NET_ADMIN in the network namespace
 * of the process. Owns nothing; single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "flow/flow.h"

struct conn;

struct proxy_sock {
	const char *device; /* Device towards the near host. */
	struct endpoint near, far;
	/* Next sequence number of each direction, as the near host sees them. */
	uint32_t send_seq, receive_seq;
	/* Last window of the near host, and the shifts of received and stated windows. scaling:
	 * both hosts scale, or that is unknown. */
	uint16_t window;
	bool scaling;
	uint8_t near_scale, far_scale;
	uint32_t receive_window; /* Limit of the bytes in flight from the near host. */
	uint32_t send_buffer;	 /* Bytes. 0: the kernel chooses. */
	uint16_t mss;
	bool sack, timestamps;
	uint32_t timestamp; /* Last timestamp that the near host received from the far host. */
};

/* Makes a non-blocking socket in state ESTABLISHED that sends nothing yet. Returns -errno on
 * failure. Every failure for lack of memory, descriptors, a port or a permission happens here. */
int proxy_sock_open(const struct proxy_sock *s);
/* Makes the socket a part of the connection, with the present window, timestamp and receive window.
 * Returns 0 or -errno. */
int proxy_sock_start(int fd, const struct proxy_sock *s);
/* Closes the socket without a segment. The connection continues without it. */
void proxy_sock_leave(int fd);
/* Closes the socket with a RST to the near host. */
void proxy_sock_reset(int fd);
/* Number of bytes, and FIN, that the near host has not acknowledged. */
uint32_t proxy_sock_unacknowledged(int fd);
/* Number of unread bytes from the near host. */
uint32_t proxy_sock_unread(int fd);
/* Acknowledgements of the near host since the socket was made. */
struct flow_proof proxy_sock_proof(int fd, mono_t made, mono_t now);
/* Reports whether the near host has reset the connection, or the kernel has ended it after a
 * timeout. */
bool proxy_sock_is_over(int fd);

/* --- conn/conn_socket.c ---
 * Bounds of the acknowledged and undelivered bytes of a connection. Called by conn_socket.c.
 * Single-threaded.
 */

/* Credit in bytes that the other end gets now. At most the share of a connection, and within the
 * budget of all connections. CREDIT_MIN is always granted. */
uint32_t credit_due(const struct conn *c);
/* Receive buffer of a proxy socket in bytes. As small as a LAN permits, because the content must be
 * delivered before a release. The buffer has space for the held frames, which the host would
 * retransmit otherwise. */
uint32_t credit_receive_window(const struct conn *c);
/* Send buffer of a proxy socket in bytes. */
uint32_t credit_send_buffer(const struct conn *c);

/* --- local_pair.c ---
 * A connection with both hosts on the local LAN, after a host moved during the interception. The
 * proxy sockets deliver the missing data to both hosts through a single port. Called by migrated.c
 * and conns.c. Single-threaded.
 */

struct local_pair_frame;
struct local_pair {
	bool turn;	   /* The turn belongs to the far host. */
	bool is_open;	   /* Frames may be sent to the host. */
	bool is_requested; /* Both hosts were probed for the turn. */
	mono_t turned;
	struct local_pair_frame *first[2]; /* Waiting frames, by host. */
	size_t kept;
};

/* Starts the turns, for a new connection or if the far host has moved to this LAN. */
void local_pair_begin(struct conn *c, mono_t now);
void local_pair_free(struct conn *c);
/* Sends a frame to a host with the address of the other host. */
void local_pair_send(struct conn *c, bool to_far, const uint8_t *vnet, const uint8_t *frame,
		     size_t len);
void local_pair_tick(struct conn *c, mono_t now);
/* Both hosts are on the local LAN. The switches may forward frames for both to this node, because
 * the proxy sockets used both addresses. Probes both hosts, so the answers correct the switches. */
void here_find_hosts(struct conn *c);
