// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The budget of second copies: a token bucket of bits for the whole node, from which all workers
 * take; no locks. Kept as the time until which what was taken is paid for. Pure but for the atomic;
 * workers.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"

/* The bucket holds so much time's worth, but two full Ethernet frames at least. */
#define BUDGET_BURST_NS	   (NS_PER_S / 4)
#define BUDGET_BURST_BYTES 3028

struct budget {
	_Atomic int64_t paid_ns; /* on the clock of mono_t */
};

/* How much of what the bucket holds is taken now, in percent; 0 where there is no limit. */
unsigned budget_taken_percent(const struct budget *b, uint32_t kbits, mono_t now);
/* Takes so many bytes; false, and nothing is taken, where they are not there. kbits 0: no limit. */
bool budget_take(struct budget *b, uint32_t kbits, size_t bytes, mono_t now);
