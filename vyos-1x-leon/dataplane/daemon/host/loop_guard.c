// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loop-guard state machine, see loop_guard.h. Pure; control thread. The state of a VLAN is a
 * function of what was heard in it within the last GUARD_SILENT_INTERVALS intervals.
 */
#include "daemon/host/loop_guard.h"

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"

const char *guard_state_name(enum guard_state s)
{
	static const char *const name[] = {
		[GUARD_OFF] = "off",	   [GUARD_LISTENING] = "listening", [GUARD_CLEAR] = "clear",
		[GUARD_SHARED] = "shared", [GUARD_BLOCKED] = "blocked",
	};

	return name[s];
}

/* --- one VLAN --- */

static bool is_recent(const struct guard *g, mono_t heard, mono_t now)
{
	int64_t silence_ms = (int64_t)GUARD_SILENT_INTERVALS * g->interval_ms;

	return !mono_is_never(heard) && mono_sub_ns(now, heard) <= silence_ms * NS_PER_MS;
}

/* Whoever forwards does so until it is heard to have stopped, and a lower node-id takes
 * precedence as soon as it is ready. What a node that does not hear us forwards goes in a circle
 * through us. */
static bool gives_way(const struct guard *g, const struct guard_vlan *v)
{
	for (unsigned i = 0; i < v->n_heard; i++) {
		const struct guard_heard *h = &v->heard[i];

		if ((h->flags & GUARD_FORWARDS) || (h->node < g->self && (h->flags & GUARD_READY)))
			return true;
	}
	return false;
}

static enum guard_state state_now(const struct guard *g, const struct guard_vlan *v, mono_t now)
{
	if (mono_before(now, v->listen))
		return GUARD_LISTENING;
	if (!v->n_heard)
		return GUARD_CLEAR;
	return gives_way(g, v) ? GUARD_BLOCKED : GUARD_SHARED;
}

/* Derives the state of a VLAN from what was heard in it. Others are told of a new one at once. */
static unsigned settle(struct guard *g, struct guard_vlan *v, mono_t now)
{
	enum guard_state state = state_now(g, v, now);

	if (state == v->state)
		return GUARD_NOTHING;
	if (state == GUARD_BLOCKED)
		g->n_blocked++;
	/* Who begins and is alone has moved nothing. */
	if (v->state != GUARD_LISTENING || state != GUARD_CLEAR)
		g->moved = true;
	v->state = state;
	v->since = g->since = now;
	v->urgent = true;
	vlan_set_add(&g->changed, v->id);
	return GUARD_CHANGED | GUARD_URGENT;
}

static void listen_to(struct guard *g, struct guard_vlan *v, mono_t now)
{
	v->n_heard = 0;
	v->state = GUARD_LISTENING;
	v->since = g->since = now;
	v->greeted = MONO_NEVER;
	v->listen = mono_add_ms(now, g->interval_ms + GUARD_ROUND_TRIP_MS);
	v->urgent = true;
	vlan_set_add(&g->changed, v->id);
}

static bool is_carried(const struct guard *g, uint16_t id)
{
	return !g->carries_known || vlan_set_has(&g->carries, id);
}

/* NULL: it is none of this LAN. */
static struct guard_vlan *vlan_in_use(struct guard *g, uint16_t id, mono_t now)
{
	struct guard_vlan *v = g->vlan[id % VLAN_IDS];

	if (v || !is_carried(g, id))
		return v;
	v = g->vlan[id % VLAN_IDS] = x_new(struct guard_vlan);
	v->id = id % VLAN_IDS;
	g->used[g->n_used++] = v->id;
	listen_to(g, v, now);
	return v;
}

static void forget_vlan(struct guard *g, unsigned i)
{
	uint16_t id = g->used[i];

	g->used[i] = g->used[--g->n_used];
	free(g->vlan[id]);
	g->vlan[id] = NULL;
	vlan_set_add(&g->changed, id);
}

static unsigned drop_heard(struct guard *g, struct guard_vlan *v, unsigned i)
{
	memmove(&v->heard[i], &v->heard[i + 1], (--v->n_heard - i) * sizeof(v->heard[0]));
	vlan_set_add(&g->changed, v->id);
	return GUARD_CHANGED;
}

static unsigned forget_silent(struct guard *g, struct guard_vlan *v, mono_t now)
{
	unsigned outcome = GUARD_NOTHING;

	for (unsigned i = v->n_heard; i--;)
		if (!is_recent(g, v->heard[i].at, now))
			outcome |= drop_heard(g, v, i);
	return outcome;
}

/* The place of a node in the list; where it is new, one is made. NULL where the list is full of
 * lower node-ids, which take precedence over this one. */
static struct guard_heard *place_of(struct guard_vlan *v, node_id_t node, bool *is_new)
{
	unsigned i = 0;

	while (i < v->n_heard && v->heard[i].node < node)
		i++;
	*is_new = i == v->n_heard || v->heard[i].node != node;
	if (!*is_new)
		return &v->heard[i];
	if (i == GUARD_HEARD_MAX)
		return NULL;
	if (v->n_heard == GUARD_HEARD_MAX)
		v->n_heard--;
	memmove(&v->heard[i + 1], &v->heard[i], (v->n_heard - i) * sizeof(v->heard[0]));
	v->n_heard++;
	v->heard[i] = (struct guard_heard){ .node = node };
	return &v->heard[i];
}

/* Several nodes on one LAN take turns in being new; greeting each would be a storm of its own. */
static unsigned greet(struct guard *g, struct guard_vlan *v, mono_t now)
{
	if (!mono_is_never(v->greeted) && mono_sub_ms(now, v->greeted) < g->interval_ms)
		return GUARD_NOTHING;
	v->greeted = now;
	v->urgent = true;
	return GUARD_URGENT;
}

static bool lists(const struct guard_frame *f, node_id_t node)
{
	for (unsigned i = 0; i < GUARD_HEARD_MAX; i++)
		if (f->heard[i] == node)
			return true;
	return false;
}

static unsigned heard_in(struct guard *g, struct guard_vlan *v, const struct guard_frame *f,
			 mono_t now)
{
	unsigned outcome = GUARD_NOTHING;
	bool is_new;
	struct guard_heard *h = place_of(v, f->node, &is_new);

	if (!h)
		return GUARD_NOTHING;
	/* Overtaken on the way. */
	if (!is_new && h->incarnation == f->incarnation && h->sequence > f->sequence)
		return GUARD_NOTHING;
	if (is_new || h->vlan != f->vlan) {
		vlan_set_add(&g->changed, v->id);
		outcome |= GUARD_CHANGED;
	}
	if (is_new || h->incarnation != f->incarnation)
		outcome |= greet(g, v, now);
	*h = (struct guard_heard){ .node = f->node,
				   .vlan = f->vlan,
				   .flags = f->flags,
				   .hears_us = lists(f, g->self),
				   .incarnation = f->incarnation,
				   .sequence = f->sequence,
				   .at = now };
	return outcome | settle(g, v, now);
}

/* --- replayed frames --- */

static struct guard_peer *peer_of(struct guard *g, node_id_t node)
{
	struct guard_peer *oldest = &g->peer[0];

	for (unsigned i = 0; i < GUARD_PEERS; i++) {
		struct guard_peer *p = &g->peer[i];

		if (p->node == node)
			return p;
		if (mono_is_never(p->at) ||
		    (!mono_is_never(oldest->at) && mono_before(p->at, oldest->at)))
			oldest = p;
	}
	*oldest = (struct guard_peer){ .node = node };
	return oldest;
}

static bool is_fresh(struct guard_peer *p, const struct guard_frame *f)
{
	uint64_t *word = &p->seen[f->sequence % GUARD_WINDOW / 64], bit = 1ULL << f->sequence % 64;

	if (f->incarnation < p->incarnation)
		return false;
	if (f->incarnation > p->incarnation) {
		*p = (struct guard_peer){ .node = f->node, .incarnation = f->incarnation };
		p->top = f->sequence;
	}
	if (f->sequence > p->top) {
		uint64_t n = min_of(f->sequence - p->top, (uint64_t)GUARD_WINDOW);

		for (uint64_t s = f->sequence - n + 1; s <= f->sequence; s++)
			p->seen[s % GUARD_WINDOW / 64] &= ~(1ULL << s % 64);
		p->top = f->sequence;
	}
	if (p->top - f->sequence >= GUARD_WINDOW || (*word & bit))
		return false;
	*word |= bit;
	return true;
}

/* --- the whole --- */

void guard_init(struct guard *g, node_id_t self, bool enabled, uint32_t interval_ms, mono_t now)
{
	*g = (struct guard){
		.enabled = enabled,
		.interval_ms = interval_ms,
		.self = self,
		.since = now,
	};
	vlan_in_use(g, 0, now);
}

void guard_free(struct guard *g)
{
	while (g->n_used)
		forget_vlan(g, 0);
}

unsigned guard_configure(struct guard *g, bool enabled, uint32_t interval_ms, mono_t now)
{
	unsigned outcome = GUARD_NOTHING;

	g->interval_ms = interval_ms;
	if (enabled == g->enabled)
		return guard_tick(g, now);
	if (g->local_loop)
		outcome |= GUARD_LOOP_ENDS;
	g->local_loop = false;
	g->enabled = enabled;
	g->own_heard = MONO_NEVER;
	return outcome | guard_lan(g, g->lan, now);
}

unsigned guard_lan(struct guard *g, bool lan, mono_t now)
{
	g->lan = lan;
	g->since = g->ticked = now;
	for (unsigned i = 0; i < g->n_used; i++)
		listen_to(g, g->vlan[g->used[i]], now);
	return GUARD_CHANGED | GUARD_URGENT;
}

unsigned guard_use(struct guard *g, uint16_t vlan, mono_t now)
{
	if (g->vlan[vlan % VLAN_IDS] || !vlan_in_use(g, vlan, now))
		return GUARD_NOTHING;
	return GUARD_CHANGED | GUARD_URGENT;
}

unsigned guard_carry(struct guard *g, const struct vlan_set *carries, mono_t now)
{
	struct vlan_range r;
	unsigned at = 0;

	g->carries_known = carries != NULL;
	g->carries = carries ? *carries : (struct vlan_set){ 0 };
	for (unsigned i = g->n_used; i--;)
		if (!is_carried(g, g->used[i]))
			forget_vlan(g, i);
	while (carries && vlan_set_next(carries, &at, &r))
		for (unsigned id = r.first; id <= r.last; id++)
			vlan_in_use(g, (uint16_t)id, now);
	/* As before anything was known: untagged frames are for a LAN that may carry any. */
	if (!carries)
		vlan_in_use(g, 0, now);
	return GUARD_CHANGED | GUARD_URGENT;
}

static unsigned own_frame(struct guard *g, mono_t now)
{
	g->own_heard = now;
	if (g->local_loop)
		return GUARD_NOTHING;
	g->local_loop = true;
	return GUARD_LOOP_BEGINS;
}

unsigned guard_heard(struct guard *g, const struct guard_frame *f, mono_t now)
{
	struct guard_peer *p;
	struct guard_vlan *v;

	if (!g->enabled)
		return GUARD_NOTHING;
	g->n_heard++;
	if (f->node == g->self)
		return own_frame(g, now);
	p = peer_of(g, f->node);
	if (!is_fresh(p, f)) {
		g->n_replayed++;
		return GUARD_REPLAYED;
	}
	p->at = now;
	v = vlan_in_use(g, f->tag, now);
	return v ? heard_in(g, v, f, now) : GUARD_NOTHING;
}

unsigned guard_tick(struct guard *g, mono_t now)
{
	unsigned outcome = GUARD_NOTHING;

	if (!g->enabled || !g->lan)
		return GUARD_NOTHING;
	if (g->local_loop && !is_recent(g, g->own_heard, now)) {
		g->local_loop = false;
		outcome |= GUARD_LOOP_ENDS;
	}
	/* Others have given this node up: it begins anew. */
	if (!mono_is_never(g->ticked) && !is_recent(g, g->ticked, now))
		outcome |= guard_lan(g, g->lan, now);
	g->ticked = now;
	for (unsigned i = 0; i < g->n_used; i++) {
		struct guard_vlan *v = g->vlan[g->used[i]];

		outcome |= forget_silent(g, v, now);
		outcome |= settle(g, v, now);
	}
	g->turn_part += g->n_used;
	return outcome;
}

/* --- frames to send --- */

bool guard_next_due(struct guard *g, uint16_t *vlan)
{
	if (!g->n_used)
		g->turn_part = 0;
	if (g->turn_part < GUARD_TICKS)
		return false;
	g->turn_part -= GUARD_TICKS;
	g->turn = (uint16_t)((g->turn + 1) % g->n_used);
	*vlan = g->used[g->turn];
	return true;
}

bool guard_next_urgent(struct guard *g, unsigned *i, uint16_t *vlan)
{
	while (*i < g->n_used) {
		struct guard_vlan *v = g->vlan[g->used[(*i)++]];

		if (!v->urgent)
			continue;
		v->urgent = false;
		*vlan = v->id;
		return true;
	}
	return false;
}

void guard_fill(struct guard *g, uint16_t vlan, struct guard_frame *f)
{
	const struct guard_vlan *v = g->vlan[vlan % VLAN_IDS];
	enum guard_state state = guard_vlan_state(g, vlan);

	f->sequence = ++g->sequence;
	f->vlan = f->tag = vlan;
	f->flags = state == GUARD_LISTENING ? 0 : GUARD_READY;
	if (state == GUARD_CLEAR || state == GUARD_SHARED)
		f->flags |= GUARD_FORWARDS;
	for (unsigned i = 0; v && i < v->n_heard; i++)
		f->heard[i] = v->heard[i].node;
}

/* --- what came of it --- */

enum guard_state guard_vlan_state(const struct guard *g, uint16_t vlan)
{
	const struct guard_vlan *v = g->vlan[vlan % VLAN_IDS];

	if (!g->enabled)
		return GUARD_OFF;
	if (!g->lan)
		return GUARD_CLEAR;
	return v ? v->state : GUARD_LISTENING;
}

static bool any_in(const struct guard *g, enum guard_state state)
{
	for (unsigned i = 0; i < g->n_used; i++)
		if (g->vlan[g->used[i]]->state == state)
			return true;
	return false;
}

enum guard_state guard_state(const struct guard *g)
{
	static const enum guard_state by_weight[] = { GUARD_SHARED, GUARD_BLOCKED, GUARD_CLEAR,
						      GUARD_LISTENING };

	if (!g->enabled)
		return GUARD_OFF;
	/* A VLAN that is new listens while all others go on. */
	for (unsigned i = 0; g->lan && i < array_size(by_weight); i++)
		if (any_in(g, by_weight[i]))
			return by_weight[i];
	return GUARD_CLEAR;
}

node_id_t guard_other(const struct guard *g)
{
	enum guard_state state = guard_state(g);

	if (state != GUARD_SHARED && state != GUARD_BLOCKED)
		return NODE_ID_NONE;
	for (unsigned i = 0; i < g->n_used; i++) {
		const struct guard_vlan *v = g->vlan[g->used[i]];

		if (v->state == state)
			return v->heard[0].node;
	}
	return NODE_ID_NONE;
}

node_id_t guard_forwarder(const struct guard *g, uint16_t vlan)
{
	const struct guard_vlan *v = g->vlan[vlan % VLAN_IDS];
	enum guard_state state = guard_vlan_state(g, vlan);

	if (state != GUARD_BLOCKED && state != GUARD_LISTENING)
		return g->self;
	for (unsigned i = 0; v && i < v->n_heard; i++)
		if (v->heard[i].flags & GUARD_FORWARDS)
			return v->heard[i].node;
	return NODE_ID_NONE;
}
