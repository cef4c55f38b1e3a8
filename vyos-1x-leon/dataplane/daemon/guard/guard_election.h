// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Election of the forwarder of a VLAN: a function of the guards received within the last
 * GUARD_SILENT_INTERVALS intervals of the slower node. Part of the state machine of the loop guard
 * (loop_guard.h). Changes nothing. Pure; control thread.
 */
#pragma once

#include "daemon/guard/loop_guard.h"

static inline int64_t guard_interval_ns(const struct guard *g)
{
	return g->conf.interval_ms * NS_PER_MS;
}

static inline bool guard_is_recent(const struct guard *g, mono_t received)
{
	return !mono_is_never(received) &&
	       mono_sub_ns(g->effective, received) <= GUARD_SILENT_INTERVALS * guard_interval_ns(g);
}

/* Reports whether the node was received in the VLAN within three intervals, of the longer interval:
 * two nodes of a LAN may have different ones. An interval below twice the own one counts as the own
 * one, because the step of an interval is less than twice the interval. Without a session, no frame
 * passes between the two nodes, and a host may have forged the stated interval: it does not
 * count. */
static inline bool guard_neighbor_is_recent(const struct guard *g, const struct guard_neighbor *h)
{
	int64_t own_ns = guard_interval_ns(g);
	int64_t its_ns = h->in_session ? guard_interval_of(h->flags) * NS_PER_MS : 0;

	return mono_sub_ns(g->effective, h->at) <=
	       GUARD_SILENT_INTERVALS * (its_ns < 2 * own_ns ? own_ns : its_ns);
}

/* Order of node-ids for qsort() and bsearch(). */
int guard_compare_ids(const void *a, const void *b);
/* Reports whether recent intervals had no frame to show the node on the LAN. */
bool guard_is_unconfirmed(const struct guard *g, const struct guard_peer *p);
/* Reports whether there is a path to a node outside this LAN. */
bool guard_reaches_others(const struct guard *g, const struct guard_vlan *v);
/* State of the VLAN by its guards, with the reason of the election. */
enum guard_state guard_election(const struct guard *g, const struct guard_vlan *v,
				enum guard_reason *reason);
