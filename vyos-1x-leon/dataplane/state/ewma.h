// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * EWMA over a time scale for unevenly spaced samples. Pure; on the thread of the owner.
 */
#pragma once

#include <stdint.h>

/*
 * Weight of a new sample after dt: dt / (scale + dt), which approximates 1 - exp(-dt / scale) for
 * small dt without floating point. Samples of the same instant (queued datagrams, read with one
 * clock value) have no weight, also if scale is the age of the average and 0.
 */
static inline int64_t ewma_add(int64_t average, int64_t value, int64_t dt_us, int64_t scale_us)
{
	if (dt_us <= 0)
		return average;
	return average + (value - average) * dt_us / (scale_us + dt_us);
}
