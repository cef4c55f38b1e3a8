// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What applications see of a path besides its round-trip time: how much each direction is delayed
 * beyond the least that it was lately (delay variation as RFC 5481 section 4.2 has it), and how
 * much one round trip differs from the one before. The clocks of two nodes do not agree, so how
 * long a direction takes is not known, only how much more than at its best: the offset is in every
 * sample and cancels. Clocks that run at different speeds, 50 millionths where nothing disciplines
 * them, add up to 1 ms to one direction. Owned by whoever sends PINGs along the path; pure;
 * control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

/* One direction. */
struct one_way_dir {
	uint32_t zero;	   /* of the first sample; what follows counts from it */
	int32_t cur, prev; /* least of this period and of the one before */
	int64_t beyond_us; /* smoothed: how much more than that */
};

struct one_way {
	uint32_t n; /* samples */
	mono_t first_at, last_at, period_at;
	struct one_way_dir there, back;
	int64_t rtt_us, jitter_us; /* the last round trip; smoothed difference of two */
};

/* Four times of one PING: sent and answered by the clock of this node, arrived by the other one's
 * (modulo 2^32), which held it for so long. */
struct one_way_times {
	int64_t sent_us, answered_us;
	uint32_t arrived_us, held_us;
};

void one_way_reset(struct one_way *w);
void one_way_note(struct one_way *w, const struct one_way_times *t, mono_t now);
/* Are there samples enough, and recent ones? */
bool one_way_is_known(const struct one_way *w, mono_t now);
