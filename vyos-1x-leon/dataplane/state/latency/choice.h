// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Path choice with hysteresis: the rules against flapping paths, each with the reason that `leonctl
 * explain` prints. Pure; control thread. design.md section 4 "Metric"; protocol section 6.
 *
 * Rules, in order. The first rule that applies decides.
 *
 *   1. No path exists.                                  -> none          (no-path)
 *   2. No path was in use.                              -> best          (first)
 *   3. The path in use is broken. Or a link of the path
 *      is unresponsive, and best is cheaper and has no
 *      such link.                                       -> best, at once (failover)
 *   4. The path in use is best.                         -> keep          (best)
 *   5. No other path is better. The candidates are a
 *      and b below.                                     -> keep          (threshold)
 *   6. The last change is more recent than hold-time,
 *      and the candidate costs more than half of the
 *      path in use.                                     -> keep          (hold-down)
 *   7. Otherwise.                                       -> the candidate (better, long-term)
 *
 * a. The best path by short-term cost, if the gain reaches the threshold in percent, the minimum,
 *    and the margin for RTT variation of both paths.
 * b. The best path by long-term cost, if the long-term gain reaches the long-term threshold and the
 *    minimum, and the present cost is not higher.
 *
 * From a path with relays to the direct path, a and b need no minimum.
 *
 * A path that costs twice as much as the candidate is left in spite of the hold-down. Decision 023
 * has the figures. The rules run after every change of the database, after a NOTICE, and when a
 * hold-down ends.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "state/latency/path.h"

enum choice_reason {
	CHOICE_NO_PATH,
	CHOICE_FIRST,
	CHOICE_FAILOVER,
	CHOICE_BEST,
	CHOICE_THRESHOLD,
	CHOICE_HOLD_DOWN,
	CHOICE_BETTER,
	CHOICE_LONG_TERM,
};
/* By enum choice_reason: "no-path", "first", ..., and the reason as a sentence. */
extern const struct choice_text {
	const char *name, *text;
} choice_texts[];

struct choice_params {
	uint32_t threshold_percent;
	uint32_t threshold_min_us;
	uint32_t variation_percent; /* share of the variation of both paths */
	uint32_t long_term_percent; /* like threshold_percent, for the long-term cost */
	uint32_t hold_time_ms;
};

struct conf;
struct choice_params choice_params_of(const struct conf *c);

struct choice {
	struct path path;	   /* path in use, with cost and RTT of the last run */
	struct path best;	   /* lowest-cost path by short-term averages */
	struct path long_term;	   /* lowest-cost path by long-term averages */
	struct path direct;	   /* one hop, for comparison; cost infinite if down */
	enum choice_reason reason; /* reason of the last run */
	enum choice_reason
		chosen_by;  /* rule that selected `path`: first, failover, better, long-term */
	mono_t since;	    /* time at which `path` was selected */
	mono_t hold_until;  /* end of the hold-down for voluntary changes */
	uint64_t n_changes; /* changes of the path in use since start */
};

/* Runs the rules. The caller has recomputed `best` and `direct`, and re-evaluated `c->path` and
 * `c->long_term`. Returns true if the path in use changed. */
bool choice_run(struct choice *c, const struct path *best, const struct path *direct,
		const struct choice_params *p, mono_t now);
/* Short-term and long-term cost at which a path would win under rule 5. */
uint32_t choice_cost_to_beat(const struct choice *c, const struct path *by,
			     const struct choice_params *p);
uint32_t choice_long_term_to_beat(const struct choice *c, const struct choice_params *p);
