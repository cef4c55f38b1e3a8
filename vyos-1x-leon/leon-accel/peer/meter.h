// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Largest number of bytes per round trip in the last four intervals, for a plain connection and for
 * an inter-proxy connection. Pure. Owned by a conn or a peer; single-threaded.
 */
#pragma once

#include <stdint.h>

#include "base/mono.h"
#include "ipc/accel_report.h"

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

/* --- trains of acknowledgements ---
 * Rate of the path to a node, from the acknowledgements of plain connections (packet train
 * dispersion: Jain and Routhier 1986, Hoe 1996). A host sends its first segments at once, the
 * bottleneck link spreads them, and the acknowledgements arrive at the rate of that link. A host
 * with pacing gives a lower rate. Pure. Owned by a peer; single-threaded.
 */

/* Initial state: all zero. */
struct train {
	mono_t first, last; /* Arrival of the first and of the last acknowledgement. */
	uint64_t bytes;	    /* Acknowledged behind the first acknowledgement. */
	uint64_t rate;	    /* Bytes per second of the last long train. 0: none. */
};

/* A far host has acknowledged bytes. A pause of a quarter of the round trip ends a train. */
void train_add(struct train *t, uint32_t bytes, uint32_t rtt_us, mono_t now);

/* --- the saved time ---
 * Estimate of the time saved by interception: the time without an accelerator minus the measured
 * time of the transfer. Without an accelerator, a sender has a single receive window in flight per
 * round trip, so n bytes need at least n / window round trips. The estimate ignores loss, slow
 * start and compression, so the result is too low for a lossy or idle path. If both directions
 * carry data, the slower direction counts. Pure.
 */

enum saved_direction { SAVED_OUT, SAVED_IN };

struct time_saved {
	uint64_t without_ns[2]; /* By direction. */
	uint64_t with_us;
	mono_t last; /* never: no step yet */
};

/* n bytes of a host were passed on. window: the largest window of the receiver. 0: unknown. */
struct saved_step {
	enum saved_direction direction;
	uint64_t bytes;
	uint32_t rtt_us, window;
};
void time_saved_add(struct time_saved *s, const struct saved_step *step, mono_t now);
struct accel_time time_saved_total(const struct time_saved *s);
