// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The token bucket of storm.h. Workers, for frames about to be flooded.
 */
#include "fwd/lan/storm.h"

#include "base/defs.h"

bool storm_pass(struct storm *s, uint32_t rate, unsigned n_workers, mono_t now)
{
	int64_t cost, full;

	if (!rate)
		return true;
	cost = NS_PER_S * n_workers / rate;
	/* At low rates a frame costs more than the burst; one frame must fit. */
	full = max_of(cost, (int64_t)STORM_BURST_NS);
	if (mono_is_never(s->last))
		s->credit_ns = full;
	else
		s->credit_ns = min_of(full, s->credit_ns + mono_sub_ns(now, s->last));
	s->last = now;
	if (s->credit_ns < cost)
		return false;
	s->credit_ns -= cost;
	return true;
}
