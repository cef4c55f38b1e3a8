// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The budget of second copies: a token bucket of bits for the whole node, shared by all workers
 * without locks. Stored as the time until which the taken bits are paid for. Pure except for the
 * atomic; workers.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"

/* Depth of the bucket in time, at least two full Ethernet frames. */
#define BUDGET_BURST_NS	   (NS_PER_S / 4)
#define BUDGET_BURST_BYTES 3028

struct budget {
	_Atomic int64_t paid_ns; /* on the clock of mono_t */
};

/* Used share of the bucket in percent; 0 without a limit. */
unsigned budget_used_percent(const struct budget *b, uint32_t kbits, mono_t now);
/* Takes bytes from the bucket; returns false and takes nothing if there are too few. kbits 0: no
 * limit. */
bool budget_take(struct budget *b, uint32_t kbits, size_t bytes, mono_t now);
