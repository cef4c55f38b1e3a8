// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counters of the packet path: one block per worker, written by that worker only (relaxed atomics),
 * summed by the control thread. X-macro lists (drop.def, counter.def) generate the enum, the JSON
 * key and the documentation table, so every reason is documented.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "base/defs.h"

enum drop_reason {
#define DROP(id, text) DROP_##id,
#include "fwd/drop.def"
#undef DROP
	N_DROPS
};

enum counter {
#define COUNTER(id, text) CNT_##id,
#include "fwd/counter.def"
#undef COUNTER
	N_COUNTERS
};

struct stats {
	_Atomic uint64_t counter[N_COUNTERS];
	_Atomic uint64_t drop[N_DROPS];
} attr_cacheline;

/* Single writer: load, add and store without a locked instruction. */
static inline void stats_add(_Atomic uint64_t *c, uint64_t n)
{
	store_relaxed(c, load_relaxed(c) + n);
}

struct stat_text {
	const char *name; /* snake_case, as in JSON */
	const char *text; /* one sentence for people */
};
extern const struct stat_text drop_stats[N_DROPS], counter_stats[N_COUNTERS];
