// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ways to a peer, and sending along them. Owns the buffer of outgoing messages. Called by all
 * floors above, on the control thread. Protocol 3.1, 3.2.
 */
#pragma once

#include "proto/core.h"

bool via_direct(const struct peer *p, struct via *v);
bool via_best(struct overlay *o, const struct peer *p, struct via *v);
/* Along a path of slots; false where the first hop cannot be sent to. */
bool via_path(struct overlay *o, const struct path *path, struct via *v);
/* Where no path leads to it: along links that one of their ends claims to be there. */
bool via_claimed(struct overlay *o, const struct peer *p, struct via *v);
/* Back to where a datagram came from. */
bool via_back(struct overlay *o, const struct endpoint *from, const struct leon_hdr *h,
	      struct via *v);
size_t via_header(struct overlay *o, const struct via *v, uint8_t *out);
void via_transmit(struct overlay *o, const struct via *v, size_t len, uint8_t type);

/* 0 or -errno. size: pad to a UDP payload of so many bytes; 0: none. */
int peer_send_via(struct overlay *o, struct peer *p, const struct via *v, const struct msg *m,
		  uint16_t size);
int peer_send(struct overlay *o, struct peer *p, const struct msg *m);
