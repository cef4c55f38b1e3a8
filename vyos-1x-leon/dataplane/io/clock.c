// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See clock.h.
 */
#include "io/clock.h"

#include <time.h>

int64_t wall_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

mono_t mono_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (mono_t){ ts.tv_sec * NS_PER_S + ts.tv_nsec };
}
