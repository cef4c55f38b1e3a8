// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A proxy socket: a TCP socket that joins an existing connection and represents the far host
 * towards the near host. Made with TCP_REPAIR, which needs CAP_NET_ADMIN in the network namespace
 * of the process. Owns nothing; single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "flow/flow.h"

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
