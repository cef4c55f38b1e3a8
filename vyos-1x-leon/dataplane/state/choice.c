// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rules of choice.h, in the order they are numbered there. Pure; called by the owner of the
 * choices (proto/) on the control thread.
 */
#include "state/choice.h"

#include "base/defs.h"

static const struct {
	const char *name, *text;
} reasons[] = {
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
	[CHOICE_BETTER] = { "better", "The path was taken because it is clearly better than the "
				      "one before." },
};

const char *choice_reason_name(enum choice_reason r)
{
	return r < array_size(reasons) ? reasons[r].name : "unknown";
}

const char *choice_reason_text(enum choice_reason r)
{
	return r < array_size(reasons) ? reasons[r].text : "unknown";
}

uint32_t choice_cost_to_beat(const struct choice *c, const struct choice_params *p)
{
	uint64_t cost = c->path.cost_us;
	uint64_t by_percent = cost - cost * min_of(p->threshold_percent, 100u) / 100;
	uint64_t by_minimum = cost > p->threshold_min_us ? cost - p->threshold_min_us : 0;

	return (uint32_t)min_of(by_percent, by_minimum);
}

/* Equal cost is never better, whatever the thresholds: two equal paths would take turns. */
static bool is_better(const struct choice *c, const struct choice_params *p)
{
	return c->best.cost_us < c->path.cost_us && c->best.cost_us <= choice_cost_to_beat(c, p);
}

/* From one silent path to another there is no hurry: both may come back, or neither. */
static bool fell_silent(const struct choice *c)
{
	return c->path.silent && !c->best.silent && c->best.cost_us < c->path.cost_us;
}

static enum choice_reason decide(const struct choice *c, const struct choice_params *p, mono_t now)
{
	if (c->best.n_hops == 0) /* rule 1 */
		return CHOICE_NO_PATH;
	if (c->path.n_hops == 0) /* rule 2 */
		return CHOICE_FIRST;
	if (c->path.cost_us == COST_INFINITE || fell_silent(c)) /* rule 3 */
		return CHOICE_FAILOVER;
	if (path_same(&c->best, &c->path)) /* rule 4 */
		return CHOICE_BEST;
	if (!is_better(c, p)) /* rule 5 */
		return CHOICE_THRESHOLD;
	if (mono_before(now, c->hold_until)) /* rule 6 */
		return CHOICE_HOLD_DOWN;
	return CHOICE_BETTER; /* rule 7 */
}

bool choice_run(struct choice *c, const struct path *best, const struct path *direct,
		const struct choice_params *p, mono_t now)
{
	bool had_one = !mono_is_never(c->since);
	bool changed;

	c->best = *best;
	c->direct = *direct;
	/* Reckoned anew each time, so that a changed hold-time counts from the next run on. */
	if (had_one)
		c->hold_until = mono_add_ms(c->since, p->hold_time_ms);
	c->reason = decide(c, p, now);
	if (c->reason == CHOICE_THRESHOLD || c->reason == CHOICE_HOLD_DOWN)
		return false;
	changed = !path_same(&c->path, best);
	c->path = *best;
	if (!changed)
		return false;
	if (c->reason != CHOICE_NO_PATH)
		c->chosen_by = c->reason;
	c->since = now;
	c->hold_until = mono_add_ms(now, p->hold_time_ms);
	/* The first path ever is a start, not a change. */
	c->n_changes += had_one;
	return true;
}
