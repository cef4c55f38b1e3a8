// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rate of the site's line: as configured (shaper egress), as found (shaper automatic), or the
 * lower of both; and of what is sent straight to each node: as configured (shaper per-peer), as the
 * node asks (its shaper ingress), or the lower of both. Control thread.
 * doc/decisions/041, 039, 052.
 */
#pragma once

#include "daemon/leond.h"
#include "state/autorate.h"

void line_start(struct leond *d);
void line_free(struct leond *d);
/* After a reload, and before line_start(): what the configuration says is in force. */
void line_apply_conf(struct leond *d);

/* Tells the workers the rates to the nodes that there are now. With each snapshot. */
void line_tell_peers(struct leond *d);
/* The same of one: what it asks to be sent no more than has changed. */
void line_tell_peer(struct leond *d, uint16_t slot);

/* What is found of it, for those who look. */
struct line_view {
	bool automatic;
	enum autorate_state state;
	uint32_t limit_kbits;	  /* in force, by either; 0: none */
	uint32_t carries_kbits;	  /* as found; 0: not known */
	uint32_t queue_us;	  /* that waits behind us, as PINGs found last */
	uint32_t delivered_kbits; /* to all nodes, lately */
	uint64_t found, yielded;
};
struct line_view line_view(const struct leond *d);
