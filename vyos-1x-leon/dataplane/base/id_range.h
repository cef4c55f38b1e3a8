// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ranges of ids: VLANs, and segments of an overlay. Values; any thread.
 */
#pragma once

#include <stdint.h>

struct id_range {
	uint32_t first, last;
};

/* Puts [first, last] behind the n ranges of out, which are in order, with what touches it made one.
 * Returns how many there are then; out has room. */
unsigned id_ranges_add(struct id_range *out, unsigned n, uint32_t first, uint32_t last);
/* Makes n ranges, in order and apart, at most `max`, by closing the smallest gaps: then they hold
 * other ids, too. Returns their number. Allocates. */
unsigned id_ranges_close(struct id_range *r, unsigned n, unsigned max);
