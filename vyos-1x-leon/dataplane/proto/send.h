// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Routes to a peer, and transmission along routes. Owns the buffer of outgoing messages. Called by
 * all floors above, on the control thread. Protocol 3.1, 3.2.
 */
#pragma once

#include "proto/core.h"

bool via_direct(const struct peer *p, struct via *v);
bool via_best(struct overlay *o, const struct peer *p, struct via *v);
/* Builds a route along a path of slots; returns false if the first hop has no address. */
bool via_path(struct overlay *o, const struct path *path, struct via *v);
/* Builds a route for a node without a path: along links with a report of at least one end. */
bool via_claimed(struct overlay *o, const struct peer *p, struct via *v);
/* Builds the return route of a received datagram. */
bool via_back(struct overlay *o, const struct endpoint *from, const struct leon_hdr *h,
	      struct via *v);
size_t via_header(struct overlay *o, const struct via *v, uint8_t *out);
void via_transmit(struct overlay *o, const struct via *v, size_t len, uint8_t type);

/* Returns 0 or -errno. size: pad to this UDP payload length; 0: no padding. */
int peer_send_via(struct overlay *o, struct peer *p, const struct via *v, const struct msg *m,
		  uint16_t size);
int peer_send(struct overlay *o, struct peer *p, const struct msg *m);
