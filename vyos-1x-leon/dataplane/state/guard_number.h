// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sequence numbers of another node's loop-guard frames that are fresh. The node states its
 * latest number in each PING of the session, which nobody else can do. Therefore a guard with a
 * number from before the statements of some intervals ago is a recorded one, and a guard with a
 * number far above the last statement is a forged one.
 * Owned by struct peer, called by proto/ for the statements; the loop guard gets the bounds. Pure;
 * control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

/* Intervals of the loop guard after which an earlier statement becomes the lower bound. */
#define GUARD_STALE_INTERVALS 3
/* A node never sends so many guards between two PINGs, even if a forger pushes its number ahead
 * (GUARD_STEP in daemon/host/guard_peer.h) with each of 2^28 frames. */
#define GUARD_AHEAD (1ULL << 44)

/* The statements of a node: the latest one, an earlier one, and the one before that. */
struct guard_statements {
	uint64_t run; /* incarnation of the node when its session began; 0: no statement */
	uint64_t last, earlier, old;
	mono_t earlier_at;
};

/* Guards that are fresh. */
struct guard_bounds {
	bool in_session;      /* the node is heard in its session */
	uint64_t incarnation; /* of the node; 0: not known, any */
	uint64_t least, most; /* sequence numbers */
};

void guard_stated(struct guard_statements *s, uint64_t run, uint64_t number, int64_t stale_ms,
		  mono_t now);
/* Bounds of a node that is heard in a session of this run. */
struct guard_bounds guard_bounds_of(const struct guard_statements *s, uint64_t run,
				    uint64_t incarnation);
bool guard_bounds_admit(const struct guard_bounds *b, uint64_t incarnation, uint64_t sequence);
