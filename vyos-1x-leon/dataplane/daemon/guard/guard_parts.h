// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parts of the state machine of the loop guard (loop_guard.h), for its files. Pure; control thread.
 */
#pragma once

#include "daemon/guard/loop_guard.h"

/* --- guard_election.c --- */
/* Election of the forwarder of a VLAN: a function of the guards received within the last
 * GUARD_SILENT_INTERVALS intervals of the slower node. Changes nothing. */

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

/* --- guard_peer.c: the nodes received in a VLAN, in the order of their ranks --- */
/* The peer of an entry; NULL if another node has its place. */
struct guard_peer *guard_neighbor_peer(struct guard *g, const struct guard_neighbor *h);
/* Returns the index of a node in the list, or n_received. */
unsigned guard_neighbor_find(const struct guard_vlan *v, node_id_t node);
/* Inserts a node in order. Returns false if the list is full. */
bool guard_neighbor_insert(struct guard_vlan *v, const struct guard_neighbor *h);
void guard_neighbor_remove(struct guard_vlan *v, unsigned i);
/* Reports whether a later frame of the node was accepted before. A frame farther back than the
 * window is a genuine frame after a forged frame: see guard_peer_takes(). */
bool guard_neighbor_is_overtaken(const struct guard_neighbor *h, const struct guard_frame *f);
/* Counts the shared VLANs of each peer. */
void guard_count_shared(struct guard *g);
/* A node with reception of the local guards sends a guard each GUARD_FAST_MS. */
void guard_find_silent(struct guard *g);
