// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bytes a round trip, the most of the last four: of a connection that is not taken, and of a
 * carrier. Pure. Owned by a conn or a peer; one thread.
 */
#pragma once

#include <stdint.h>

#include "base/mono.h"

#define METER_ROUNDS 4

/* All zero: nothing yet. */
struct meter {
	mono_t began;		      /* of the round trip that bytes[at] is of */
	uint64_t bytes[METER_ROUNDS]; /* of the last ones, in a circle */
	unsigned at;
};

/* rtt_us 0: nobody knows, and nothing is counted. */
void meter_add(struct meter *m, uint64_t bytes, uint32_t rtt_us, mono_t now);
/* Those of rounds that are over by now count no more. */
uint64_t meter_best(struct meter *m, uint32_t rtt_us, mono_t now);
