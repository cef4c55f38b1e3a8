// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps of frames from the local segment into the overlay. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fwd/frame.h"

struct worker;

/* Reads and processes a batch of the queue; worker_end() sends. Returns true if more may be
 * pending. */
bool from_tap(struct worker *w, int fd);
/* Processes a frame. */
void from_tap_frame(struct worker *w, struct frame *f);

/* Broadcast, multicast and unknown unicast: storm control, then head-end replication. */
void flood(struct worker *w, struct frame *f);

/* --- sampler.c ---
 * Step: samples frames of the local segment for the export of flows. One frame of each N is taken,
 * at a random position (random n-out-of-N sampling, RFC 5475 section 5.2.2.1). Traffic with a
 * period is not preferred, and the number of samples is exact. A super-frame counts as its
 * segments. Worker-owned; the control thread reads the ring (fwd_next_sample()).
 */

#define SAMPLE_RING_BYTES (1u << 20)

struct sampler {
	uint32_t population; /* N; 0: not started */
	uint32_t left;	     /* frames up to and with the next sample */
	uint32_t rest;	     /* frames of its block behind the sample */
	uint64_t random;     /* state of the generator, not 0 */
};

void sampler_start(struct sampler *s, uint32_t population, uint64_t seed);
/* Returns the number of samples among the next frames. */
unsigned sampler_take(struct sampler *s, unsigned frames);

/* Samples a frame to the node of the slot; SLOT_NONE: a flooded frame. Only with
 * snap.flow_sampling. */
void sample(struct worker *w, const struct frame *f, uint16_t slot);
