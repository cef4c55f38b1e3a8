// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Monotonic time as its own type, so that code cannot add seconds to milliseconds. Owns nothing;
 * pure, any thread. Only base/loop_sd.c and the workers read a clock. All other code receives `now`
 * as a parameter, which makes virtual time possible in tests. A time of 0 ns means "never"; loops
 * start above it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
	int64_t ns; /* nanoseconds of CLOCK_MONOTONIC (or of virtual time) */
} mono_t;

#define NS_PER_US 1000LL
#define NS_PER_MS 1000000LL
#define NS_PER_S  1000000000LL

#define MONO_NEVER ((mono_t){ 0 })

static inline mono_t mono_add_ns(mono_t t, int64_t ns)
{
	return (mono_t){ t.ns + ns };
}
static inline mono_t mono_add_us(mono_t t, int64_t us)
{
	return (mono_t){ t.ns + us * NS_PER_US };
}
static inline mono_t mono_add_ms(mono_t t, int64_t ms)
{
	return (mono_t){ t.ns + ms * NS_PER_MS };
}
static inline int64_t mono_sub_ns(mono_t a, mono_t b)
{
	return a.ns - b.ns;
}
static inline int64_t mono_sub_us(mono_t a, mono_t b)
{
	return (a.ns - b.ns) / NS_PER_US;
}
static inline int64_t mono_sub_ms(mono_t a, mono_t b)
{
	return (a.ns - b.ns) / NS_PER_MS;
}
/* True where a is earlier than b. */
static inline bool mono_before(mono_t a, mono_t b)
{
	return a.ns < b.ns;
}
static inline bool mono_is_never(mono_t t)
{
	return t.ns == 0;
}
/* "never" is later than any time. */
static inline mono_t mono_earlier(mono_t a, mono_t b)
{
	if (mono_is_never(a) || mono_is_never(b))
		return mono_is_never(a) ? b : a;
	return mono_before(a, b) ? a : b;
}
/* True for less than ms after t. */
static inline bool mono_is_recent(mono_t t, int64_t ms, mono_t now)
{
	return !mono_is_never(t) && mono_sub_ms(now, t) < ms;
}
