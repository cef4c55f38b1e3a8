// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * State machine of the loop guard, see loop_guard.h. Pure; control thread. The state of a VLAN is a
 * function of the guards received within the last GUARD_SILENT_INTERVALS intervals.
 */
#include "daemon/guard/loop_guard.h"

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"
#include "daemon/guard/guard_parts.h"

/* --- one VLAN --- */

/* Notes that hosts are behind another node now. A new node without neighbors has moved no host. A
 * node after a stall has moved no host before another forwarder is known. */
static unsigned note_moved(struct guard *g, struct guard_vlan *v)
{
	bool begins = v->state == GUARD_SHARED || v->state == GUARD_CLEAR;

	if (v->reason == GUARD_BY_STALL || v->state == v->settled)
		return GUARD_NOTHING;
	if (v->settled != GUARD_LISTENING || v->state != GUARD_CLEAR) {
		vlan_set_add(&g->moved, v->id);
		if (begins && v->settled != GUARD_SHARED)
			vlan_set_add(&g->begun, v->id);
	}
	v->settled = v->state;
	vlan_set_add(&g->changed, v->id);
	return GUARD_CHANGED;
}

/* Derives the state of a VLAN from the guards. A guard reports a new state at once. */
static unsigned settle(struct guard *g, struct guard_vlan *v)
{
	enum guard_state state = guard_election(g, v, &v->reason);

	if (state == v->state)
		return note_moved(g, v);
	if (state == GUARD_BLOCKED)
		g->n_blocked++;
	v->state = state;
	v->since = g->since = g->now;
	v->urgent = true;
	vlan_set_add(&g->changed, v->id);
	note_moved(g, v);
	return GUARD_CHANGED | GUARD_URGENT;
}

static unsigned settle_all(struct guard *g)
{
	unsigned outcome = GUARD_NOTHING;

	for (unsigned i = 0; i < g->n_used; i++)
		outcome |= settle(g, g->vlan[g->used[i]]);
	return outcome;
}

static void listen_to(struct guard *g, struct guard_vlan *v)
{
	v->n_received = 0;
	v->state = v->settled = GUARD_LISTENING;
	v->reason = GUARD_BY_NOTHING;
	v->since = g->since = g->now;
	v->hello_sent = v->asked = MONO_NEVER;
	v->listen = mono_add_ms(g->effective, g->conf.interval_ms + GUARD_ROUND_TRIP_MS);
	v->urgent = true;
	vlan_set_add(&g->changed, v->id);
}

static bool is_carried(const struct guard *g, uint16_t id)
{
	return (!g->carries_known || vlan_set_has(&g->carries, id)) &&
	       segments_id(g->conf.segments, id) != SEGMENT_ID_NONE;
}

static struct guard_rank own_rank(const struct guard *g, uint16_t id)
{
	return guard_rank_of(g->conf.preference, g->self, segments_id(g->conf.segments, id));
}

/* NULL: the VLAN is not in use on the LAN. */
static struct guard_vlan *vlan_in_use(struct guard *g, uint16_t id)
{
	struct guard_vlan *v = g->vlan[id % VLAN_IDS];

	if (v || !is_carried(g, id))
		return v;
	v = g->vlan[id % VLAN_IDS] = x_new(struct guard_vlan);
	v->id = id % VLAN_IDS;
	v->rank = own_rank(g, v->id);
	v->used = g->now;
	g->used[g->n_used++] = v->id;
	listen_to(g, v);
	return v;
}

/* Notes that the node has no hosts in the VLAN any more. */
static void leave_vlan(struct guard *g, const struct guard_vlan *v)
{
	if (v->settled == GUARD_SHARED || v->settled == GUARD_CLEAR)
		vlan_set_add(&g->moved, v->id);
}

static void forget_vlan(struct guard *g, unsigned i)
{
	uint16_t id = g->used[i];

	leave_vlan(g, g->vlan[id]);
	g->used[i] = g->used[--g->n_used];
	x_free(g->vlan[id]);
	vlan_set_add(&g->changed, id);
}

/* The next guard is urgent: the removed node learns of the missing guards. */
static unsigned drop_received(struct guard *g, struct guard_vlan *v, unsigned i)
{
	guard_neighbor_remove(v, i);
	v->urgent = true;
	vlan_set_add(&g->changed, v->id);
	return GUARD_CHANGED | GUARD_URGENT;
}

static unsigned forget_silent(struct guard *g, struct guard_vlan *v)
{
	unsigned outcome = GUARD_NOTHING;

	for (unsigned i = v->n_received; i--;)
		if (!guard_neighbor_is_recent(g, &v->received[i]))
			outcome |= drop_received(g, v, i);
	return outcome;
}

/* Answers a new node at once, but at most once in an interval, or in a second if that is shorter.
 * Several nodes may appear alternately on a LAN, and an answer to each would be another storm. */
static unsigned send_hello(struct guard *g, struct guard_vlan *v)
{
	if (!mono_is_never(v->hello_sent) &&
	    mono_sub_ns(g->effective, v->hello_sent) < min_of(guard_interval_ns(g), NS_PER_S))
		return GUARD_NOTHING;
	v->hello_sent = g->effective;
	v->urgent = true;
	return GUARD_URGENT;
}

static bool lists_us(const struct guard *g, const struct guard_frame *f)
{
	uint32_t mark = guard_mark(g->self, g->incarnation);

	for (unsigned i = 0; i < GUARD_RECEIVED_MAX; i++)
		if (f->received[i] == mark)
			return true;
	return false;
}

static unsigned received_in(struct guard *g, struct guard_vlan *v, const struct guard_frame *f,
			    unsigned peer, bool in_session)
{
	unsigned outcome = GUARD_NOTHING, i = guard_neighbor_find(v, f->node);
	bool is_new = i == v->n_received;
	struct guard_neighbor h = { .node = f->node,
				    .segment = f->segment,
				    .flags = f->flags,
				    .hears_us = lists_us(g, f),
				    .in_session = in_session,
				    .peer = (uint8_t)peer,
				    .rank = guard_rank_of(f->preference, f->node, f->segment),
				    .incarnation = f->incarnation,
				    .sequence = f->sequence,
				    .at = g->effective };
	struct guard_neighbor before = is_new ? (struct guard_neighbor){ 0 } : v->received[i];

	if (!is_new && guard_neighbor_is_overtaken(&before, f)) {
		v->received[i].at = g->effective;
		return GUARD_NOTHING;
	}
	h.confirmed = is_new || h.hears_us ? g->effective : before.confirmed;
	if (!is_new)
		guard_neighbor_remove(v, i);
	if (!guard_neighbor_insert(v, &h))
		return GUARD_NOTHING;
	if (is_new || before.segment != f->segment) {
		vlan_set_add(&g->changed, v->id);
		outcome |= GUARD_CHANGED;
	}
	/* A node that does not list this node any more may listen for less than the interval. */
	if (is_new || before.incarnation != f->incarnation || (before.hears_us && !h.hears_us))
		outcome |= send_hello(g, v);
	return outcome | settle(g, v);
}

/* --- all VLANs --- */

void guard_init(struct guard *g, node_id_t self, const struct guard_conf *c, mono_t now)
{
	*g = (struct guard){
		.conf = *c,
		.self = self,
		.now = now,
		.effective = now,
		.since = now,
	};
	vlan_in_use(g, 0);
}

void guard_free(struct guard *g)
{
	while (g->n_used)
		forget_vlan(g, 0);
	x_free(g->reached);
	g->n_reached = 0;
}

static unsigned restart(struct guard *g)
{
	g->due_ns = 0;
	g->unsure = MONO_NEVER;
	g->since = g->now;
	for (unsigned i = 0; i < g->n_used; i++)
		listen_to(g, g->vlan[g->used[i]]);
	return GUARD_CHANGED | GUARD_URGENT;
}

/* Starts every step. After a stall, other nodes may have removed this node, so the guard first
 * checks whether another node forwards. */
static unsigned go_on(struct guard *g, mono_t now)
{
	int64_t passed_ns = max_of(mono_sub_ns(now, g->now), (int64_t)0);
	int64_t step_ns = min_of(passed_ns, GUARD_STEP_MS * NS_PER_MS);

	g->now = now;
	if (!g->input_stalled)
		g->effective = mono_add_ns(g->effective, step_ns);
	if (!g->conf.enabled || !g->lan)
		return GUARD_NOTHING;
	g->due_ns += step_ns * g->n_used;
	if (passed_ns < GUARD_STILL_MS * NS_PER_MS)
		return GUARD_NOTHING;
	g->n_stalls++;
	if (passed_ns > GUARD_SILENT_INTERVALS * guard_interval_ns(g))
		return restart(g);
	g->unsure = mono_add_ms(g->effective, GUARD_UNSURE_MS);
	return settle_all(g);
}

/* Forgets a VLAN without a segment. An urgent guard reports a new name, preference or interval to
 * the other nodes. */
static void reconfigure_vlan(struct guard *g, unsigned i, const struct guard_conf *old)
{
	struct guard_vlan *v = g->vlan[g->used[i]];
	struct guard_rank rank = own_rank(g, v->id);

	if (!is_carried(g, v->id)) {
		forget_vlan(g, i);
		return;
	}
	v->urgent |= v->rank.preference != rank.preference || v->rank.mix != rank.mix ||
		     old->interval_ms != g->conf.interval_ms;
	v->rank = rank;
	/* With the new map, the names of other nodes may denote another VLAN here, or none. */
	if (old->segments != g->conf.segments)
		vlan_set_add(&g->changed, v->id);
}

static unsigned end_loop(struct guard *g)
{
	bool was = g->local_loop;

	g->local_loop = false;
	g->own_received_at = MONO_NEVER;
	return was ? GUARD_LOOP_ENDS : GUARD_NOTHING;
}

unsigned guard_configure(struct guard *g, const struct guard_conf *c, mono_t now)
{
	struct guard_conf old = g->conf;
	unsigned outcome = go_on(g, now);

	g->conf = *c;
	for (unsigned i = g->n_used; i--;)
		reconfigure_vlan(g, i, &old);
	if (old.enabled == c->enabled)
		return outcome | guard_tick(g, now) | GUARD_URGENT;
	return outcome | end_loop(g) | restart(g);
}

unsigned guard_lan(struct guard *g, bool lan, mono_t now)
{
	unsigned outcome = lan ? GUARD_NOTHING : end_loop(g);

	for (unsigned i = 0; g->lan && !lan && i < g->n_used; i++)
		leave_vlan(g, g->vlan[g->used[i]]);
	g->lan = lan;
	g->now = now;
	return outcome | restart(g);
}

unsigned guard_use(struct guard *g, uint16_t vlan, mono_t now)
{
	unsigned outcome = go_on(g, now);
	bool is_new = !g->vlan[vlan % VLAN_IDS];
	struct guard_vlan *v = vlan_in_use(g, vlan);

	if (v)
		v->used = now;
	return v && is_new ? outcome | GUARD_CHANGED | GUARD_URGENT : outcome;
}

unsigned guard_disuse(struct guard *g, uint16_t vlan, mono_t now)
{
	struct guard_vlan *v = g->vlan[vlan % VLAN_IDS];
	unsigned outcome = go_on(g, now), i = 0;

	/* A node that does not forward learns few hosts, and may have to forward at once. */
	if (v && (v->n_received || g->carries_known || !g->conf.enabled))
		v->used = now;
	if (!v || !v->id || mono_is_recent(v->used, GUARD_UNUSED_MS, now))
		return outcome;
	while (g->used[i] != v->id)
		i++;
	v->settled = GUARD_LISTENING; /* without hosts, no host has moved */
	forget_vlan(g, i);
	return outcome | GUARD_CHANGED;
}

unsigned guard_carry(struct guard *g, const struct vlan_set *carries, mono_t now)
{
	unsigned at = 0, outcome = go_on(g, now);
	struct id_range r;

	g->carries_known = carries != NULL;
	g->carries = carries ? *carries : (struct vlan_set){ 0 };
	for (unsigned i = g->n_used; i--;)
		if (!is_carried(g, g->used[i]))
			forget_vlan(g, i);
	while (carries && vlan_set_next(carries, &at, &r))
		for (unsigned vlan = r.first; vlan <= r.last; vlan++)
			vlan_in_use(g, (uint16_t)vlan);
	if (!carries)
		vlan_in_use(g, 0);
	return outcome | GUARD_CHANGED | GUARD_URGENT;
}

unsigned guard_reach(struct guard *g, const node_id_t *node, unsigned n, mono_t now)
{
	unsigned outcome = go_on(g, now);

	free(g->reached);
	g->reached = n ? x_calloc(n, sizeof(*node)) : NULL;
	if (n)
		memcpy(g->reached, node, n * sizeof(*node));
	g->n_reached = n;
	return outcome | settle_all(g);
}

unsigned guard_gone(struct guard *g, node_id_t node, mono_t now)
{
	unsigned outcome = go_on(g, now);

	for (unsigned i = 0; i < g->n_used; i++) {
		struct guard_vlan *v = g->vlan[g->used[i]];
		unsigned at = guard_neighbor_find(v, node);

		if (at == v->n_received)
			continue;
		outcome |= drop_received(g, v, at);
		outcome |= settle(g, v);
	}
	return outcome;
}

unsigned guard_hello_all(struct guard *g, mono_t now)
{
	unsigned outcome = go_on(g, now);

	for (unsigned i = 0; i < g->n_used; i++)
		g->vlan[g->used[i]]->urgent = true;
	return outcome | GUARD_URGENT;
}

/* A host of the LAN forged a frame of the local node. Other nodes may now expect a higher number,
 * so the next frames continue above it. Other nodes refuse a number far ahead. Such a number
 * changes nothing here, or one frame would use up all numbers. */
static unsigned forged_frame(struct guard *g, uint64_t sequence)
{
	g->n_forged++;
	if (sequence - g->sequence <= GUARD_STEP)
		g->sequence = sequence;
	return GUARD_FORGED;
}

static unsigned own_frame(struct guard *g, const struct guard_frame *f)
{
	bool was = g->local_loop;

	if (f->sequence > g->sequence)
		return forged_frame(g, f->sequence);
	/* From a queue. Ticks, which end a loop, do nothing without a LAN. */
	if (!g->lan)
		return GUARD_NOTHING;
	g->own_received_at = g->effective;
	g->local_loop = true;
	return was ? GUARD_NOTHING : GUARD_LOOP_BEGINS;
}

/* `shown`: the frame proves the presence of the sender on the LAN. */
static void confirm(struct guard *g, struct guard_peer *p, bool shown)
{
	if (shown)
		p->unconfirmed = MONO_NEVER;
	else if (mono_is_never(p->unconfirmed))
		p->unconfirmed = g->effective;
}

/* Handles a frame of another node with a permitted number of the session. */
static unsigned other_frame(struct guard *g, const struct guard_frame *f, bool in_session)
{
	unsigned outcome = GUARD_NOTHING, place = guard_peer_of(g->peer, f->node);
	struct guard_peer *p = &g->peer[place];
	struct guard_vlan *v;

	if (!guard_peer_takes(p, f, in_session, guard_is_recent(g, p->at))) {
		g->n_replayed++;
		return GUARD_REPLAYED;
	}
	p->at = g->effective;
	confirm(g, p, in_session || lists_us(g, f));
	if (guard_is_unconfirmed(g, p)) {
		g->n_unconfirmed++;
		outcome |= GUARD_UNCONFIRMED;
	}
	v = vlan_in_use(g, f->tag);
	if (v)
		outcome |= received_in(g, v, f, place, in_session);
	if (!p->silent)
		return outcome;
	/* The node may still forward VLANs. */
	p->silent = false;
	return outcome | settle_all(g);
}

unsigned guard_receive(struct guard *g, const struct guard_frame *f, const struct guard_bounds *b,
		       mono_t now)
{
	unsigned outcome;

	if (!g->conf.enabled)
		return GUARD_NOTHING;
	outcome = go_on(g, now);
	g->n_received++;
	if (f->node == g->self)
		return outcome | own_frame(g, f);
	if (guard_bounds_admit(b, f->incarnation, f->sequence))
		return outcome | other_frame(g, f, b->in_session);
	g->n_unconfirmed++;
	return outcome | GUARD_UNCONFIRMED;
}

unsigned guard_tick(struct guard *g, mono_t now)
{
	unsigned outcome = go_on(g, now);

	if (!g->conf.enabled || !g->lan)
		return GUARD_NOTHING;
	if (!guard_is_recent(g, g->own_received_at))
		outcome |= end_loop(g);
	for (unsigned i = 0; i < g->n_used; i++)
		outcome |= forget_silent(g, g->vlan[g->used[i]]);
	guard_count_shared(g);
	guard_find_silent(g);
	return outcome | settle_all(g);
}

/* The tick is half as long while another node needs a guard each GUARD_FAST_MS. */
unsigned guard_others(struct guard *g, node_id_t *out, unsigned max)
{
	unsigned n = 0;

	guard_count_shared(g);
	for (unsigned i = 0; i < GUARD_PEERS && n < max; i++)
		if (g->peer[i].n_shared)
			out[n++] = g->peer[i].node;
	qsort(out, n, sizeof(*out), guard_compare_ids);
	return n;
}
