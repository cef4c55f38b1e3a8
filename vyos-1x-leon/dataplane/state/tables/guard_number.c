// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fresh sequence numbers of loop-guard frames, see guard_number.h. Pure; control thread.
 */
#include "state/tables/guard_number.h"

#include "base/defs.h"

void guard_stated(struct guard_statements *s, uint64_t run, uint64_t number, int64_t stale_ms,
		  mono_t now)
{
	if (s->run != run || !run) {
		*s = (struct guard_statements){
			.run = run, .last = number, .earlier = number, .earlier_at = now
		};
		return;
	}
	s->last = max_of(s->last, number);
	if (mono_sub_ms(now, s->earlier_at) < stale_ms)
		return;
	s->old = s->earlier;
	s->earlier = s->last;
	s->earlier_at = now;
}

struct guard_bounds guard_bounds_of(const struct guard_statements *s, uint64_t run,
				    uint64_t incarnation)
{
	struct guard_bounds b = { .in_session = true,
				  .incarnation = incarnation,
				  .most = UINT64_MAX };

	if (!s->run || s->run != run)
		return b;
	b.least = s->old ? s->old + 1 : 0;
	b.most = s->last + min_of(GUARD_AHEAD, UINT64_MAX - s->last);
	return b;
}

bool guard_bounds_admit(const struct guard_bounds *b, uint64_t incarnation, uint64_t sequence)
{
	if (!b->in_session)
		return true;
	return (!b->incarnation || incarnation == b->incarnation) && sequence >= b->least &&
	       sequence <= b->most;
}
