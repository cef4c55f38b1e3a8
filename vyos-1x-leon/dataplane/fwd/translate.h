// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: the VLAN of a frame becomes its segment where it leaves for the overlay, and its segment a
 * VLAN where it comes to the LAN: the two places of the packet path that know of segments. Nothing
 * is done where nothing is mapped. Workers.
 */
#pragma once

#include "fwd/coalesce.h"
#include "fwd/frame.h"
#include "fwd/worker.h"

bool translate_to_segment(struct worker *w, struct frame *f);
bool translate_to_vlan(struct worker *w, struct delivery *d, uint8_t flags);

/* Before anything is measured by the length of the frame; its view keeps the VLAN of this node.
 * False, and counted: it is no segment. */
static inline bool translate_out(struct worker *w, struct frame *f)
{
	return likely(!w->snap->segments) || translate_to_segment(w, f);
}
/* flags: LEON_FLAGS_FRAME of it. False, and counted: it is no segment of this node. */
static inline bool translate_in(struct worker *w, struct delivery *d, uint8_t flags)
{
	return likely(!w->snap->segments && !(flags & LEON_F_SEGMENT)) ||
	       translate_to_vlan(w, d, flags);
}
