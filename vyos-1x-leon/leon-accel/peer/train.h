// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rate of the path to a node, from the acknowledgements of plain connections (packet train
 * dispersion: Jain and Routhier 1986, Hoe 1996). A host sends its first segments at once, the
 * bottleneck link spreads them, and the acknowledgements arrive at the rate of that link. A host
 * with pacing gives a lower rate. Pure. Owned by a peer; single-threaded.
 */
#pragma once

#include <stdint.h>

#include "base/mono.h"

/* Initial state: all zero. */
struct train {
	mono_t first, last; /* Arrival of the first and of the last acknowledgement. */
	uint64_t bytes;	    /* Acknowledged behind the first acknowledgement. */
	uint64_t rate;	    /* Bytes per second of the last long train. 0: none. */
};

/* A far host has acknowledged bytes. A pause of a quarter of the round trip ends a train. */
void train_add(struct train *t, uint32_t bytes, uint32_t rtt_us, mono_t now);
