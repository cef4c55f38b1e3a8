// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two disjoint paths for duplicated critical traffic: no common link, no common relay. The receiver
 * uses the copy that arrives first, so the smaller of the two latencies counts. Pure; control
 * thread. Decision 031 has the figures.
 *
 * The first path is the direct link while it is up, because it never changes; otherwise the best
 * relay by long-term cost. The second path uses one relay. The second path is replaced in three
 * cases:
 *
 * - Another relay is better by SECOND_PERCENT of a weighted cost.
 * - Another relay is better by SECOND_LONG_TERM_PERCENT in the long term and delays no copy now.
 * - The path breaks. An unresponsive link alone does not count as broken, because the other copy
 *   uses another path.
 *
 * The weighted cost has SECOND_NOW_PERCENT of the short-term latency of the first-arriving copy,
 * and the rest of the long-term latency. While the first path is good, the short-term part is equal
 * for all second paths. When the first path degrades, the second path determines the latency.
 */
#pragma once

#include <stdint.h>

#include "base/mono.h"
#include "state/latency/path.h"

#define SECOND_PERCENT		 32
#define SECOND_NOW_PERCENT	 70 /* weight of the short-term latency */
#define SECOND_LONG_TERM_PERCENT 30
/* Thresholds of a relayed first path, equal to those of the second. */
#define FIRST_PERCENT	  22
#define FIRST_NOW_PERCENT 20

struct second {
	struct path first, path; /* n_hops 0: none */
	mono_t since;		 /* time of the last change of `path` */
	uint64_t n_changes;	 /* changes of both paths since the first selection */
};

/* Selects the paths. Called after changes of the database, but not after each. */
void second_run(struct second *s, const struct latdb *db, const struct path_params *pp,
		uint16_t n_slots, uint16_t to, mono_t now);
