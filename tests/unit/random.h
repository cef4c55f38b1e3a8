// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A generator for tests of many cases. Unlike rand(), its numbers are equal on all machines.
 */
#pragma once

#include <stdint.h>

static uint64_t random_state = 1;

static inline void random_seed(uint64_t seed)
{
	random_state = seed * 0x9e3779b97f4a7c15ULL;
}

/* xorshift64*; n is at most 2^31. */
static inline uint32_t random_below(uint32_t n)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (uint32_t)((random_state * 0x2545f4914f6cdd1dULL) >> 33) % n;
}
