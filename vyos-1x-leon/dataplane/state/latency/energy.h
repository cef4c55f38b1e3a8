// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Energy model of one port. A slow transfer draws constant power. A fast transfer of the same data
 * draws another power for a shorter time and sleeps for the remainder. Powers in milliwatts, times
 * in milliseconds, energy in millijoules. The powers are those of an Ethernet port at 10 Mbit/s, at
 * 1 Gbit/s and asleep. Pure.
 */
#pragma once

#include <stdint.h>

#define ENERGY_SLOW_MW	10100
#define ENERGY_FAST_MW	13600
#define ENERGY_SLEEP_MW 1000

/* Computes milliwatts times milliseconds / 1000 without overflow of the product. */
static inline uint64_t energy_mj(uint32_t mw, uint64_t ms)
{
	return ms / 1000 * mw + ms % 1000 * mw / 1000;
}

static inline uint64_t energy_slow_mj(uint64_t slow_ms)
{
	return energy_mj(ENERGY_SLOW_MW, slow_ms);
}

static inline uint64_t energy_fast_mj(uint64_t slow_ms, uint64_t fast_ms)
{
	uint64_t rest_ms = slow_ms > fast_ms ? slow_ms - fast_ms : 0;

	return energy_mj(ENERGY_FAST_MW, fast_ms) + energy_mj(ENERGY_SLEEP_MW, rest_ms);
}
