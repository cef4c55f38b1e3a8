// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rate limit by the generic cell rate algorithm (GCRA, ITU-T I.371), which admits the same as a
 * token bucket. Owned by the caller; a zeroed bucket is full. Pure; any thread.
 */
#pragma once

#include "defs.h"
#include "mono.h"

struct bucket {
	mono_t paid; /* the passes until now use the rate until this time */
};

/* Returns true if one more may pass: each uses the rate for cost_ns, and burst_ns is the depth, at
 * least cost_ns. */
static inline bool bucket_pass(struct bucket *b, mono_t now, int64_t cost_ns, int64_t burst_ns)
{
	int64_t paid_ns = max_of(b->paid.ns, now.ns) + cost_ns;

	if (paid_ns - now.ns > burst_ns)
		return false;
	b->paid.ns = paid_ns;
	return true;
}

/* Time from which one more may pass. */
static inline mono_t bucket_next(const struct bucket *b, int64_t cost_ns, int64_t burst_ns)
{
	return mono_add_ns(b->paid, cost_ns - burst_ns);
}
