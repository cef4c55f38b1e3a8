// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The topology that this node believes: permitted relays, links reported broken, and a route to a
 * node without a path. Sends nothing. Called by send.c, paths.c and the explain command; control
 * thread. Protocol 4.9, 6.
 */
#include "proto/core.h"

#include <stdlib.h>

#include "base/mem.h"
#include "proto/view.h"

#define NOTICE_MS   5000
#define NOTICES_MAX 64

struct notice {
	uint16_t from, to; /* link reported broken; to SLOT_NONE: free entry */
	uint32_t row_seq;  /* row sequence of `from` at the report */
	mono_t until;
};

/* Links that relays reported broken, and inputs of a path run. */
struct topology_state {
	struct notice notice[NOTICES_MAX];
	bool *no_relay, *unreceived; /* indexed by slot */
	uint32_t cap;
};

void topology_init(struct overlay *o)
{
	o->topology = x_new(struct topology_state);
}

static bool notice_holds(const struct overlay *o, const struct notice *n, mono_t now)
{
	if (!mono_before(now, n->until))
		return false;
	return latdb_row_seq(o->lat, n->from) <= n->row_seq ||
	       !latdb_get(o->lat, n->from, n->to).up;
}

/* Frees expired entries; returns the next expiry. */
mono_t topology_sweep(struct overlay *o, mono_t now)
{
	mono_t next = MONO_NEVER;

	for (unsigned i = 0; i < NOTICES_MAX; i++) {
		struct notice *n = &o->topology->notice[i];

		if (mono_is_never(n->until))
			continue;
		if (notice_holds(o, n, now))
			next = mono_earlier(next, n->until);
		else
			*n = (struct notice){ 0 };
	}
	return next;
}

static bool link_broken(void *arg, uint16_t from, uint16_t to)
{
	const struct overlay *o = arg;

	for (unsigned i = 0; i < NOTICES_MAX; i++)
		if (o->topology->notice[i].from == from && o->topology->notice[i].to == to &&
		    !mono_is_never(o->topology->notice[i].until))
			return true;
	return false;
}

/* Stores a broken link; returns false if it is known or there is no room. */
bool topology_link_broken(struct overlay *o, uint16_t from, uint16_t to)
{
	struct notice *free_one = NULL;

	topology_sweep(o, overlay_now(o));
	for (unsigned i = 0; i < NOTICES_MAX; i++) {
		struct notice *n = &o->topology->notice[i];

		if (mono_is_never(n->until))
			free_one = n;
		else if (n->from == from && n->to == to)
			return false;
	}
	if (!free_one)
		return false;
	*free_one = (struct notice){
		.from = from,
		.to = to,
		.row_seq = latdb_row_seq(o->lat, from),
		.until = mono_add_ms(overlay_now(o), NOTICE_MS),
	};
	return true;
}

void topology_forget(struct overlay *o, uint16_t slot)
{
	for (unsigned i = 0; i < NOTICES_MAX; i++)
		if (o->topology->notice[i].from == slot || o->topology->notice[i].to == slot)
			o->topology->notice[i] = (struct notice){ 0 };
}

static uint32_t most_relays(const struct overlay *o)
{
	return min_of(o->conf->maximum_relays, LEON_HOPS_MAX - 1u);
}

static bool may_relay(const struct overlay *o, uint16_t slot)
{
	const struct node *node = nodedb_at(o->nodes, slot);

	return node && node->state != NODE_LEFT && !(node->rec.flags & RECORD_TRANSIT_DISABLED);
}

struct path_params overlay_path_params(struct overlay *o)
{
	uint32_t n = nodedb_slots(o->nodes), cap = o->topology->cap;
	bool notices = false;

	o->topology->no_relay = x_grow(o->topology->no_relay, &cap, n, sizeof(bool));
	o->topology->unreceived =
		x_grow(o->topology->unreceived, &o->topology->cap, n, sizeof(bool));
	for (uint16_t i = 0; i < n; i++) {
		o->topology->no_relay[i] = !may_relay(o, i);
		o->topology->unreceived[i] = !peer_at(o, i) || peer_at(o, i)->unreceived;
	}
	for (unsigned i = 0; i < NOTICES_MAX && !notices; i++)
		notices = !mono_is_never(o->topology->notice[i].until);
	return (struct path_params){
		.maximum_relays = most_relays(o),
		.relay_cost_us = o->conf->relay_cost_us,
		.no_relay = o->topology->no_relay,
		.unreceived = o->topology->unreceived,
		.link_broken = notices ? link_broken : NULL,
		.arg = o,
	};
}

static bool leads_through(const struct path *path, uint16_t slot)
{
	for (unsigned i = 0; i < path->n_hops; i++)
		if (path->hop[i] == slot)
			return true;
	return false;
}

bool topology_claimed(struct overlay *o, const struct peer *p, struct path *best)
{
	uint32_t relays = most_relays(o);

	*best = (struct path){ .cost_us = COST_INFINITE };
	for (uint16_t i = SLOT_SELF + 1; i < nodedb_slots(o->nodes); i++) {
		const struct peer *last = peer_at(o, i);
		const struct path *path = last ? &last->choice.path : NULL;

		/* Extends any path in use to a node that reports a link to the target. Each message
		 * to a node without a path searches, and a joining node has none, so the cheap
		 * checks come first. */
		if (!path || path->n_hops == 0 || path->n_hops > relays ||
		    path->cost_us >= best->cost_us || !latdb_get(o->lat, i, p->slot).up ||
		    !may_relay(o, i) || leads_through(path, p->slot))
			continue;
		*best = *path;
		best->hop[best->n_hops++] = p->slot;
	}
	return best->n_hops > 0;
}

void topology_free(struct overlay *o)
{
	free(o->topology->no_relay);
	free(o->topology->unreceived);
	free(o->topology);
}
