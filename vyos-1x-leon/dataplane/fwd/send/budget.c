// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The token bucket of budget.h. Workers, for each critical frame that may be duplicated.
 */
#include "fwd/send/budget.h"

#include "base/defs.h"

static int64_t cost_ns(uint32_t kbits, size_t bytes)
{
	return (int64_t)(bytes * 8 * (NS_PER_S / 1000) / kbits);
}

/* Depth of the bucket as refill time. */
static int64_t depth_ns(uint32_t kbits)
{
	return max_of((int64_t)BUDGET_BURST_NS, cost_ns(kbits, BUDGET_BURST_BYTES));
}

unsigned budget_used_percent(const struct budget *b, uint32_t kbits, mono_t now)
{
	int64_t paid = atomic_load_explicit(&b->paid_ns, memory_order_relaxed);

	if (!kbits || paid <= now.ns)
		return 0;
	return (unsigned)min_of((paid - now.ns) * 100 / depth_ns(kbits), (int64_t)100);
}

bool budget_take(struct budget *b, uint32_t kbits, size_t bytes, mono_t now)
{
	int64_t cost, depth, paid, next;

	if (!kbits)
		return true;
	cost = cost_ns(kbits, bytes);
	depth = depth_ns(kbits);
	paid = atomic_load_explicit(&b->paid_ns, memory_order_relaxed);
	do {
		/* Credit beyond the depth of the bucket is discarded. */
		next = max_of(paid, now.ns) + cost;
		if (next - now.ns > depth)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(
		&b->paid_ns, &paid, next, memory_order_relaxed, memory_order_relaxed));
	return true;
}
