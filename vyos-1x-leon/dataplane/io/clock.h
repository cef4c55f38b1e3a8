// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Clocks of the machine, for code that needs more than the time of the loop's last wake-up. Any
 * thread.
 */
#pragma once

#include <stdint.h>

#include "base/mono.h"

/* Time since 1970; jumps if the clock is stepped. */
int64_t wall_now_us(void);
int64_t wall_now_ns(void);
/* Current monotonic time; loop_now() is that of the last wake-up. */
mono_t mono_now(void);
static inline int64_t mono_now_ms(void)
{
	return mono_now().ns / NS_PER_MS;
}
/* Seconds, as the FDB keeps them. */
static inline uint32_t now_s_of(mono_t now)
{
	return (uint32_t)(now.ns / NS_PER_S);
}
