// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two paths for two copies of critical traffic: a first one, and a second that shares no
 * link and no relay with it. Of the two copies the one that arrives first is used, so what counts
 * is the smaller of the two latencies. Pure; control thread. Decision 048 has the figures.
 *
 * The first path is the direct link while it is up, since that never changes; otherwise the best
 * relay in the long run. The second goes over one relay, and is kept until another
 *  - is better by SECOND_PERCENT of a cost in which most of the weight has the latency of the copy
 *    that would arrive first now, and the rest what lasts. While the first path is good the former
 *    is the same with any second; when the first turns bad, the second is what the traffic sees;
 *  - or is better in the long run by SECOND_LASTING_PERCENT and lets no copy arrive later now;
 * or until it breaks. Silence alone does not count as broken: the other copy takes another path.
 */
#pragma once

#include <stdint.h>

#include "base/mono.h"
#include "state/path.h"

#define SECOND_PERCENT	       32
#define SECOND_NOW_PERCENT     70 /* weight of what is now; the rest has what lasts */
#define SECOND_LASTING_PERCENT 30
/* The same as the upper two of the first path, where that is a relayed one. */
#define FIRST_PERCENT	  22
#define FIRST_NOW_PERCENT 20

struct second {
	struct path first, path; /* n_hops 0: there is none */
	mono_t since;		 /* `path` is */
	uint64_t n_changes;	 /* of the two together, since the first time */
};

/* Decides anew; to be called after changes of the database, though not after each. */
void second_run(struct second *s, const struct latdb *db, const struct path_params *pp,
		uint16_t n_slots, uint16_t to, mono_t now);
