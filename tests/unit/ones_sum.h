// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A simple one's complement sum for tests of checksums.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Adds byte by byte, with an end-around carry each time. */
static inline unsigned ones_sum(unsigned sum, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		sum += i & 1 ? p[i] : (unsigned)p[i] << 8;
		if (sum > 0xffff)
			sum -= 0xffff;
	}
	return sum;
}
