// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Largest number of bytes per round trip in the last four intervals, for a plain connection and for
 * an inter-proxy connection. Pure. Owned by a conn or a peer; single-threaded.
 */
#pragma once

#include <stdint.h>

#include "base/mono.h"

#define METER_ROUNDS 4

/* Initial state: all zero. */
struct meter {
	mono_t began;		      /* Start of the present interval. */
	uint64_t bytes[METER_ROUNDS]; /* Bytes of the last intervals, as a ring. */
	unsigned at;
};

/* rtt_us 0: the RTT is unknown, and nothing is counted. */
void meter_add(struct meter *m, uint64_t bytes, uint32_t rtt_us, mono_t now);
/* Expired intervals do not count. */
uint64_t meter_best(struct meter *m, uint32_t rtt_us, mono_t now);
