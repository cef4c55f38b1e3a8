// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An average over a time scale, of samples that do not come at even intervals. Pure; whoever owns
 * the average, on its thread.
 */
#pragma once

#include <stdint.h>

/*
 * Share of a new value that takes over an average of this time scale after dt: dt / (scale + dt),
 * which for small dt is what 1 - exp(-dt / scale) is, without the library of floats. Samples of one
 * instant (several in the queue of a thread that had to wait, which reads the clock once) have no
 * share, also where the scale is the age of the average and that is nothing yet.
 */
static inline int64_t follow(int64_t average, int64_t value, int64_t dt_us, int64_t scale_us)
{
	if (dt_us <= 0)
		return average;
	return average + (value - average) * dt_us / (scale_us + dt_us);
}
