// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A socket in the middle of a connection that others began: it stands in for the far host towards
 * the near one. Made with TCP_REPAIR, which takes CAP_NET_ADMIN in the network namespace that the
 * process is in. Owns nothing; one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"

struct stand_in {
	const char *device; /* that the near host is reached through */
	struct endpoint near, far;
	uint32_t send_seq, receive_seq; /* the next of each direction, as the near host sees them */
	/* What the near host granted last, and with which shifts windows are read and stated;
	 * scaling: both ends agreed to it, or nobody knows. */
	uint16_t window;
	bool scaling;
	uint8_t near_scale, far_scale;
	uint32_t receive_window; /* bytes that the near host may have under way */
	uint32_t send_buffer;	 /* bytes; 0: the kernel chooses */
	uint16_t mss;
	bool sack, timestamps;
	uint32_t timestamp; /* the last that the near host had from the far one */
};

/* Makes a non-blocking socket, established and silent, or returns -errno. All that can fail for
 * want of memory, descriptors, a port or a right fails here. */
int stand_in_open(const struct stand_in *s);
/* The socket becomes part of the connection, with the window, the timestamp and the receive window
 * of now. 0 or -errno. */
int stand_in_start(int fd, const struct stand_in *s);
/* Nothing is sent: the connection goes on without it. */
void stand_in_leave(int fd);
/* The near host gets a RST. */
void stand_in_reset(int fd);
/* Bytes (and FIN) that the near host has not acknowledged. */
uint32_t stand_in_unacknowledged(int fd);
/* Bytes of its host that nobody has read. */
uint32_t stand_in_unread(int fd);
/* What its host acknowledged of it so far, for flow_watch(). */
struct stand_in_proof {
	bool acknowledged; /* data or FIN that was sent */
	bool received;	   /* data of the host was accepted */
	unsigned retries;  /* segments that were sent again */
	int64_t sent_ms;   /* since the last segment with data */
	int64_t silent_ms; /* since an acknowledgement without data was accepted, or it was made */
};
struct stand_in_proof stand_in_proof(int fd);
/* Its host has reset the connection, or did not answer for so long that the kernel gave it up. */
bool stand_in_is_over(int fd);
