// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two paths for two copies of what is critical: a first one, and the best that shares no link and no
 * relay with it. Both are chosen slowly, by what lasts: the copy that comes first wins whatever the
 * moment brings, so nothing is gained by running after it. Pure; control thread.
 *
 * The first path is the direct link while it is up, for it never changes; where there is none, the best.
 * The second goes over one relay: of those that are disjoint the best by what lasts, kept until another
 * is better by SECOND_PERCENT, or until it breaks.
 */
#pragma once

#include <stdint.h>

#include "base/mono.h"
#include "state/path.h"

#define SECOND_PERCENT 20

struct second {
	struct path first, path; /* n_hops 0: there is none */
	mono_t since;		 /* `path` is */
	uint64_t n_changes;	 /* of the two together, since the first time */
};

/* Looks anew; call it as often as the database changes, or less often. */
void second_run(struct second *s, const struct latdb *db, const struct path_params *pp,
		uint16_t n_slots, uint16_t to, mono_t now);
