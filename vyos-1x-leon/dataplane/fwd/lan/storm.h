// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Storm control: a token bucket for each kind of flooded frame. The configured rate is per node;
 * each of n workers has 1/n, because workers share nothing. Worker-owned; pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

enum storm_kind { STORM_BROADCAST, STORM_MULTICAST, STORM_UNKNOWN, N_STORM };

/* Depth of a bucket in time: the burst is this fraction of a second's frames. */
#define STORM_BURST_NS (NS_PER_S / 4)

struct storm {
	mono_t last;
	int64_t credit_ns; /* time credit; a frame costs n_workers / rate seconds */
};

/* Returns true if another frame may pass at `now`. rate: frames per second of the node; 0: no
 * limit. */
bool storm_pass(struct storm *s, uint32_t rate, unsigned n_workers, mono_t now);
