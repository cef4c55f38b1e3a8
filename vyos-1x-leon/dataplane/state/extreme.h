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

struct extreme {
	mono_t since; /* start of the current period */
	int64_t cur, prev;
};

static inline void extreme_begin(struct extreme *e, int64_t value, mono_t now)
{
	*e = (struct extreme){ now, value, value };
}

static inline bool extreme_is_over(const struct extreme *e, int64_t ms, mono_t now)
{
	return mono_sub_ms(now, e->since) >= ms;
}

static inline void extreme_next_period(struct extreme *e, int64_t value, int64_t ms, mono_t now)
{
	if (!extreme_is_over(e, ms, now))
		return;
	e->prev = extreme_is_over(e, 2 * ms, now) ? value : e->cur;
	e->cur = value;
	e->since = now;
}

static inline int64_t extreme_most(const struct extreme *e)
{
	return max_of(e->cur, e->prev);
}

static inline int64_t extreme_least(const struct extreme *e)
{
	return min_of(e->cur, e->prev);
}

/* Enter a value and return the extreme including it. */
static inline int64_t extreme_note_most(struct extreme *e, int64_t value, int64_t ms, mono_t now)
{
	extreme_next_period(e, value, ms, now);
	e->cur = max_of(e->cur, value);
	return extreme_most(e);
}

static inline int64_t extreme_note_least(struct extreme *e, int64_t value, int64_t ms, mono_t now)
{
	extreme_next_period(e, value, ms, now);
	e->cur = min_of(e->cur, value);
	return extreme_least(e);
}
