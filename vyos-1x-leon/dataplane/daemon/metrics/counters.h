// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counters of the packet path since the last reset. Control thread.
 */
#pragma once

#include <stdint.h>

#include "base/mono.h"
#include "fwd/stats.h"

struct leond;

void counters_read(struct leond *d, uint64_t counter[N_COUNTERS], uint64_t drop[N_DROPS]);
mono_t counters_since(const struct leond *d); /* the start, or the last reset */
void counters_free(struct leond *d);
uint64_t resident_bytes(void);
