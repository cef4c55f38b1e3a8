// SPDX-License-Identifier: GPL-2.0-or-later
/* The monotonic clock of leon-portmap, which has no event loop. Main thread. */
#pragma once

#include <time.h>

#include "base/mono.h"

static inline mono_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (mono_t){ ts.tv_sec * NS_PER_S + ts.tv_nsec };
}
