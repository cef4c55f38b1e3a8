// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Windowed maximum or minimum over one to two periods: of the current period and the previous one.
 * Pure; on the thread of the owner.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/defs.h"
#include "base/mono.h"

struct minmax {
	mono_t since; /* start of the current period */
	int64_t cur, prev;
};

static inline void minmax_reset(struct minmax *e, int64_t value, mono_t now)
{
	*e = (struct minmax){ now, value, value };
}

static inline bool minmax_is_over(const struct minmax *e, int64_t ms, mono_t now)
{
	return mono_sub_ms(now, e->since) >= ms;
}

static inline void minmax_next_period(struct minmax *e, int64_t value, int64_t ms, mono_t now)
{
	if (!minmax_is_over(e, ms, now))
		return;
	e->prev = minmax_is_over(e, 2 * ms, now) ? value : e->cur;
	e->cur = value;
	e->since = now;
}

static inline int64_t minmax_max(const struct minmax *e)
{
	return max_of(e->cur, e->prev);
}

static inline int64_t minmax_min(const struct minmax *e)
{
	return min_of(e->cur, e->prev);
}

/* Enter a value and return the extreme including it. */
static inline int64_t minmax_running_max(struct minmax *e, int64_t value, int64_t ms, mono_t now)
{
	minmax_next_period(e, value, ms, now);
	e->cur = max_of(e->cur, value);
	return minmax_max(e);
}

static inline int64_t minmax_running_min(struct minmax *e, int64_t value, int64_t ms, mono_t now)
{
	minmax_next_period(e, value, ms, now);
	e->cur = min_of(e->cur, value);
	return minmax_min(e);
}
