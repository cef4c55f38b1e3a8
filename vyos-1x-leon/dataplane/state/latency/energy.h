// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Energy model of one port. A slow transfer draws constant power. A fast transfer of the same data
 * draws another power for a shorter time and sleeps for the remainder. Powers in milliwatts, times
 * in milliseconds, energy in millijoules. Pure.
 */
#pragma once

#include <stdint.h>

struct energy_model {
	uint32_t slow_mw, fast_mw, sleep_mw;
};

/* Computes milliwatts times milliseconds / 1000 without overflow of the product. */
static inline uint64_t energy_mj(uint32_t mw, uint64_t ms)
{
	return ms / 1000 * mw + ms % 1000 * mw / 1000;
}

static inline uint64_t energy_slow_mj(const struct energy_model *m, uint64_t slow_ms)
{
	return energy_mj(m->slow_mw, slow_ms);
}

static inline uint64_t energy_fast_mj(const struct energy_model *m, uint64_t slow_ms,
				      uint64_t fast_ms)
{
	uint64_t rest_ms = slow_ms > fast_ms ? slow_ms - fast_ms : 0;

	return energy_mj(m->fast_mw, fast_ms) + energy_mj(m->sleep_mw, rest_ms);
}
