// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: maps the VLAN of a frame to its segment towards the overlay, and the segment to a VLAN
 * towards the LAN. No other step of the packet path knows segments. Idle without a mapping.
 * Workers.
 */
#pragma once

#include "fwd/frame.h"
#include "fwd/tap/coalesce.h"
#include "fwd/worker.h"

bool translate_to_segment(struct worker *w, struct frame *f);
bool translate_to_vlan(struct worker *w, struct delivery *d, uint8_t flags);

/* Called before the frame's length is used; the view keeps the VLAN of this node. Returns false and
 * counts if the VLAN has no segment. */
static inline bool translate_out(struct worker *w, struct frame *f)
{
	return likely(!w->snap->segments) || translate_to_segment(w, f);
}
/* flags: LEON_FLAGS_FRAME of the frame. Returns false and counts if this node does not serve the
 * segment. */
static inline bool translate_in(struct worker *w, struct delivery *d, uint8_t flags)
{
	return likely(!w->snap->segments && !(flags & LEON_F_SEGMENT)) ||
	       translate_to_vlan(w, d, flags);
}
