// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Eviction from a full node table. Nodes that were in session with this node precede nodes known by
 * a record alone, which any member can fabricate. No member keeps more than a share of the latter.
 * Fabricated records therefore keep no node out, and known live nodes are never evicted. Changes
 * nothing: member.c evicts. Called by member.c and sync.c; control thread. doc/decisions/018.
 */
#include "proto/admit/admit.h"

#include <stdlib.h>

#include "base/mem.h"

enum rank {
	RANK_KEPT,
	RANK_OLD_TOMBSTONE, /* tombstone of a node once in session */
	RANK_TOMBSTONE,	    /* tombstone of a node never in session here */
	RANK_SILENT,	    /* a member without messages for a long time */
	RANK_UNVERIFIED,    /* a member known by its record alone */
};

static enum rank rank_of(const struct overlay *o, const struct node *n)
{
	if (n->slot == SLOT_SELF)
		return RANK_KEPT;
	if (n->state == NODE_LEFT)
		return n->verified ? RANK_OLD_TOMBSTONE : RANK_TOMBSTONE;
	if (!n->verified)
		return RANK_UNVERIFIED;
	return n->state == NODE_REACHABLE || claim_is_held(o, n) ? RANK_KEPT : RANK_SILENT;
}

/* Index of the announcing member in a table of counts; 0: a member that is gone. */
static uint16_t holder_of(const struct overlay *o, node_id_t by)
{
	const struct node *n = nodedb_find(o->nodes, by);

	return n ? n->slot : 0;
}

/* Returns the oldest node of the rank, of the member that announced most nodes of the rank. NULL:
 * none, or the eviction would take from a member with no more than `by`. */
static struct node *oldest_of(const struct overlay *o, enum rank rank, node_id_t by)
{
	uint16_t n_slots = nodedb_slots(o->nodes);
	uint32_t *brought = x_calloc(n_slots, sizeof(*brought)), most = 0, own = 0;
	struct node *oldest = NULL;

	for (uint16_t i = 0; i < n_slots; i++) {
		const struct node *n = nodedb_at(o->nodes, i);

		if (n && rank_of(o, n) == rank)
			most = max_of(most, ++brought[holder_of(o, n->by)]);
	}
	if (by != NODE_ID_NONE)
		own = brought[holder_of(o, by)] + 1;
	for (uint16_t i = 0; i < n_slots && most > own; i++) {
		struct node *n = nodedb_at(o->nodes, i);

		if (!n || rank_of(o, n) != rank || brought[holder_of(o, n->by)] != most)
			continue;
		if (!oldest || mono_before(n->since, oldest->since))
			oldest = n;
	}
	free(brought);
	return oldest;
}

bool eviction_is_needed(const struct overlay *o, const struct eviction *r)
{
	return (r->place && !nodedb_has_place(o->nodes)) || (r->slot && !nodedb_has_slot(o->nodes));
}

struct node *eviction_victim(const struct overlay *o, const struct eviction *r)
{
	struct node *n;

	if (r->place && !nodedb_has_place(o->nodes)) {
		n = oldest_of(o, RANK_UNVERIFIED, r->by);
		return n || r->by ? n : oldest_of(o, RANK_SILENT, NODE_ID_NONE);
	}
	n = oldest_of(o, RANK_TOMBSTONE, r->by);
	/* A member, even unproven, precedes a tombstone. */
	return n || !r->place ? n : oldest_of(o, RANK_OLD_TOMBSTONE, NODE_ID_NONE);
}
