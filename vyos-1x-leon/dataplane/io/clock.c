// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See clock.h.
 */
#include "io/clock.h"

#include <time.h>

static int64_t read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t wall_now_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

int64_t wall_now_us(void)
{
	return wall_now_ns() / NS_PER_US;
}

mono_t mono_now(void)
{
	return (mono_t){ read_clock(CLOCK_MONOTONIC) };
}
