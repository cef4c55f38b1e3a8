// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For tests of checksums: a one's complement sum, the slow way.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Byte by byte, end-around carry each time. */
static inline unsigned ones_sum(unsigned sum, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		sum += i & 1 ? p[i] : (unsigned)p[i] << 8;
		if (sum > 0xffff)
			sum -= 0xffff;
	}
	return sum;
}
