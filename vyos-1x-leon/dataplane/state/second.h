// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two paths for two copies of critical traffic: a first one, and the best that shares no
 * link and no relay with it. Both are chosen by their latency in the long run: of the two
 * copies the one that arrives first is used, so following each short change would gain
 * nothing. Pure; control thread.
 *
 * The first path is the direct link while it is up, since that never changes; otherwise the best
 * one. The second goes over one relay: of those that are disjoint the best in the long run, with a
 * little of what is now, kept until another is better by SECOND_PERCENT, or until it breaks.
 * Silence alone does not count as broken: the other copy takes another path.
 */
#pragma once

#include <stdint.h>

#include "base/mono.h"
#include "state/path.h"

#define SECOND_PERCENT	   22
#define SECOND_NOW_PERCENT 20 /* weight of what is now; the rest has what lasts */

struct second {
	struct path first, path; /* n_hops 0: there is none */
	mono_t since;		 /* `path` is */
	uint64_t n_changes;	 /* of the two together, since the first time */
};

/* Decides anew; to be called after changes of the database, though not after each. */
void second_run(struct second *s, const struct latdb *db, const struct path_params *pp,
		uint16_t n_slots, uint16_t to, mono_t now);
