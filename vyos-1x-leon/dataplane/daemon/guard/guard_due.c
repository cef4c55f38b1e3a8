// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Guard frames to send: VLANs of the regular turn, urgent VLANs, VLANs of a fast turn, and the
 * contents of a frame. Part of loop_guard.h. Pure; control thread.
 */
#include "base/defs.h"
#include "daemon/guard/guard_parts.h"

bool guard_next_due(struct guard *g, uint16_t *vlan)
{
	if (!g->n_used)
		g->due_ns = 0;
	if (g->due_ns < guard_interval_ns(g))
		return false;
	g->due_ns -= guard_interval_ns(g);
	g->turn = (uint16_t)((g->turn + 1) % g->n_used);
	*vlan = g->used[g->turn];
	return true;
}

/* An apparent move of a host, or a returned flooded frame (fwd/lan/flood_dedup.c): two LANs may
 * have been connected somewhere behind the switches. Without these guards, the connection would be
 * detected an interval later. */
unsigned guard_probe(struct guard *g, uint16_t vlan, mono_t now)
{
	struct guard_vlan *v = g->vlan[vlan % VLAN_IDS];

	if (!v || mono_is_recent(v->asked, GUARD_PROBE_MS, now) ||
	    mono_is_recent(g->asked, GUARD_ALL_PROBE_MS, now))
		return GUARD_NOTHING;
	g->asked = v->asked = now;
	v->urgent = true;
	return GUARD_URGENT;
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

/* The VLANs shared with a node take turns, so a broken VLAN does not silence the node. VLANs with a
 * guard of the node within the last interval come first. */
static bool next_shared(struct guard *g, struct guard_peer *p, bool recent, uint16_t *vlan)
{
	int64_t limit_ns = guard_interval_ns(g) + guard_interval_ns(g) / 2;

	for (unsigned n = 1; n <= g->n_used; n++) {
		unsigned at = (p->turn + n) % g->n_used;
		const struct guard_vlan *v = g->vlan[g->used[at]];
		unsigned i = guard_neighbor_find(v, p->node);

		if (i == v->n_received ||
		    (recent && mono_sub_ns(g->effective, v->received[i].at) > limit_ns))
			continue;
		p->turn = at;
		*vlan = v->id;
		return true;
	}
	return false;
}

bool guard_next_fast(struct guard *g, unsigned *i, uint16_t *vlan)
{
	/* A quarter less than the interval, because a tick is not exact. */
	int64_t due_ns = (GUARD_FAST_MS - GUARD_FAST_MS / 4) * NS_PER_MS;

	while (*i < GUARD_PEERS) {
		struct guard_peer *p = &g->peer[(*i)++];

		if (!p->n_shared || mono_sub_ns(g->now, p->notified) < due_ns)
			continue;
		if (next_shared(g, p, true, vlan) || next_shared(g, p, false, vlan))
			return true;
	}
	return false;
}

void guard_fill(struct guard *g, uint16_t vlan, struct guard_frame *f)
{
	const struct guard_vlan *v = g->vlan[vlan % VLAN_IDS];
	enum guard_state state = guard_vlan_state(g, vlan);

	f->sequence = ++g->sequence;
	f->tag = vlan;
	f->segment = segments_id(g->conf.segments, vlan);
	f->preference = g->conf.preference;
	f->flags = guard_interval_flags(g->conf.interval_ms);
	if (v && state != GUARD_LISTENING && guard_reaches_others(g, v))
		f->flags |= GUARD_READY;
	if (state == GUARD_CLEAR || state == GUARD_SHARED)
		f->flags |= GUARD_FORWARDS;
	for (unsigned i = 0; v && i < v->n_received; i++) {
		struct guard_peer *p = guard_neighbor_peer(g, &v->received[i]);

		f->received[i] = guard_mark(v->received[i].node, v->received[i].incarnation);
		if (p)
			p->notified = g->now;
	}
}

uint32_t guard_tick_ms(const struct guard *g)
{
	uint32_t most_ms = guard_peer_shares_lan(g->peer) ? GUARD_FAST_MS / 2 : GUARD_FAST_MS;

	return min_of(g->conf.interval_ms / GUARD_TICKS, most_ms);
}

/* A later step queries the other nodes first, or starts to listen: see go_on(). */
mono_t guard_valid_until(const struct guard *g)
{
	int64_t silent_ns = GUARD_SILENT_INTERVALS * guard_interval_ns(g);

	if (!g->conf.enabled || !g->lan)
		return MONO_NEVER;
	return mono_add_ns(g->now, guard_peer_shares_lan(g->peer)
					   ? min_of(GUARD_STILL_MS * NS_PER_MS, silent_ns)
					   : silent_ns);
}
