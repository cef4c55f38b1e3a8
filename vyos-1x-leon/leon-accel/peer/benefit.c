// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Benefit of interception, see benefit.h.
 */
#include "peer/benefit.h"

#include "base/defs.h"

#define WARM_UP_ROUNDS 8 /* in which an inter-proxy connection reaches the rate of any link */
#define COST_OF_AGE    20
#define WINDOW_WARM_UP 8 /* growth of the rate in three round trips */
#define AT_ONCE	       (10 * 1200)
#define LOSS_PART      32 /* a smaller share of loss is harmless */

bool benefit_expected(const struct benefit *w)
{
	if (w->flow <= w->interproxy / 4 * 3)
		return true;
	if (w->window && w->flow >= w->window / 4 * 3 && w->flow <= WINDOW_WARM_UP * w->interproxy)
		return true;
	return w->age_ms >= COST_OF_AGE * WARM_UP_ROUNDS * w->rtt_ms;
}

bool benefit_present(uint64_t flow, uint64_t window)
{
	uint64_t at_once = window ? min_of(window / 2, (uint64_t)AT_ONCE) : AT_ONCE;

	return flow > at_once;
}

bool benefit_is_request_response(const struct benefit_exchange *t)
{
	if ((uint64_t)t->again * LOSS_PART > t->segments)
		return false;
	for (unsigned d = 0; d < 2; d++)
		if (!t->direction[d].flow ||
		    benefit_present(t->direction[d].flow, t->direction[d].window))
			return false;
	return true;
}

uint64_t benefit_stream_rate(uint64_t room, uint64_t used, unsigned streams)
{
	return max_of(room - min_of(room, used), room / (streams + 1u));
}
