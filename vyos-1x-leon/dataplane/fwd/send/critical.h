// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: a critical frame (state/tables/policy.h) to a node. The frame is sent along two paths if
 * the snapshot has two and the budget permits, or in a block with parity (protect.h). Otherwise it
 * is sent once. Critical frames are never bundled, and do not wait. The two datagrams have
 * different counters, because a counter for two headers would reveal the authentication key.
 * Workers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fwd/send/encap.h"
#include "fwd/worker.h"

/* Returns true if the frame from the local segment is critical. */
static inline bool critical_is(const struct worker *w, const struct frame *f)
{
	const struct policy *p = w->snap->policy;

	return unlikely(p != NULL) && policy_matches(&p->critical, f->data, f->len, &f->v);
}

/* Like encap_send(). */
void critical_send(struct worker *w, struct frame *f, uint16_t slot, bool copy, bool last);
static inline void send_unicast(struct worker *w, struct frame *f, uint16_t slot, bool copy,
				bool last)
{
	if (unlikely(f->critical))
		critical_send(w, f, slot, copy, last);
	else
		encap_send(w, f, slot, copy, last);
}
