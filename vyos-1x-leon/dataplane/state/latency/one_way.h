// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One-way delay variation and jitter of a path. For each direction: the delay above its recent
 * minimum (packet delay variation, RFC 5481 section 4.2). For the round trip: the difference of
 * successive samples. The clocks of two nodes are not synchronised, so the absolute one-way delay
 * is unknown; the clock offset is in every sample and cancels. Clock drift of 50 ppm adds up to 1
 * ms to one direction. Owned by the sender of the PINGs along the path; pure; control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

/* State of one direction. */
struct one_way_dir {
	uint32_t zero;	   /* first sample, the reference of the others */
	int32_t cur, prev; /* minimum of the current period and of the previous one */
	int64_t beyond_us; /* smoothed delay above the minimum */
};

struct one_way {
	uint32_t n; /* samples */
	mono_t first_at, last_at, period_at;
	struct one_way_dir forward, reverse;
	/* last round trip; smoothed difference of successive round trips */
	int64_t rtt_us, jitter_us;
};

/* Timestamps of one PING: sent and answered by the own clock, arrival by the other node's clock
 * (modulo 2^32), and the holding time there. */
struct one_way_times {
	int64_t sent_us, answered_us;
	uint32_t arrived_us, held_us;
};

void one_way_reset(struct one_way *w);
void one_way_note(struct one_way *w, const struct one_way_times *t, mono_t now);
/* Sets the clock of the other node less the own clock, modulo 2^32 us, by the smallest delays of
 * the last 10 to 20 s. *rtt_us: the smallest round trip; half of it bounds the error. The error is
 * half of the difference of the one-way delays. Returns false without enough recent samples. */
bool one_way_clock(const struct one_way *w, mono_t now, uint32_t *offset_us, uint32_t *rtt_us);
/* Returns true if there are enough recent samples. */
bool one_way_is_known(const struct one_way *w, mono_t now);
