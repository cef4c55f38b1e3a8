// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who has to go when the node table is full. Places go to those who were in session with this node
 * before those that are known by a record alone, which any member can make up; and of these no
 * member brings more than its share. So made-up records keep nobody out, and what is known and
 * alive is never pushed out. Decides and changes nothing: member.c does what it says. Called by
 * member.c and sync.c; control thread. doc/decisions/018.
 */
#include "proto/admit/room.h"

#include <stdlib.h>

#include "base/mem.h"
#include "proto/admit/claim.h"
#include "proto/core.h"

enum rank {
	RANK_STAYS,
	RANK_OLD_TOMBSTONE, /* of a node that was in session once */
	RANK_TOMBSTONE,	    /* of one that nobody here has met */
	RANK_SILENT,	    /* a member that has not been heard for long */
	RANK_UNPROVEN,	    /* a member by its record alone */
};

static enum rank rank_of(const struct overlay *o, const struct node *n)
{
	if (n->slot == SLOT_SELF)
		return RANK_STAYS;
	if (n->state == NODE_LEFT)
		return n->proven ? RANK_OLD_TOMBSTONE : RANK_TOMBSTONE;
	if (!n->proven)
		return RANK_UNPROVEN;
	return n->state == NODE_REACHABLE || claim_is_held(o, n) ? RANK_STAYS : RANK_SILENT;
}

/* By whom it was brought, as a place in a table of counts; 0: by one that is gone. */
static uint16_t holder_of(const struct overlay *o, node_id_t by)
{
	const struct node *n = nodedb_find(o->nodes, by);

	return n ? n->slot : 0;
}

/* The oldest of this rank, of the member that brought most of them. NULL where there is none, or
 * where `by` would take from somebody who has no more than it. */
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

bool room_lacks(const struct overlay *o, const struct room *r)
{
	return (r->place && !nodedb_has_place(o->nodes)) || (r->slot && !nodedb_has_slot(o->nodes));
}

struct node *room_victim(const struct overlay *o, const struct room *r)
{
	struct node *n;

	if (r->place && !nodedb_has_place(o->nodes)) {
		n = oldest_of(o, RANK_UNPROVEN, r->by);
		return n || r->by ? n : oldest_of(o, RANK_SILENT, NODE_ID_NONE);
	}
	n = oldest_of(o, RANK_TOMBSTONE, r->by);
	/* A member, even one that is not proven, is more than a tombstone. */
	return n || !r->place ? n : oldest_of(o, RANK_OLD_TOMBSTONE, NODE_ID_NONE);
}
