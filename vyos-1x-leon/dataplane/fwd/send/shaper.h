// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shaping to the rate of a line: one virtual-time account (GCRA) for all workers. Sent bytes occupy
 * the line until `paid_ns`; later transmissions wait for this time. Pure except for the atomic; any
 * worker.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"

struct shaper {
	_Atomic int64_t paid_ns;
};

/* Bytes that may be sent now; 0: none yet. `sparse`: a sparse flow is next, which need not wait for
 * recent transmissions of other workers. */
size_t shaper_room(const struct shaper *s, uint32_t kbits, bool sparse, mono_t now);
/* Time at which bytes may be sent. */
mono_t shaper_due(const struct shaper *s, bool sparse);
/* Charges sent bytes (IP packets). */
void shaper_pay(struct shaper *s, uint32_t kbits, size_t bytes, mono_t now);
/* Adds microseconds to the backlog, which stays at least 0. Control thread. */
void shaper_correct(struct shaper *s, int64_t us, mono_t now);
