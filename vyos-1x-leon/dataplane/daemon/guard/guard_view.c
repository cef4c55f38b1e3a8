// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Results of the state machine of the loop guard (loop_guard.h), for the snapshot of the workers,
 * for events and for answers, and their names. Changes nothing. Pure; control thread.
 */
#include "base/defs.h"
#include "daemon/guard/loop_guard.h"

bool guard_is_silent(const struct guard *g, const struct guard_neighbor *h)
{
	const struct guard_peer *p = &g->peer[h->peer];

	return p->node == h->node && p->silent;
}

enum guard_state guard_vlan_state(const struct guard *g, uint16_t vlan)
{
	const struct guard_vlan *v = g->vlan[vlan % VLAN_IDS];

	if (!g->conf.enabled)
		return GUARD_OFF;
	if (!g->lan)
		return GUARD_CLEAR;
	return v ? v->state : GUARD_LISTENING;
}

enum guard_reason guard_vlan_reason(const struct guard *g, uint16_t vlan)
{
	const struct guard_vlan *v = g->vlan[vlan % VLAN_IDS];

	return g->conf.enabled && g->lan && v ? v->reason : GUARD_BY_NOTHING;
}

unsigned guard_count(const struct guard *g, enum guard_state state)
{
	unsigned n = 0;

	for (unsigned i = 0; g->conf.enabled && g->lan && i < g->n_used; i++)
		n += g->vlan[g->used[i]]->state == state;
	return n;
}

enum guard_state guard_state(const struct guard *g)
{
	static const enum guard_state by_weight[] = { GUARD_SHARED, GUARD_BLOCKED, GUARD_CLEAR,
						      GUARD_LISTENING };

	if (!g->conf.enabled)
		return GUARD_OFF;
	/* A new VLAN listens while all other VLANs forward, so this state has the lowest weight. */
	for (unsigned i = 0; g->lan && i < array_size(by_weight); i++)
		if (guard_count(g, by_weight[i]))
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
			return v->received[0].node;
	}
	return NODE_ID_NONE;
}

node_id_t guard_forwarder(const struct guard *g, uint16_t vlan)
{
	const struct guard_vlan *v = g->vlan[vlan % VLAN_IDS];
	enum guard_state state = guard_vlan_state(g, vlan);

	if (state != GUARD_BLOCKED && state != GUARD_LISTENING)
		return g->self;
	for (unsigned i = 0; v && i < v->n_received; i++)
		if ((v->received[i].flags & GUARD_FORWARDS) && !guard_is_silent(g, &v->received[i]))
			return v->received[i].node;
	return NODE_ID_NONE;
}

const char *guard_state_name(enum guard_state s)
{
	static const char *const name[] = {
		[GUARD_OFF] = "off",	   [GUARD_LISTENING] = "listening", [GUARD_CLEAR] = "clear",
		[GUARD_SHARED] = "shared", [GUARD_BLOCKED] = "blocked",
	};

	return name[s];
}

const char *guard_reason_name(enum guard_reason r)
{
	static const char *const name[] = {
		[GUARD_BY_NOTHING] = "",	[GUARD_BY_PREFERENCE] = "preference",
		[GUARD_BY_RANK] = "rank",	[GUARD_BY_HOLDING] = "holding",
		[GUARD_BY_NO_PATH] = "no-path", [GUARD_BY_STALL] = "stall",
		[GUARD_BY_SILENCE] = "silence",
	};

	return name[r];
}
