// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rules of choice.h in the order of their numbers. Pure; called by the owner of the choices
 * (proto/) on the control thread.
 */
#include "state/latency/choice.h"

#include "base/defs.h"
#include "state/conf/conf.h"

const struct choice_text choice_texts[] = {
	[CHOICE_NO_PATH] = { "no-path", "No path leads to the node." },
	[CHOICE_FIRST] = { "first", "There was no path before, so the best one was taken." },
	[CHOICE_FAILOVER] = { "failover",
			      "The path in use broke or a link on it fell silent, so the best "
			      "one was taken at once." },
	[CHOICE_BEST] = { "best", "The path in use is the best one." },
	[CHOICE_THRESHOLD] = { "threshold",
			       "Another path is better, but not by as much as a change takes." },
	[CHOICE_HOLD_DOWN] = { "hold-down",
			       "A better path waits until the time since the last change is over." },
	[CHOICE_LONG_TERM] = { "long-term",
			       "The path was taken because it is better in the long run, and no "
			       "worse at the moment." },
	[CHOICE_BETTER] = { "better", "The path was taken because it is clearly better than the "
				      "one before." },
};

struct choice_params choice_params_of(const struct conf *c)
{
	return (struct choice_params){
		.threshold_percent = c->threshold_percent,
		.threshold_min_us = c->threshold_min_us,
		.variation_percent = c->variation_percent,
		.long_term_percent = c->long_term_percent,
		.hold_time_ms = c->hold_time_ms,
	};
}

static uint32_t less_by(uint64_t cost, uint32_t percent, uint64_t minimum_us)
{
	uint64_t by_percent = cost - cost * min_of(percent, 100u) / 100;
	uint64_t by_minimum = cost > minimum_us ? cost - minimum_us : 0;

	return (uint32_t)min_of(by_percent, by_minimum);
}

/* A relay needs resources of another site and is a further part that fails, so a return to the
 * direct path needs no minimum. */
static uint64_t minimum_us(const struct choice *c, const struct path *by,
			   const struct choice_params *p)
{
	return c->path.n_hops > 1 && by->n_hops == 1 ? 0 : p->threshold_min_us;
}

uint32_t choice_cost_to_beat(const struct choice *c, const struct path *by,
			     const struct choice_params *p)
{
	uint64_t noise = ((uint64_t)c->path.noise_us + by->noise_us) * p->variation_percent / 100;

	return less_by(c->path.cost_us, p->threshold_percent, max_of(noise, minimum_us(c, by, p)));
}

uint32_t choice_long_term_to_beat(const struct choice *c, const struct choice_params *p)
{
	return less_by(c->path.long_term_us, p->long_term_percent, minimum_us(c, &c->long_term, p));
}

static bool is_better_long_term(const struct choice *c, const struct choice_params *p)
{
	const struct path *l = &c->long_term;

	return l->n_hops && !l->silent && l->cost_us <= c->path.cost_us &&
	       l->long_term_us < c->path.long_term_us &&
	       l->long_term_us <= choice_long_term_to_beat(c, p);
}

/* A change between two paths with unresponsive links gains nothing. */
static bool fell_silent(const struct choice *c)
{
	return c->path.silent && !c->best.silent && c->best.cost_us < c->path.cost_us;
}

static enum choice_reason decide(const struct choice *c, const struct choice_params *p, mono_t now)
{
	/* Equal cost is not better, also with thresholds of 0: two equal paths would alternate. */
	bool now_better = c->best.cost_us < c->path.cost_us &&
			  c->best.cost_us <= choice_cost_to_beat(c, &c->best, p);
	const struct path *wanted = now_better ? &c->best : &c->long_term;

	if (c->best.n_hops == 0) /* rule 1 */
		return CHOICE_NO_PATH;
	if (c->path.n_hops == 0) /* rule 2 */
		return CHOICE_FIRST;
	if (c->path.cost_us == COST_INFINITE || fell_silent(c)) /* rule 3 */
		return CHOICE_FAILOVER;
	if (!now_better && !is_better_long_term(c, p)) /* rules 4 and 5 */
		return path_same(&c->best, &c->path) ? CHOICE_BEST : CHOICE_THRESHOLD;
	if (mono_before(now, c->hold_until) && c->path.cost_us / 2 <= wanted->cost_us) /* rule 6 */
		return CHOICE_HOLD_DOWN;
	return now_better ? CHOICE_BETTER : CHOICE_LONG_TERM; /* rule 7 */
}

bool choice_run(struct choice *c, const struct path *best, const struct path *direct,
		const struct choice_params *p, mono_t now)
{
	bool had_one = !mono_is_never(c->since);
	const struct path *wanted;
	bool changed;

	c->best = *best;
	c->direct = *direct;
	/* Recomputed in each run, so that a changed hold-time takes effect in the next run. */
	if (had_one)
		c->hold_until = mono_add_ms(c->since, p->hold_time_ms);
	c->reason = decide(c, p, now);
	if (c->reason == CHOICE_THRESHOLD || c->reason == CHOICE_HOLD_DOWN)
		return false;
	if (c->reason == CHOICE_BEST) {
		c->path = *best;
		return false;
	}
	wanted = c->reason == CHOICE_LONG_TERM ? &c->long_term : best;
	changed = !path_same(&c->path, wanted);
	c->path = *wanted;
	if (!changed)
		return false;
	if (c->reason != CHOICE_NO_PATH)
		c->chosen_by = c->reason;
	c->since = now;
	c->hold_until = mono_add_ms(now, p->hold_time_ms);
	/* The first path is not counted as a change. */
	c->n_changes += had_one;
	return true;
}
