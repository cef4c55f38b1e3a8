// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ranges of ids: VLANs and segments of an overlay. Values; any thread.
 */
#pragma once

#include <stdint.h>

struct id_range {
	uint32_t first, last;
};

/* Appends [first, last] to the n ordered ranges of `out` and merges it with ranges that it touches.
 * `out` has room for one more. Returns the new number of ranges. */
unsigned id_ranges_add(struct id_range *out, unsigned n, uint32_t first, uint32_t last);
/* Reduces n ordered, disjoint ranges to at most `max` by closing the smallest gaps; the ids in
 * these gaps become members. Returns the number of ranges. Allocates. */
unsigned id_ranges_close(struct id_range *r, unsigned n, unsigned max);
