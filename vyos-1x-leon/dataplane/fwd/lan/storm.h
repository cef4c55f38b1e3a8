// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Storm control: a rate limit for each kind of flooded frame. The configured rate is per node; each
 * of n workers has 1/n, because workers share nothing. Worker-owned; pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/bucket.h"

enum storm_kind { STORM_BROADCAST, STORM_MULTICAST, STORM_UNKNOWN, N_STORM };

/* Depth of a bucket in time: the burst is this fraction of a second's frames. */
#define STORM_BURST_NS (NS_PER_S / 4)

/* Returns true if another frame may pass at `now`. rate: frames per second of the node; 0: no
 * limit. */
static inline bool storm_pass(struct bucket *b, uint32_t rate, unsigned n_workers, mono_t now)
{
	int64_t cost_ns;

	if (!rate)
		return true;
	cost_ns = NS_PER_S * n_workers / rate;
	/* At low rates a frame costs more than the burst; one frame must fit. */
	return bucket_pass(b, now, cost_ns, max_of(cost_ns, (int64_t)STORM_BURST_NS));
}
