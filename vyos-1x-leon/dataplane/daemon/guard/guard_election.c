// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Election of the forwarder of a VLAN, see guard_parts.h. Pure; control thread.
 */
#include "daemon/guard/guard_parts.h"

#include <stdlib.h>

int guard_compare_ids(const void *a, const void *b)
{
	const node_id_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

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

static bool guard_is_reached(const struct guard *g, node_id_t node)
{
	return g->n_reached &&
	       bsearch(&node, g->reached, g->n_reached, sizeof(node), guard_compare_ids) != NULL;
}

bool guard_is_unconfirmed(const struct guard *g, const struct guard_peer *p)
{
	return !mono_is_never(p->unconfirmed) && !guard_is_recent(g, p->unconfirmed);
}

/* Reports whether a node takes part in the election. An unconfirmed node without a path does not:
 * the frames may be recorded, and no loop is possible without a path. */
static bool takes_part(const struct guard *g, const struct guard_neighbor *h)
{
	const struct guard_peer *p = &g->peer[h->peer];

	return p->node != h->node ||
	       (!p->silent && (!guard_is_unconfirmed(g, p) || guard_is_reached(g, h->node)));
}

/* A node without the local node in the list might not learn the end of forwarding here. */
static bool takes_precedence(const struct guard *g, const struct guard_vlan *v,
			     const struct guard_neighbor *h)
{
	return (h->flags & GUARD_READY) && guard_outranks(&h->rank, &v->rank) &&
	       (h->hears_us || guard_is_recent(g, h->confirmed));
}

/* Returns the node that forwards the VLAN in place of the local node, or NULL. A forwarder remains
 * forwarder until a guard reports the end. A ready node of a better rank takes precedence. If a
 * forwarder does not receive the local guards, forwarding here would cause a loop. */
static const struct guard_neighbor *yields_to(const struct guard *g, const struct guard_vlan *v)
{
	for (unsigned i = 0; i < v->n_received; i++) {
		const struct guard_neighbor *h = &v->received[i];

		if (takes_part(g, h) && ((h->flags & GUARD_FORWARDS) || takes_precedence(g, v, h)))
			return h;
	}
	return NULL;
}

bool guard_reaches_others(const struct guard *g, const struct guard_vlan *v)
{
	unsigned here = 0;

	for (unsigned i = 0; i < v->n_received; i++)
		here += guard_is_reached(g, v->received[i].node);
	return g->n_reached > here;
}

static enum guard_reason reason_not_elected(const struct guard_vlan *v,
					    const struct guard_neighbor *h)
{
	if (!guard_outranks(&h->rank, &v->rank))
		return GUARD_BY_HOLDING;
	return h->rank.preference > v->rank.preference ? GUARD_BY_PREFERENCE : GUARD_BY_RANK;
}

static enum guard_reason reason_elected(const struct guard *g, const struct guard_vlan *v)
{
	enum guard_reason reason = GUARD_BY_SILENCE;

	for (unsigned i = 0; i < v->n_received; i++) {
		const struct guard_neighbor *h = &v->received[i];

		if (!takes_part(g, h) || !(h->flags & GUARD_READY))
			continue;
		if (h->rank.preference >= v->rank.preference)
			return GUARD_BY_RANK;
		reason = GUARD_BY_PREFERENCE;
	}
	return reason;
}

enum guard_state guard_election(const struct guard *g, const struct guard_vlan *v,
				enum guard_reason *reason)
{
	const struct guard_neighbor *other;

	*reason = GUARD_BY_NOTHING;
	if (mono_before(g->effective, v->listen))
		return GUARD_LISTENING;
	if (!v->n_received)
		return GUARD_CLEAR;
	other = yields_to(g, v);
	if (other)
		*reason = reason_not_elected(v, other);
	else if (!guard_reaches_others(g, v))
		*reason = GUARD_BY_NO_PATH;
	else if (mono_before(g->effective, g->unsure))
		*reason = GUARD_BY_STALL;
	if (*reason != GUARD_BY_NOTHING)
		return GUARD_BLOCKED;
	*reason = reason_elected(g, v);
	return GUARD_SHARED;
}
