// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Estimate of the saved time, see time_saved.h. Pure.
 */
#include "conn/time_saved.h"

#include "base/defs.h"

/* A longer pause than this and two round trips is a pause of the hosts, which did not wait for the
 * network. */
#define PAUSE_US 200000

void time_saved_add(struct time_saved *s, const struct saved_step *step, mono_t now)
{
	int64_t gap = s->last.ns ? mono_sub_us(now, s->last) : 0;

	if (gap > 0 && gap <= PAUSE_US + 2 * (int64_t)step->rtt_us)
		s->with_us += (uint64_t)gap;
	s->last = now;
	if (step->window)
		s->without_ns[step->direction] +=
			step->bytes * step->rtt_us / step->window * 1000 +
			step->bytes * step->rtt_us % step->window * 1000 / step->window;
}

struct accel_time time_saved_total(const struct time_saved *s)
{
	struct accel_time t = { .with_ms = s->with_us / 1000,
				.without_ms =
					max_of(s->without_ns[0], s->without_ns[1]) / 1000000 };

	/* A negative result has unknown causes, so it counts as 0. */
	t.without_ms = max_of(t.without_ms, t.with_ms);
	return t;
}
