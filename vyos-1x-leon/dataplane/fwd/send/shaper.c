// SPDX-License-Identifier: GPL-2.0-or-later
/* Accounts of the rate of a line and of the budget of second copies. Workers. */
#include "fwd/send/send_state.h"

#include "base/defs.h"

/* Burst as transmission time: short, because it forms the queue of the line. */
#define BURST_NS (1 * NS_PER_MS)
/* Delay of a worker's turn that it may catch up. */
#define SAVED_NS (4 * NS_PER_MS)
/* Advance of a sparse flow over the line rate. */
#define AHEAD_NS (2 * NS_PER_MS)
/* Upper bound of the debt of traffic that does not wait (relayed datagrams). */
#define DEBT_NS (100 * NS_PER_MS)
/* A slow line owes at least this for at most a second: each of eight workers may send one frame
 * before another worker pays. */
#define DEBT_BYTES 12500
/* Divisor of the rate: the least rate of queued frames. */
#define LEAST_DIVISOR 16
#define BITS	      8

static int64_t time_of(size_t bytes, uint32_t kbits)
{
	return (int64_t)(bytes * BITS * (NS_PER_S / 1000) / max_of(kbits, 1u));
}

static int64_t most_debt(uint32_t kbits)
{
	return max_of(DEBT_NS, min_of(time_of(DEBT_BYTES, kbits), NS_PER_S));
}

mono_t shaper_due(const struct shaper *s, bool sparse)
{
	int64_t least = load_relaxed(&s->least_ns);

	return (mono_t){ min_of(shaper_paid(s).ns - (sparse ? AHEAD_NS : 0), least) };
}

size_t shaper_room(const struct shaper *s, uint32_t kbits, bool sparse, mono_t now)
{
	if (!mono_before(now, shaper_due(s, false)))
		return max_of((size_t)(kbits * (uint64_t)BURST_NS / (NS_PER_S / 1000) / BITS),
			      (size_t)1);
	/* One frame. */
	return sparse && !mono_before(now, shaper_due(s, true));
}

/* Adds a cost to an account, which is then at least `from_ns` + cost and at most `most_ns`. */
static void charge(_Atomic int64_t *account, int64_t cost_ns, int64_t from_ns, int64_t most_ns)
{
	int64_t at = load_relaxed(account), next;

	do
		next = min_of(max_of(at, from_ns) + cost_ns, most_ns);
	while (!atomic_compare_exchange_weak_explicit(account, &at, next, memory_order_relaxed,
						      memory_order_relaxed));
}

void shaper_pay(struct shaper *s, uint32_t kbits, size_t bytes, mono_t now)
{
	charge(&s->paid_ns, time_of(bytes, kbits), now.ns - SAVED_NS, now.ns + most_debt(kbits));
}

void shaper_served(struct shaper *s, uint32_t kbits, size_t bytes, mono_t now)
{
	charge(&s->least_ns, LEAST_DIVISOR * time_of(bytes, kbits), now.ns,
	       now.ns + most_debt(kbits));
}

void shaper_correct(struct shaper *s, int64_t us, mono_t now)
{
	int64_t paid = load_relaxed(&s->paid_ns), next;

	do {
		next = max_of(paid, now.ns) + us * NS_PER_US;
		next = max_of(next, now.ns);
	} while (!atomic_compare_exchange_weak_explicit(
		&s->paid_ns, &paid, next, memory_order_relaxed, memory_order_relaxed));
}

/* --- the budget of second copies --- */

/* Depth of the bucket as refill time. */
static int64_t depth_ns(uint32_t kbits)
{
	return max_of((int64_t)BUDGET_BURST_NS, time_of(BUDGET_BURST_BYTES, kbits));
}

unsigned budget_used_percent(const struct budget *b, uint32_t kbits, mono_t now)
{
	int64_t paid = load_relaxed(&b->paid_ns);

	if (!kbits || paid <= now.ns)
		return 0;
	return (unsigned)min_of((paid - now.ns) * 100 / depth_ns(kbits), (int64_t)100);
}

bool budget_take(struct budget *b, uint32_t kbits, size_t bytes, mono_t now)
{
	int64_t cost, depth, paid, next;

	if (!kbits)
		return true;
	cost = time_of(bytes, kbits);
	depth = depth_ns(kbits);
	paid = load_relaxed(&b->paid_ns);
	do {
		/* Credit beyond the depth of the bucket is discarded. */
		next = max_of(paid, now.ns) + cost;
		if (next - now.ns > depth)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(
		&b->paid_ns, &paid, next, memory_order_relaxed, memory_order_relaxed));
	return true;
}
