// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rank of a node in a VLAN, which selects the forwarding node (loop_guard.h). Pure; control
 * thread.
 */
#include "daemon/guard/loop_guard.h"

/* The mix is part of the protocol: all nodes of a LAN compute the same value. */
struct guard_rank guard_rank_of(uint8_t preference, node_id_t node, uint32_t segment)
{
	return (struct guard_rank){ .preference = preference,
				    .mix = hash_mix64((uint64_t)node << 24 | segment),
				    .node = node };
}

bool guard_outranks(const struct guard_rank *a, const struct guard_rank *b)
{
	if (a->preference != b->preference)
		return a->preference > b->preference;
	if (a->mix != b->mix)
		return a->mix > b->mix;
	return a->node < b->node;
}
