// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the overlay's path to a node was worth beside the direct one, by time since the start: each
 * stretch between two looks counts with the round-trip times that stood during it. Owned by whoever
 * chooses paths (proto/); pure; control thread.
 *
 * A stretch counts where both the path in use and the direct link worked, and neither had a link
 * that was silent, whose time is a guess. Where the path in use worked and the direct link was
 * down, no ratio says what that was worth: that time is kept apart.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "state/path.h"

struct gain {
	/* Sums of the past: us times ms of both, and ms. */
	uint64_t used, direct, both_ms, without_direct_ms;
	/* What stands since the last look; never: there was none. */
	mono_t at;
	uint32_t used_us, direct_us;
	bool used_works, direct_works, guessed;
};

/* From now on the path in use and the direct one are these. */
void gain_note(struct gain *g, const struct path *used, const struct path *direct, mono_t now);
/* Adds what g has until now to a sum. */
void gain_add(struct gain *sum, const struct gain *g, mono_t now);
/* Means in us while both worked; 0 where there was no such time. */
uint64_t gain_used_us(const struct gain *g);
uint64_t gain_direct_us(const struct gain *g);
