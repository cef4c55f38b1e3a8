// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Peers: the table by slot and the few pending ones, from creation to release. Higher floors create
 * and free peer state of their floor (struct hooks). Called by all of proto/ on the control thread.
 */
#include "proto/core.h"

#include <stdlib.h>

#include "base/mem.h"

struct peer *peer_at(const struct overlay *o, uint16_t slot)
{
	return slot < o->cap_slots ? o->by_slot[slot] : NULL;
}

struct peer *peer_find(struct overlay *o, node_id_t id)
{
	struct peer *p = peer_at(o, nodedb_slot(o->nodes, id));

	if (p)
		return p;
	for (unsigned i = 0; i < o->n_pending; i++)
		if (o->pending[i]->id == id)
			return o->pending[i];
	return NULL;
}

struct node *peer_node(const struct overlay *o, const struct peer *p)
{
	return p->slot == SLOT_NONE ? NULL : nodedb_at(o->nodes, p->slot);
}

bool peer_announces(const struct overlay *o, const struct peer *p, uint16_t flag)
{
	const struct node *n = peer_node(o, p);

	return n && n->has_record && n->rec.flags & flag;
}

int64_t peer_usual_alive_ms(const struct overlay *o)
{
	return max_of((int64_t)ALIVE_MS, 3 * overlay_stretch(o, o->conf->interval_ms));
}

int64_t peer_alive_ms(const struct overlay *o)
{
	int64_t ms = peer_usual_alive_ms(o);

	return mono_before(overlay_now(o), o->former_until) ? max_of(ms, o->former_alive_ms) : ms;
}

/* A lazy link has few PINGs. If one is unanswered, or the link ceases to be lazy, the usual time
 * begins then: the node may answer along a relay. */
bool peer_is_alive(const struct overlay *o, const struct peer *p)
{
	int64_t ms = peer_alive_ms(o), age_ms = mono_sub_ms(overlay_now(o), p->received);
	mono_t lazy_at = p->probe.lazy_at;

	if (!p->cur)
		return false;
	if (mono_is_recent(lazy_at, ms, overlay_now(o)))
		ms = max_of(ms, (int64_t)3 * LAZY_MS);
	return age_ms < ms;
}

static struct peer *peer_new(struct overlay *o, node_id_t id)
{
	struct peer *p = x_new(struct peer);

	p->o = o;
	p->id = id;
	p->slot = SLOT_NONE;
	p->born = overlay_now(o);
	p->unreceived = true;
	alarm_init(o, &p->tick, o->hooks.peer_tick, p);
	o->hooks.peer_begins(o, p);
	return p;
}

static void set_slot(struct overlay *o, struct peer *p, uint16_t slot)
{
	o->by_slot = x_grow(o->by_slot, &o->cap_slots, slot + 1u, sizeof(struct peer *));
	p->slot = slot;
	o->by_slot[slot] = p;
}

static void unlist_pending(struct overlay *o, const struct peer *p)
{
	for (unsigned i = 0; i < o->n_pending; i++) {
		if (o->pending[i] != p)
			continue;
		o->pending[i] = o->pending[--o->n_pending];
		return;
	}
}

struct peer *peer_of_node(struct overlay *o, const struct node *n)
{
	struct peer *p = peer_find(o, n->id);

	if (n->slot == SLOT_SELF)
		return NULL;
	if (p && p->slot != SLOT_NONE)
		return p;
	if (p)
		unlist_pending(o, p);
	else
		p = peer_new(o, n->id);
	set_slot(o, p, n->slot);
	return p;
}

struct peer *peer_new_pending(struct overlay *o, node_id_t id)
{
	struct peer *p;

	if (o->n_pending == PENDING_MAX) {
		struct peer *oldest = o->pending[0];

		for (unsigned i = 1; i < o->n_pending; i++)
			if (mono_before(o->pending[i]->born, oldest->born))
				oldest = o->pending[i];
		/* An honest peer needs one round trip; a second suffices if room is short. */
		if (mono_sub_ms(overlay_now(o), oldest->born) < 1000)
			return NULL;
		peer_drop(o, oldest);
	}
	p = peer_new(o, id);
	o->pending[o->n_pending++] = p;
	return p;
}

void peer_expire_pending(struct overlay *o)
{
	for (unsigned i = o->n_pending; i-- > 0;)
		if (mono_sub_ms(overlay_now(o), o->pending[i]->born) > PENDING_MS)
			peer_drop(o, o->pending[i]);
}

void peer_drop(struct overlay *o, struct peer *p)
{
	if (p->slot == SLOT_NONE) {
		unlist_pending(o, p);
	} else {
		o->by_slot[p->slot] = NULL;
		p->slot = SLOT_NONE;
	}
	alarm_set(&p->tick, MONO_NEVER);
	p->next_dropped = o->dropped;
	o->dropped = p;
}

void peer_free_dropped(struct overlay *o)
{
	while (o->dropped) {
		struct peer *p = o->dropped;

		o->dropped = p->next_dropped;
		o->hooks.peer_ends(p);
		alarm_free(&p->tick);
		free(p);
	}
}

void peer_received(struct overlay *o, struct peer *p)
{
	p->received = overlay_now(o);
	if (!p->unreceived)
		return;
	p->unreceived = false;
	schedule_paths_later(o);
}

void peer_free_all(struct overlay *o)
{
	for (uint32_t i = 0; i < o->cap_slots; i++)
		if (o->by_slot[i])
			peer_drop(o, o->by_slot[i]);
	while (o->n_pending)
		peer_drop(o, o->pending[0]);
	peer_free_dropped(o);
	free(o->by_slot);
}
