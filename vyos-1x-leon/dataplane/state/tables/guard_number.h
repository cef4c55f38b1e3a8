// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sequence numbers of another node's loop-guard frames that are fresh. Each PING of the session
 * states the latest number, which no other node can do. Therefore a number below an old statement
 * belongs to a recorded guard. A number far above the last statement belongs to a forged guard.
 * Owned by struct peer, called by proto/ for the statements; the loop guard gets the bounds. Pure;
 * control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

/* Intervals of the loop guard after which an earlier statement becomes the lower bound. */
#define GUARD_STALE_INTERVALS 3
/* Upper limit of the guards of a node between two PINGs. A forger reaches it with 2^28 frames, each
 * of which pushes the number ahead by GUARD_STEP (daemon/guard/loop_guard.h). */
#define GUARD_AHEAD (1ULL << 44)

/* The last three statements of a node. */
struct guard_statements {
	uint64_t run; /* incarnation of the node when its session began; 0: no statement */
	uint64_t last, earlier, old;
	mono_t earlier_at;
};

/* Guards that are fresh. */
struct guard_bounds {
	bool in_session;      /* the session of the node is alive */
	uint64_t incarnation; /* of the node; 0: not known, any */
	uint64_t least, most; /* sequence numbers */
};

void guard_stated(struct guard_statements *s, uint64_t run, uint64_t number, int64_t stale_ms,
		  mono_t now);
/* Returns the bounds of a node with a live session of this run. */
struct guard_bounds guard_bounds_of(const struct guard_statements *s, uint64_t run,
				    uint64_t incarnation);
bool guard_bounds_admit(const struct guard_bounds *b, uint64_t incarnation, uint64_t sequence);
