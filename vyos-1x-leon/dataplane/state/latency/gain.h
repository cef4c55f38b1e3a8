// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Gain of the overlay path over the direct link to a node, by time since the start. Each interval
 * counts with the round-trip times valid during it. Owned by the path choice in proto/; pure;
 * control thread.
 *
 * An interval counts if the path in use and the direct link worked, and neither had an unresponsive
 * link with an estimated RTT. Time with a working path and a direct link that is down is summed
 * separately, without a ratio.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "state/latency/path.h"

struct gain {
	/* Sums of the past: RTT in us times duration in ms for both paths, and duration in ms. */
	uint64_t used, direct, both_ms, without_direct_ms;
	/* State of the current interval, or never. */
	mono_t at;
	uint32_t used_us, direct_us;
	bool used_works, direct_works, guessed;
};

/* Starts an interval with these RTTs of the path in use and the direct link. */
void gain_note(struct gain *g, const struct path *used, const struct path *direct, mono_t now);
/* Adds the totals of g to a sum. */
void gain_add(struct gain *sum, const struct gain *g, mono_t now);
/* Mean RTTs in us while both worked; 0 without such time. */
uint64_t gain_used_us(const struct gain *g);
uint64_t gain_direct_us(const struct gain *g);
