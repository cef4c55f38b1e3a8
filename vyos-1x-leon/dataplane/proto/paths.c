// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Paths: runs Dijkstra and the rules of state/choice.h over the latency database, heeds notices of
 * relays, and derives from the paths which nodes are reachable. One run per loop iteration at most;
 * runs that no failure asks for keep a distance. Control thread. Protocol 4.9, 6.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/core.h"

#define NOTICE_MS	 5000
#define NOTICE_EVERY_MS	 100 /* to one source */
#define RUN_EVERY_MS	 100
#define FAILURES_MS	 5
#define TELL_EVERY_MS	 20
#define LASTING_EVERY_MS 2000
/* A look for who is not heard that comes so late says more about this machine than about others. */
#define LATE_MS 2500

/* --- when --- */

/* A failure. Many at once (a site of many nodes is cut off) are told by many rows: one run for those
 * of a few milliseconds. */
void route_now(struct overlay *o)
{
	mono_t at = mono_add_ms(o->routed, FAILURES_MS), now = overlay_now(o);

	alarm_sooner(&o->routing, mono_before(at, now) ? now : at);
}

/* A run costs time in proportion to the square of the members, so the distance grows like that. */
void route_later(struct overlay *o)
{
	int64_t ms = overlay_stretch(o, overlay_stretch(o, RUN_EVERY_MS));
	mono_t at = mono_add_ms(o->routed, ms), now = overlay_now(o);

	alarm_sooner(&o->routing, mono_before(at, now) ? now : at);
}

/* A snapshot costs time in proportion to the members: what is not urgent waits for company. */
void route_changed(struct overlay *o)
{
	mono_t at = mono_add_ms(o->told, overlay_stretch(o, TELL_EVERY_MS)), now = overlay_now(o);

	alarm_sooner(&o->changed, mono_before(at, now) ? now : at);
}

void route_changed_now(struct overlay *o)
{
	alarm_sooner(&o->changed, overlay_now(o));
}

void route_tell(void *arg, mono_t now)
{
	struct overlay *o = arg;

	o->changed.at = MONO_NEVER;
	o->told = now;
	/* A run that is due as well may belong to the same change: one snapshot for both. */
	if (timer_is_set(o->routing.timer) && !mono_before(now, o->routing.at)) {
		alarm_set(&o->routing, MONO_NEVER);
		route_run(o, now);
		alarm_set(&o->changed, MONO_NEVER);
	}
	if (o->ops.routes_changed)
		o->ops.routes_changed(o->arg);
}

/* --- notices --- */

static bool notice_holds(const struct overlay *o, const struct notice *n, mono_t now)
{
	if (!mono_before(now, n->until))
		return false;
	return latdb_row_seq(o->lat, n->from) <= n->row_seq ||
	       !latdb_get(o->lat, n->from, n->to).up;
}

/* Frees those that are over; returns when the next one ends. */
static mono_t sweep_notices(struct overlay *o, mono_t now)
{
	mono_t next = MONO_NEVER;

	for (unsigned i = 0; i < NOTICES_MAX; i++) {
		struct notice *n = &o->notice[i];

		if (mono_is_never(n->until))
			continue;
		if (notice_holds(o, n, now))
			next = earlier(next, n->until);
		else
			*n = (struct notice){ 0 };
	}
	return next;
}

static bool link_broken(void *arg, uint16_t from, uint16_t to)
{
	const struct overlay *o = arg;

	for (unsigned i = 0; i < NOTICES_MAX; i++)
		if (o->notice[i].from == from && o->notice[i].to == to &&
		    !mono_is_never(o->notice[i].until))
			return true;
	return false;
}

/* Does a path in use go from -> to behind its first hop? Only then is the notice any of our
 * business; a member cannot talk us out of links that it does not relay for us. */
static bool relays_for_us(const struct overlay *o, uint16_t from, uint16_t to)
{
	for (uint32_t i = 0; i < o->cap_slots; i++) {
		const struct path *path = o->by_slot[i] ? &o->by_slot[i]->choice.path : NULL;

		for (unsigned k = 0; path && k + 1 < path->n_hops; k++)
			if (path->hop[k] == from && path->hop[k + 1] == to)
				return true;
	}
	return false;
}

void route_notice(struct overlay *o, struct peer *p, const struct msg_notice *m)
{
	const struct node *next = nodedb_find(o->nodes, m->next);
	struct notice *free_one = NULL;

	if (!next || next->slot == SLOT_SELF || !relays_for_us(o, p->slot, next->slot))
		return;
	sweep_notices(o, overlay_now(o));
	for (unsigned i = 0; i < NOTICES_MAX; i++) {
		struct notice *n = &o->notice[i];

		if (mono_is_never(n->until))
			free_one = n;
		else if (n->from == p->slot && n->to == next->slot)
			return;
	}
	if (!free_one)
		return;
	*free_one = (struct notice){
		.from = p->slot,
		.to = next->slot,
		.row_seq = latdb_row_seq(o->lat, p->slot),
		.until = mono_add_ms(overlay_now(o), NOTICE_MS),
	};
	overlay_emit(o, EV_NOTICE, p->id, m->next, 0, NULL);
	route_now(o);
}

void overlay_cannot_forward(struct overlay *o, node_id_t source, node_id_t next,
			    node_id_t destination)
{
	struct peer *p = peer_find(o, source);
	struct msg m = { .type = MSG_NOTICE };
	mono_t now = overlay_now(o);

	if (!p || !p->cur || o->leaving || next == NODE_ID_NONE || destination == NODE_ID_NONE)
		return;
	if (!mono_is_never(p->notice_at) && mono_before(now, p->notice_at))
		return;
	p->notice_at = mono_add_ms(now, NOTICE_EVERY_MS);
	m.notice.next = next;
	m.notice.destination = destination;
	peer_send(o, p, &m);
}

void route_forget(struct overlay *o, uint16_t slot)
{
	loss_forget(o, slot);
	for (unsigned i = 0; i < NOTICES_MAX; i++)
		if (o->notice[i].from == slot || o->notice[i].to == slot)
			o->notice[i] = (struct notice){ 0 };
}

/* --- who is heard --- */

void route_upkeep(struct overlay *o, mono_t now)
{
	bool late = mono_sub_ms(now, o->listened) > LATE_MS, news = false;

	o->listened = now;
	for (uint32_t i = 0; i < o->cap_slots && !late; i++) {
		struct peer *p = o->by_slot[i];

		if (!p || p->unheard || peer_is_alive(o, p))
			continue;
		p->unheard = true;
		news = true;
	}
	if (news)
		route_now(o);
	for (uint32_t i = 0; i < o->cap_slots; i++)
		if (o->by_slot[i] && loss_path_expire(o, o->by_slot[i]))
			route_later(o);
}

static bool leads_through(const struct path *path, uint16_t slot)
{
	for (unsigned i = 0; i < path->n_hops; i++)
		if (path->hop[i] == slot)
			return true;
	return false;
}

bool route_hearsay(struct overlay *o, const struct peer *p, struct via *v)
{
	struct path_params pp = overlay_path_params(o);
	struct path best = { .cost_us = COST_INFINITE };

	for (uint16_t i = SLOT_SELF + 1; i < nodedb_slots(o->nodes); i++) {
		const struct peer *last = peer_at(o, i);
		struct lat_entry e = latdb_get(o->lat, i, p->slot);
		struct path path = last ? last->choice.path : best;

		/* Any path in use to somebody who claims a link to it. */
		if (path.n_hops == 0 || path.n_hops > pp.maximum_relays || pp.no_relay[i] ||
		    !e.up || path.cost_us >= best.cost_us || leads_through(&path, p->slot))
			continue;
		path.hop[path.n_hops++] = p->slot;
		best = path;
	}
	return best.n_hops && via_path(o, &best, v);
}

/* --- the run --- */

struct path_params overlay_path_params(struct overlay *o)
{
	uint16_t n = nodedb_slots(o->nodes);
	bool notices = false;

	if (n > o->cap_best) {
		o->cap_best = (n / 16u + 1) * 16;
		o->no_relay = x_realloc(o->no_relay, o->cap_best, sizeof(bool));
		o->unheard = x_realloc(o->unheard, o->cap_best, sizeof(bool));
		o->distrusted = x_realloc(o->distrusted, o->cap_best, sizeof(bool));
		o->best = x_realloc(o->best, o->cap_best, sizeof(struct path));
		o->best_apart = x_realloc(o->best_apart, o->cap_best, sizeof(struct path));
		o->lasting = x_realloc(o->lasting, o->cap_best, sizeof(struct path));
	}
	for (uint16_t i = 0; i < n; i++) {
		const struct node *node = nodedb_at(o->nodes, i);

		o->no_relay[i] = !node || node->state == NODE_LEFT ||
				 (node->rec.flags & RECORD_TRANSIT_DISABLED);
		o->unheard[i] = !peer_at(o, i) || peer_at(o, i)->unheard;
	}
	for (unsigned i = 0; i < NOTICES_MAX && !notices; i++)
		notices = !mono_is_never(o->notice[i].until);
	return (struct path_params){
		.maximum_relays = min_of(o->conf->maximum_relays, LEON_HOPS_MAX - 1u),
		.relay_cost_us = o->conf->relay_cost_us,
		.no_relay = o->no_relay,
		.unheard = o->unheard,
		.link_broken = notices ? link_broken : NULL,
		.arg = o,
	};
}

static void note_back(struct overlay *o, const struct node *n)
{
	struct peer *p = peer_at(o, n->slot);

	if (p)
		p->purged = false;
}

static void update_state(struct overlay *o, struct node *n, bool reachable, mono_t now)
{
	if (reachable == (n->state == NODE_REACHABLE))
		return;
	if (reachable) {
		nodedb_set_state(o->nodes, n, NODE_REACHABLE, now);
		note_back(o, n);
		overlay_emit(o, EV_REACHABLE, n->id, NODE_ID_NONE, 0, NULL);
	} else {
		/* What hangs on it stays for a moment, see member_upkeep(). */
		nodedb_set_state(o->nodes, n, NODE_UNREACHABLE, now);
		overlay_emit(o, EV_UNREACHABLE, n->id, NODE_ID_NONE, 0, NULL);
	}
	route_changed(o);
}

/* Relays that lose data for this very node are gone round, as far as there is a way round. */
static void avoid_distrusted(struct overlay *o, uint16_t slot, const struct path_params *pp)
{
	const struct peer *p = peer_at(o, slot);
	uint16_t n = nodedb_slots(o->nodes);
	struct path_params apart = *pp;

	if (!loss_is_distrusting(o, p))
		return;
	memcpy(o->distrusted, pp->no_relay, n * sizeof(bool));
	loss_mark_relays(o, p, o->distrusted);
	apart.no_relay = o->distrusted;
	path_compute(o->lat, &apart, SLOT_SELF, n, o->best_apart);
	if (o->best_apart[slot].n_hops)
		o->best[slot] = o->best_apart[slot];
	else
		loss_weigh(o, p, &o->best[slot]);
}

/* Returns when a hold-down that keeps a better path waiting ends. */
static mono_t choose(struct overlay *o, struct node *n, struct peer *p,
		     const struct path_params *pp, mono_t now)
{
	const struct choice_params cp = {
		.threshold_percent = o->conf->threshold_percent,
		.threshold_min_us = o->conf->threshold_min_us,
		.noise_percent = o->conf->noise_percent,
		.lasting_percent = o->conf->lasting_percent,
		.hold_time_ms = o->conf->hold_time_ms,
	};
	struct path direct = { .n_hops = 1, .hop = { n->slot } };
	struct choice *c = &p->choice;
	uint16_t mtu = c->path.mtu;

	path_evaluate(o->lat, pp, SLOT_SELF, &direct);
	if (c->path.n_hops)
		path_evaluate(o->lat, pp, SLOT_SELF, &c->path);
	loss_weigh(o, p, &c->path);
	avoid_distrusted(o, n->slot, pp);
	/* A relay that is distrusted for this node may be on the one that lasts. */
	c->lasting = n->slot < o->n_lasting && !loss_is_distrusting(o, p) ? o->lasting[n->slot]
									  : o->best[n->slot];
	path_evaluate(o->lat, pp, SLOT_SELF, &c->lasting);
	if (choice_run(c, &o->best[n->slot], &direct, &cp, now)) {
		overlay_emit(o, EV_PATH, n->id, NODE_ID_NONE, c->path.n_hops,
			     choice_reason_name(c->reason));
		if (c->reason == CHOICE_FAILOVER)
			route_changed_now(o);
		else
			route_changed(o);
	} else if (c->path.mtu != mtu) {
		route_changed(o);
	}
	update_state(o, n, c->path.n_hops > 0, now);
	along_look(o, p);
	return c->reason == CHOICE_HOLD_DOWN ? c->hold_until : MONO_NEVER;
}

/* What lasts changes slowly: its paths are computed anew at this distance, not in each run. */
static void run_lasting(struct overlay *o, struct path_params *pp, uint16_t n_slots, mono_t now)
{
	int64_t ms = overlay_stretch(o, LASTING_EVERY_MS);

	if (o->n_lasting == n_slots && mono_sub_ms(now, o->lasting_at) < ms)
		return;
	pp->by_lasting = true;
	path_compute(o->lat, pp, SLOT_SELF, n_slots, o->lasting);
	pp->by_lasting = false;
	o->lasting_at = now;
	o->n_lasting = n_slots;
}

void route_run(void *arg, mono_t now)
{
	struct overlay *o = arg;
	mono_t started = overlay_clock(o), next;
	uint16_t n_slots = nodedb_slots(o->nodes);
	struct path_params pp;
	int64_t took_ns;

	o->routing.at = MONO_NEVER;
	o->routed = now;
	next = sweep_notices(o, now);
	pp = overlay_path_params(o);
	path_compute(o->lat, &pp, SLOT_SELF, n_slots, o->best);
	run_lasting(o, &pp, n_slots, now);
	for (uint16_t i = SLOT_SELF + 1; i < n_slots; i++) {
		struct node *n = nodedb_at(o->nodes, i);
		struct peer *p = peer_at(o, i);

		if (n && p && n->state != NODE_LEFT)
			next = earlier(next, choose(o, n, p, &pp, now));
	}
	o->count.path_runs++;
	took_ns = mono_sub_ns(overlay_clock(o), started);
	if (took_ns > 0)
		o->count.path_run_ns_max = max_of(o->count.path_run_ns_max, (uint64_t)took_ns);
	if (!mono_is_never(next))
		alarm_sooner(&o->routing, next);
}

void route_free(struct overlay *o)
{
	free(o->no_relay);
	free(o->unheard);
	free(o->distrusted);
	free(o->best);
	free(o->best_apart);
	free(o->lasting);
}
