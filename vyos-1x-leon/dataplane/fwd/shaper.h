// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shaping to the rate of a line: one account for all workers, in time. What was sent takes the line
 * until `paid_ns`; who wants to send waits for that. Pure but for the atomic; any worker.
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

/* Bytes that may be sent now, 0: none yet. `sparse`: a flow that sends little is next, which need
 * not wait for what another worker has just sent. */
size_t shaper_room(const struct shaper *s, uint32_t kbits, bool sparse, mono_t now);
/* When there will be room. */
mono_t shaper_due(const struct shaper *s, bool sparse);
/* So much was sent, as IP packets. */
void shaper_pay(struct shaper *s, uint32_t kbits, size_t bytes, mono_t now);
