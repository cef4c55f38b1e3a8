// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which path is used: the rules that keep a path from flapping, each with the reason that
 * `leonctl explain` prints. Pure; control thread. design.md section 4 "Metric"; protocol section 6.
 *
 * Rules, in this order; the first that applies decides:
 *   1. no path at all                                   -> none            (no-path)
 *   2. had none                                         -> best            (first)
 *   3. the path in use is broken, or a link on it is
 *      silent and best is cheaper and has none such     -> best, at once   (failover)
 *   4. best is the path in use                          -> keep            (best)
 *   5. which path is wanted? best, if it is better now by threshold percent AND minimum AND the
 *      noise margin, a share of the variation of both paths; else the path that is best in the
 *      long run, if it is better there by the lasting threshold and the minimum, and no worse now;
 *      neither                                          -> keep            (threshold)
 *   6. last change less than hold-time ago, and the path in use not twice as dear as the wanted
 *                                                       -> keep            (hold-down)
 *   7. otherwise                                        -> the one wanted  (better, lasting)
 * A path that costs twice as much is left in spite of the hold-down. Decision 023 has the figures.
 * To be run after every change of the database, after a NOTICE, and when a hold-down ends.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "state/path.h"

enum choice_reason {
	CHOICE_NO_PATH,
	CHOICE_FIRST,
	CHOICE_FAILOVER,
	CHOICE_BEST,
	CHOICE_THRESHOLD,
	CHOICE_HOLD_DOWN,
	CHOICE_BETTER,
	CHOICE_LASTING,
};
const char *choice_reason_name(enum choice_reason r); /* "no-path", "first", ... */
const char *choice_reason_text(enum choice_reason r); /* the reason as a sentence */

struct choice_params {
	uint32_t threshold_percent;
	uint32_t threshold_min_us;
	uint32_t noise_percent;	  /* share of the variation of both paths */
	uint32_t lasting_percent; /* like threshold_percent, for the long-term cost */
	uint32_t hold_time_ms;
};

struct conf;
struct choice_params choice_params_of(const struct conf *c);

struct choice {
	struct path path;	   /* path in use, with cost and RTT of the last run */
	struct path best;	   /* lowest-cost path by short-term averages */
	struct path lasting;	   /* lowest-cost path by long-term averages */
	struct path direct;	   /* one hop, for comparison; cost infinite if down */
	enum choice_reason reason; /* reason of the last run */
	enum choice_reason
		chosen_by;  /* rule that selected `path`: first, failover, better, lasting */
	mono_t since;	    /* time at which `path` was selected */
	mono_t hold_until;  /* end of the hold-down for voluntary changes */
	uint64_t n_changes; /* changes of the path in use since start */
};

/* Runs the rules. The caller has recomputed `best` and `direct`, and re-evaluated `c->path` and
 * `c->lasting`. Returns true if the path in use changed. */
bool choice_run(struct choice *c, const struct path *best, const struct path *direct,
		const struct choice_params *p, mono_t now);
/* Short-term and long-term cost at which a path would win under rule 5. */
uint32_t choice_cost_to_beat(const struct choice *c, const struct path *by,
			     const struct choice_params *p);
uint32_t choice_lasting_to_beat(const struct choice *c, const struct choice_params *p);
