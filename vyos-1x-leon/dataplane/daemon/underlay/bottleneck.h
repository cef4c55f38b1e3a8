// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rate limits. Access link: configured (shaper egress), automatic (shaper automatic), or the lower
 * of both. Direct traffic to each node: configured (shaper per-peer), requested by the node (its
 * shaper ingress), or the lower of both. Control thread. doc/decisions/039, 041.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "state/rates/autorate.h"

struct leond;

void bottleneck_start(struct leond *d);
void bottleneck_free(struct leond *d);
/* Applies the configuration; called after a reload and before bottleneck_start(). */
void bottleneck_apply_conf(struct leond *d);

/* Passes the rates of all present nodes to the workers; called with each snapshot. */
void bottleneck_notify_peers(struct leond *d);
/* The rate limit that one node requests has changed. */
void bottleneck_notify_peer(struct leond *d, uint16_t slot);

/* State of the access link for show commands. */
struct bottleneck_view {
	bool automatic;
	enum autorate_state state;
	uint32_t limit_kbits;	  /* effective limit; 0: none */
	uint32_t capacity_kbits;  /* measured capacity; 0: unknown */
	uint32_t queue_us;	  /* queueing delay behind this router by the last PINGs */
	uint32_t delivered_kbits; /* recent delivery rate to all nodes */
	uint64_t found, suspensions;
};
struct bottleneck_view bottleneck_view(const struct leond *d);
