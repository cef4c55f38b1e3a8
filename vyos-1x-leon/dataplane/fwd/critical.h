// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: one critical frame (state/policy.h) to one node: along two paths at a time where the
 * snapshot has two and the budget allows it, else once; never in company, so that nothing waits.
 * Each of the two datagrams is sealed by itself, with a counter of its own: one for two headers
 * would give the key away. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fwd/encap.h"
#include "fwd/worker.h"

/* Is this frame from the local segment critical? */
static inline bool critical_is(const struct worker *w, const struct frame *f)
{
	const struct policy *p = w->snap->policy;

	return unlikely(p != NULL) && policy_matches(&p->critical, f->data, f->len, &f->v);
}

/* As encap_send(). */
void critical_send(struct worker *w, struct frame *f, uint16_t slot, bool copy, bool last);
static inline void critical_or_not(struct worker *w, struct frame *f, uint16_t slot, bool copy,
				   bool last)
{
	if (unlikely(f->critical))
		critical_send(w, f, slot, copy, last);
	else
		encap_send(w, f, slot, copy, last);
}
