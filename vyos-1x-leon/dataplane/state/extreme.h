// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The largest, or the least, of one to two periods of time: of the period that runs and of the one
 * before. Pure; whoever owns the extreme, on its thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/defs.h"
#include "base/mono.h"

struct extreme {
	mono_t since; /* when the period began */
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

/* Take a value; return the extreme with it. */
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
