// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs Dijkstra and the rules of state/latency/choice.h over the latency database. Accepts path
 * errors of relays (topology.c keeps them), derives the reachable nodes, requests snapshots. At
 * most one run per loop iteration; runs without a failure keep a minimum interval (schedule.c).
 * Control thread. Protocol 4.9, 6.
 */
#include "proto/core.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/measure/measure.h"
#include "proto/overlay.h"
#include "proto/view.h"

#define NOTICE_EVERY_MS	   100 /* minimum interval per source */
#define LONG_TERM_EVERY_MS 2000
/* If the check for silent peers runs this late, this machine was suspended and missed messages.
 * Then no peer is marked. */
#define LATE_MS 2500

/* Results of a run, indexed by slot. */
struct paths_state {
	bool *no_relay;	      /* excluded relays for one destination */
	bool *no_relay_apart; /* excluded relays of best_apart */
	bool apart_known;     /* best_apart is of this run */
	struct path *best, *best_apart;
	uint32_t cap;
	struct path *long_term; /* best long-term paths, computed at long_term_at */
	mono_t long_term_at;
	uint16_t n_long_term;
	mono_t listened; /* last check for unheard nodes */
};

void paths_init(struct overlay *o)
{
	o->paths = x_new(struct paths_state);
}

void paths_snapshot(void *arg, mono_t now)
{
	struct overlay *o = arg;

	o->snapshot.at = MONO_NEVER;
	o->done.snapshot = now;
	/* A pending run may belong to the same change, so one snapshot serves both. */
	if (timer_is_set(o->run.timer) && !mono_before(now, o->run.at)) {
		paths_run(o, now);
		alarm_set(&o->snapshot, MONO_NEVER);
	}
	if (o->ops.snapshot_changed)
		o->ops.snapshot_changed(o->arg);
}

/* --- path errors --- */

static bool goes_over(const struct path *path, uint16_t from, uint16_t to)
{
	for (unsigned k = 0; k + 1 < path->n_hops; k++)
		if (path->hop[k] == from && path->hop[k + 1] == to)
			return true;
	return false;
}

/* A path error counts only if a path in use contains the link from -> to behind its first hop. A
 * member can invalidate only links that the member relays for us. */
static bool relays_for_us(const struct overlay *o, uint16_t from, uint16_t to)
{
	for (const struct peer *p = NULL; (p = peer_next(o, p));)
		if (goes_over(&p->choice.path, from, to) ||
		    goes_over(&p->pair.way.first, from, to) ||
		    goes_over(&p->pair.way.path, from, to))
			return true;
	return false;
}

void paths_notice(struct overlay *o, struct peer *p, const struct msg_notice *m)
{
	const struct node *next = nodedb_find(o->nodes, m->next);

	if (!next || next->slot == SLOT_SELF || !relays_for_us(o, p->slot, next->slot) ||
	    !topology_link_broken(o, p->slot, next->slot))
		return;
	overlay_emit(o, EV_NOTICE, p->id, m->next, 0, NULL);
	schedule_paths_urgent(o);
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

void paths_forget(struct overlay *o, uint16_t slot)
{
	loss_forget(o, slot);
	topology_forget(o, slot);
}

/* --- unheard nodes --- */

void paths_periodic(struct overlay *o, mono_t now)
{
	bool late = mono_sub_ms(now, o->paths->listened) > LATE_MS, changed = false;

	o->paths->listened = now;
	for (struct peer *p = NULL; !late && (p = peer_next(o, p));) {
		if (p->unreceived || peer_is_alive(o, p))
			continue;
		p->unreceived = true;
		changed = true;
	}
	if (changed)
		schedule_paths_now(o);
	for (struct peer *p = NULL; (p = peer_next(o, p));)
		if (loss_path_expire(o, p))
			schedule_paths_later(o);
}

/* --- the run --- */

static void make_room(struct overlay *o, uint16_t n)
{
	if (n <= o->paths->cap)
		return;
	o->paths->cap = (n / 16u + 1) * 16;
	o->paths->no_relay = x_realloc(o->paths->no_relay, o->paths->cap, sizeof(bool));
	o->paths->no_relay_apart = x_realloc(o->paths->no_relay_apart, o->paths->cap, sizeof(bool));
	o->paths->best = x_realloc(o->paths->best, o->paths->cap, sizeof(struct path));
	o->paths->best_apart = x_realloc(o->paths->best_apart, o->paths->cap, sizeof(struct path));
	o->paths->long_term = x_realloc(o->paths->long_term, o->paths->cap, sizeof(struct path));
}

static void note_return(struct overlay *o, const struct node *n)
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
		note_return(o, n);
		overlay_emit(o, EV_REACHABLE, n->id, NODE_ID_NONE, 0, NULL);
	} else {
		/* Dependent state stays for a moment, see member_periodic(). */
		nodedb_set_state(o->nodes, n, NODE_UNREACHABLE, now);
		overlay_emit(o, EV_UNREACHABLE, n->id, NODE_ID_NONE, 0, NULL);
	}
	schedule_snapshot(o);
}

/* Avoids relays that lose data for this node, if another path exists. */
static void avoid_distrusted(struct overlay *o, uint16_t slot, const struct path_params *pp)
{
	const struct peer *p = peer_at(o, slot);
	uint16_t n = nodedb_slots(o->nodes);
	struct path_params apart = *pp;

	if (!loss_is_distrusting(o, p))
		return;
	memcpy(o->paths->no_relay, pp->no_relay, n * sizeof(bool));
	loss_mark_relays(o, p, o->paths->no_relay);
	apart.no_relay = o->paths->no_relay;
	/* Most destinations exclude the same relays, and a computation costs the square of n. */
	if (!o->paths->apart_known ||
	    memcmp(o->paths->no_relay_apart, o->paths->no_relay, n * sizeof(bool))) {
		path_compute(o->lat, &apart, SLOT_SELF, n, o->paths->best_apart);
		memcpy(o->paths->no_relay_apart, o->paths->no_relay, n * sizeof(bool));
		o->paths->apart_known = true;
	}
	if (o->paths->best_apart[slot].n_hops)
		o->paths->best[slot] = o->paths->best_apart[slot];
	else
		loss_evaluate(o, p, &o->paths->best[slot]);
}

/* Returns the end of a hold-down before a better path. */
static mono_t choose(struct overlay *o, struct node *n, struct peer *p,
		     const struct path_params *pp, mono_t now)
{
	const struct choice_params cp = choice_params_of(o->conf);
	struct path direct = { .n_hops = 1, .hop = { n->slot } };
	struct choice *c = &p->choice;
	uint16_t mtu = c->path.mtu;

	path_evaluate(o->lat, pp, SLOT_SELF, &direct);
	if (c->path.n_hops)
		path_evaluate(o->lat, pp, SLOT_SELF, &c->path);
	loss_evaluate(o, p, &c->path);
	avoid_distrusted(o, n->slot, pp);
	/* The long-term path may contain a relay excluded for this node. */
	c->long_term = n->slot < o->paths->n_long_term && !loss_is_distrusting(o, p)
			       ? o->paths->long_term[n->slot]
			       : o->paths->best[n->slot];
	path_evaluate(o->lat, pp, SLOT_SELF, &c->long_term);
	if (choice_run(c, &o->paths->best[n->slot], &direct, &cp, now)) {
		overlay_emit(o, EV_PATH, n->id, NODE_ID_NONE, c->path.n_hops,
			     choice_texts[c->reason].name);
		if (c->reason == CHOICE_FAILOVER)
			schedule_snapshot_now(o);
		else
			schedule_snapshot(o);
	} else if (c->path.mtu != mtu) {
		schedule_snapshot(o);
	}
	gain_note(&p->gain, &c->path, &c->direct, now);
	update_state(o, n, c->path.n_hops > 0, now);
	path_probe_update(o, p);
	return c->reason == CHOICE_HOLD_DOWN ? c->hold_until : MONO_NEVER;
}

/* Long-term paths change slowly, and need no computation in each run. */
static void run_long_term(struct overlay *o, struct path_params *pp, uint16_t n_slots, mono_t now)
{
	int64_t ms = overlay_stretch(o, LONG_TERM_EVERY_MS);

	if (o->paths->n_long_term == n_slots && mono_sub_ms(now, o->paths->long_term_at) < ms)
		return;
	pp->by_long_term = true;
	path_compute(o->lat, pp, SLOT_SELF, n_slots, o->paths->long_term);
	pp->by_long_term = false;
	o->paths->long_term_at = now;
	o->paths->n_long_term = n_slots;
}

void paths_run(void *arg, mono_t now)
{
	struct overlay *o = arg;
	mono_t started = overlay_clock(o), next;
	uint16_t n_slots = nodedb_slots(o->nodes);
	struct path_params pp;
	int64_t took_ns;

	alarm_set(&o->run, MONO_NEVER); /* others call before it is due */
	o->paths->apart_known = false;
	schedule_paths_done(o, now);
	next = topology_sweep(o, now);
	pp = overlay_path_params(o);
	make_room(o, n_slots);
	path_compute(o->lat, &pp, SLOT_SELF, n_slots, o->paths->best);
	run_long_term(o, &pp, n_slots, now);
	for (uint16_t i = SLOT_SELF + 1; i < n_slots; i++) {
		struct node *n = nodedb_at(o->nodes, i);
		struct peer *p = peer_at(o, i);

		if (n && p && n->state != NODE_LEFT)
			next = mono_earlier(next, choose(o, n, p, &pp, now));
	}
	if (pairs_run(o, &pp, n_slots, now))
		schedule_snapshot(o);
	next = mono_earlier(next, pairs_next(o));
	o->count.path_runs++;
	took_ns = mono_sub_ns(overlay_clock(o), started);
	if (took_ns > 0)
		o->count.path_run_ns_max = max_of(o->count.path_run_ns_max, (uint64_t)took_ns);
	if (!mono_is_never(next))
		alarm_sooner(&o->run, next);
}

void paths_free(struct overlay *o)
{
	free(o->paths->no_relay);
	free(o->paths->no_relay_apart);
	free(o->paths->best);
	free(o->paths->best_apart);
	free(o->paths->long_term);
	free(o->paths);
}
