// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Forwarding lookup of a frame from the local segment. Workers.
 */
#pragma once

#include "base/defs.h"
#include "fwd/frame.h"
#include "state/tables/snap.h"
#include "wire/frame/eth.h"

/* Returns a node's slot, SLOT_SELF, or SLOT_NONE to flood. Without a path to its node, a host is
 * searched by flooding: the host may be behind another node. */
static inline uint16_t forwarding_lookup(const struct snap *s, const struct frame *f)
{
	uint16_t slot;

	if (mac_is_multicast(f->v.dst))
		return SLOT_NONE;
	slot = fdb_lookup(s->fdb, f->v.vlan, f->v.dst);
	if (slot == SLOT_SELF || likely(slot < s->n_slots && s->node[slot].has_path))
		return slot;
	return SLOT_NONE;
}
