// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Clocks of the machine, for code that needs more than the time of the loop's last wake-up. Any
 * thread.
 */
#pragma once

#include <stdint.h>
#include <time.h>

#include "base/mono.h"

static inline int64_t clock_now_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}
/* Time since 1970; jumps if the clock is stepped. */
static inline int64_t wall_now_ns(void)
{
	return clock_now_ns(CLOCK_REALTIME);
}
static inline int64_t wall_now_us(void)
{
	return wall_now_ns() / NS_PER_US;
}
/* Current monotonic time; loop_now() is that of the last wake-up. */
static inline mono_t mono_now(void)
{
	return (mono_t){ clock_now_ns(CLOCK_MONOTONIC) };
}
static inline int64_t mono_now_ms(void)
{
	return mono_now().ns / NS_PER_MS;
}
/* Seconds, as the FDB keeps them. */
static inline uint32_t now_s_of(mono_t now)
{
	return (uint32_t)(now.ns / NS_PER_S);
}
