// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Membership: this node's own record and its announcement (the paper's join), leave, the records
 * of others and what they change, forgetting of silent nodes, and duplicates of our node-id.
 * Control thread. Protocol 5.1, 5.2.
 *
 * Three times hang together. A node refreshes its own record four times within forget-time, so the
 * record of whoever is alive is always newer than the one that others may have forgotten: that is
 * what makes the two halves of a long partition take each other back, while the record of a dead
 * node, which nobody refreshes, revives nowhere. Tombstones are kept for twice forget-time and a
 * minute: by then all who were connected have forgotten the node too.
 */
#include <string.h>

#include "base/log.h"
#include "proto/core.h"

#define UPKEEP_MS	1000
#define MOURN_MS	3000 /* a node unreachable for so long is not just a moment away */
#define RECORD_TRIES	3
#define RECORD_RETRY_MS 400
#define OUTBIDS_FREE	3 /* within a minute; an earlier run of ours explains one */
#define OUTBID_SLOW_MS	30000
#define OBSERVED_MAX	4
#define RECORDLESS_MS	60000 /* a node of which no record ever came */
#define LEAVE_MARGIN_MS 60000

static struct node *self_node(struct overlay *o)
{
	return nodedb_at(o->nodes, SLOT_SELF);
}

/* --- own record --- */

static bool has_locator(const struct msg_record *r, const struct endpoint *ep)
{
	for (unsigned i = 0; i < r->n_locators; i++)
		if (endpoint_equal(&r->locator[i], ep))
			return true;
	return false;
}

struct vote {
	struct endpoint ep;
	unsigned n;
};

/* Counts by how many peers we are seen at which address; returns the number of peers. */
static unsigned count_votes(struct overlay *o, struct vote *votes, unsigned *n_votes)
{
	unsigned n_peers = 0, k;

	for (uint32_t i = 0; i < o->cap_slots; i++) {
		const struct peer *p = o->by_slot[i];

		if (!p || !p->observed.ip.family || !peer_is_alive(o, p))
			continue;
		n_peers++;
		for (k = 0; k < *n_votes && !endpoint_equal(&votes[k].ep, &p->observed); k++)
			;
		if (k == *n_votes && k < OBSERVED_MAX)
			votes[(*n_votes)++] = (struct vote){ .ep = p->observed };
		if (k < *n_votes)
			votes[k].n++;
	}
	return n_peers;
}

/* An observed address is believed where two peers agree, or where only one peer can say. */
static void add_observed(struct overlay *o, struct msg_record *r)
{
	struct vote votes[OBSERVED_MAX];
	unsigned n_votes = 0, n_peers = count_votes(o, votes, &n_votes);

	for (unsigned k = 0; k < n_votes && r->n_locators < MSG_LOCATORS_MAX; k++)
		if ((votes[k].n >= 2 || n_peers == 1) && !has_locator(r, &votes[k].ep)) {
			r->locator[r->n_locators++] = votes[k].ep;
			r->flags |= RECORD_BEHIND_NAT;
		}
}

static void own_facts(struct overlay *o, struct msg_record *r)
{
	const struct conf *c = o->conf;

	memset(r, 0, sizeof(*r));
	memcpy(r->identity, o->identity.public, sizeof(r->identity));
	r->flags = o->lan_flags;
	if (c->transit_disable)
		r->flags |= RECORD_TRANSIT_DISABLED;
	memcpy(r->name, c->node_name, sizeof(r->name));
	for (unsigned i = 0; i < o->n_locators; i++)
		if (!has_locator(r, &o->locator[i]))
			r->locator[r->n_locators++] = o->locator[i];
	add_observed(o, r);
	r->n_overlay = c->n_overlay;
	memcpy(r->overlay, c->overlay, sizeof(r->overlay));
	r->n_prefixes = o->prefixes_are_given ? o->n_prefixes : c->n_prefixes;
	memcpy(r->prefix, o->prefixes_are_given ? o->prefix : c->prefix,
	       r->n_prefixes * sizeof(r->prefix[0]));
}

static bool is_same_endpoint_set(const struct msg_record *a, const struct msg_record *b)
{
	if (a->n_locators != b->n_locators)
		return false;
	for (unsigned i = 0; i < a->n_locators; i++)
		if (!has_locator(b, &a->locator[i]))
			return false;
	return true;
}

static bool is_same_facts(const struct msg_record *a, const struct msg_record *b)
{
	if (a->flags != b->flags || a->n_overlay != b->n_overlay || strcmp(a->name, b->name) != 0)
		return false;
	for (unsigned i = 0; i < a->n_overlay; i++)
		if (!ip_equal(&a->overlay[i], &b->overlay[i]))
			return false;
	/* Both are in the order of the configuration, which is sorted. */
	if (a->n_prefixes != b->n_prefixes)
		return false;
	for (unsigned i = 0; i < a->n_prefixes; i++)
		if (prefix_compare(&a->prefix[i], &b->prefix[i]) != 0)
			return false;
	return is_same_endpoint_set(a, b);
}

static void schedule_refresh(struct overlay *o)
{
	int64_t quarter_ms = o->conf->forget_ms / 4;

	o->refresh_at = overlay_in(o, quarter_ms * 3 / 4, quarter_ms);
}

void member_refresh_own(struct overlay *o, bool force)
{
	struct node *self = self_node(o);
	struct msg_record r;

	own_facts(o, &r);
	if (!force && self->has_record && is_same_facts(&self->rec, &r)) {
		/* forget-time may have become shorter. */
		if (mono_sub_ms(o->refresh_at, overlay_now(o)) > o->conf->forget_ms / 4)
			schedule_refresh(o);
		return;
	}
	nodedb_set_own(o->nodes, &r, self->rec.incarnation, overlay_now(o));
	identity_sign_own(o);
	schedule_refresh(o);
	member_announce(o);
	route_changed(o);
}

static void send_record(struct overlay *o, struct peer *p, const struct msg_record *r)
{
	struct msg m = { .type = MSG_RECORD, .record = *r };

	peer_send(o, p, &m);
}

void member_announce(struct overlay *o)
{
	for (uint32_t i = 0; i < o->cap_slots; i++) {
		struct peer *p = o->by_slot[i];

		if (!p || !p->cur)
			continue;
		send_record(o, p, &self_node(o)->rec);
		p->record_tries = RECORD_TRIES;
		p->record_at = overlay_in(o, RECORD_RETRY_MS, RECORD_RETRY_MS * 2);
		peer_arm(p);
	}
}

void member_start(struct overlay *o)
{
	uint64_t wall_us = o->ops.wall_us(o->arg);
	struct msg_record r;

	own_facts(o, &r);
	wall_us = min_of(max_of(wall_us, (uint64_t)1), MSG_INCARNATION_MAX);
	nodedb_set_own(o->nodes, &r, wall_us, overlay_now(o));
	identity_sign_own(o);
	schedule_refresh(o);
	alarm_set(&o->upkeep, overlay_in(o, UPKEEP_MS / 2, UPKEEP_MS));
}

void overlay_leave(struct overlay *o)
{
	struct msg_record r;

	if (!o->started)
		return;
	if (!o->leaving) {
		r = self_node(o)->rec;
		r.flags |= RECORD_LEFT;
		nodedb_set_own(o->nodes, &r, r.incarnation, overlay_now(o));
		identity_sign_own(o);
		o->leaving = true;
	}
	for (uint32_t i = 0; i < o->cap_slots; i++) {
		struct peer *p = o->by_slot[i];

		if (!p)
			continue;
		alarm_set(&p->tick, MONO_NEVER);
		if (p->cur)
			send_record(o, p, &self_node(o)->rec);
	}
	alarm_set(&o->upkeep, MONO_NEVER);
	alarm_set(&o->seeding, MONO_NEVER);
	alarm_set(&o->announce, MONO_NEVER);
	alarm_set(&o->answering, MONO_NEVER);
	alarm_set(&o->routing, MONO_NEVER);
}

/*
 * An earlier run of ours with a clock ahead, or our record as somebody forged it, is outbid at
 * once. If it keeps coming back, another node uses our id: then we say so and outbid it rarely,
 * so that the two do not shout each other down at line rate.
 */
void member_own_seen(struct overlay *o, uint64_t incarnation, uint32_t seq)
{
	const struct msg_record *own = &self_node(o)->rec;
	mono_t now = overlay_now(o);

	if (o->leaving || version_cmp(incarnation, seq, own->incarnation, own->seq) <= 0)
		return;
	if (mono_is_never(o->outbid_since) || mono_sub_ms(now, o->outbid_since) > 60000) {
		o->outbid_since = now;
		o->n_outbids = 0;
	}
	if (o->n_outbids >= OUTBIDS_FREE) {
		rival_suspected(o);
		if (mono_sub_ms(now, o->outbid_at) < OUTBID_SLOW_MS)
			return;
	}
	o->n_outbids++;
	o->outbid_at = now;
	nodedb_outbid(o->nodes, incarnation, seq, now);
	identity_sign_own(o);
	member_announce(o);
	share_dirty(o, SHARE_SOON);
}

void member_table_full(struct overlay *o, node_id_t id)
{
	if (bucket_pass(&o->full_event, overlay_now(o), 60 * NS_PER_S, 60 * NS_PER_S))
		overlay_emit(o, EV_TABLE_FULL, id, NODE_ID_NONE, 0, NULL);
}

/* --- sessions --- */

/* A node we had forgotten speaks to us. One that said leave has to send a newer record. */
static void revive(struct overlay *o, struct peer *p)
{
	struct node *n = peer_node(o, p);

	if (n->state != NODE_LEFT || (n->has_record && (n->rec.flags & RECORD_LEFT)))
		return;
	if (!member_make_room(o, &(struct room){ .place = true })) {
		member_table_full(o, n->id);
		return;
	}
	nodedb_set_state(o->nodes, n, NODE_KNOWN, overlay_now(o));
	overlay_emit(o, EV_RETURNED, n->id, NODE_ID_NONE, 0, NULL);
	route_changed(o);
}

void member_session_up(struct overlay *o, struct peer *p)
{
	revive(o, p);
	send_record(o, p, &self_node(o)->rec);
	p->record_tries = RECORD_TRIES;
	p->record_at = overlay_in(o, RECORD_RETRY_MS, RECORD_RETRY_MS * 2);
	p->row_due = true;
	share_dirty(o, SHARE_SOON);
	if (!o->synced)
		sync_ask(o, p);
}

void member_tick(struct overlay *o, struct peer *p, mono_t now)
{
	if (!p->record_tries || mono_before(now, p->record_at))
		return;
	p->record_tries--;
	p->record_at = overlay_in(o, RECORD_RETRY_MS, RECORD_RETRY_MS * 2);
	if (p->cur)
		send_record(o, p, &self_node(o)->rec);
}

/* --- records of others --- */

void member_bury(struct overlay *o, struct node *n)
{
	struct peer *p = peer_at(o, n->slot);

	if (p) {
		probe_link_lost(o, p);
		peer_drop(o, p);
	}
	latdb_forget(o->lat, n->slot);
	route_forget(o, n->slot);
	o->ops.purge(o->arg, n->slot);
	route_changed_now(o);
	route_now(o);
}

static void send_away(struct overlay *o, struct node *n)
{
	if (n->state != NODE_LEFT)
		member_table_full(o, n->id);
	member_bury(o, n);
	nodedb_forget(o->nodes, n, overlay_now(o));
	route_run(o, overlay_now(o));
	nodedb_remove(o->nodes, n, overlay_now(o));
}

bool member_make_room(struct overlay *o, const struct room *r)
{
	struct node *n;

	while (room_lacks(o, r)) {
		n = room_victim(o, r);
		if (!n)
			return false;
		send_away(o, n);
	}
	return true;
}

/* A node is a tombstone now. */
static void bury_node(struct overlay *o, struct node *n, enum overlay_event_kind kind)
{
	member_bury(o, n);
	overlay_emit(o, kind, n->id, NODE_ID_NONE, 0, NULL);
}

/* A record of somebody we are in session with that says it left, and not from itself. */
static bool is_doubtful_leave(struct overlay *o, const struct peer *from,
			      const struct msg_record *r)
{
	struct peer *origin = peer_find(o, r->origin);

	return (r->flags & RECORD_LEFT) && from->id != r->origin && origin &&
	       peer_is_alive(o, origin);
}

static void note_lan(struct overlay *o, const struct node *n)
{
	struct peer *p = peer_of_node(o, n);

	lan_flags_changed(o, p);
	peer_arm(p);
}

static void took_record(struct overlay *o, struct node *n, bool joined, bool restarted,
			bool was_known)
{
	struct peer *p = peer_of_node(o, n);

	if (joined || restarted)
		overlay_emit(o, was_known ? EV_RETURNED : EV_JOINED, n->id, NODE_ID_NONE, 0, NULL);
	if (joined) {
		latdb_ask_lacking(o->lat);
		/* Everybody knows the newcomer at once: do not all greet it in one instant. */
		int64_t spread_ms = min_of(nodedb_members(o->nodes) * 2, 1000u);

		if (!p->cur)
			hello_soon(o, p, spread_ms);
		share_dirty(o, SHARE_SOON); /* entries of it could not be named before */
	} else if (!p->probe.up && !peer_is_alive(o, p)) {
		hello_soon(o, p, 200);
	}
	route_changed(o);
	route_later(o);
}

/* Answers a node that does not know how far its own record had come. */
static void tell_own(struct overlay *o, struct peer *p, const struct node *n)
{
	if (p->id == n->id && n->has_record)
		send_record(o, p, &n->rec);
}

/*
 * A record of this node-id under another key. It does not matter to ours, as versions are compared
 * within a key. It is of an earlier life of this node, before it was made anew, or of somebody else
 * with the same node-id: that one goes on to announce itself, or started after us.
 */
static void claimed_by_other(struct overlay *o, const struct msg_record *r)
{
	const struct msg_summary_entry e = claim_of(r), before = o->claim;
	bool goes_on = memcmp(e.key, before.key, sizeof(e.key)) == 0 &&
		       version_cmp(e.incarnation, e.seq, before.incarnation, before.seq) > 0;

	o->claim = e;
	if (!goes_on && r->incarnation <= self_node(o)->rec.incarnation)
		return;
	if (bucket_pass(&o->duplicate_event, overlay_now(o), 60 * NS_PER_S, 60 * NS_PER_S))
		overlay_emit(o, EV_DUPLICATE_ID, o->self, NODE_ID_NONE, 0, NULL);
}

/* A record of ourselves, from somebody: of an earlier run, where it is signed by our key. */
static void own_record(struct overlay *o, struct peer *p, const struct msg_record *r)
{
	bool is_ours = memcmp(r->identity, o->identity.public, sizeof(r->identity)) == 0;

	if ((is_ours && nodedb_compare(self_node(o), r) <= 0) || !identity_of_record(o, p, r))
		return;
	if (is_ours)
		member_own_seen(o, r->incarnation, r->seq);
	else
		claimed_by_other(o, r);
}

/* Newer than what we have, signed, by a key that may say it, and there is a place for it. */
static bool may_take(struct overlay *o, struct peer *p, const struct node *n,
		     const struct msg_record *r)
{
	const bool left = r->flags & RECORD_LEFT;
	const struct room room = {
		.place = !left && (!n || n->state == NODE_LEFT),
		.slot = !n,
		.by = p->id,
	};

	if (n && nodedb_compare(n, r) <= 0)
		return true; /* nothing is taken: nodedb_put() says how it stands */
	if (!identity_of_record(o, p, r))
		return false;
	if (member_make_room(o, &room))
		return true;
	if (!left)
		member_table_full(o, r->origin);
	return false;
}

void member_record(struct overlay *o, struct peer *p, const struct msg_record *r)
{
	struct node *n = nodedb_find(o->nodes, r->origin);
	bool was_there = n != NULL, was_left = n && n->state == NODE_LEFT;
	bool was_known = n && n->has_record;
	bool restarted = was_known && r->incarnation != n->rec.incarnation;
	uint16_t flags_before = was_known ? n->rec.flags : 0;

	if (r->origin == o->self) {
		own_record(o, p, r);
		return;
	}
	if (r->origin == NODE_ID_ANY || is_doubtful_leave(o, p, r) || !may_take(o, p, n, r))
		return;
	switch (nodedb_put(o->nodes, r, overlay_now(o), &n)) {
	case RECORD_OWN:
		return;
	case RECORD_FULL: /* said already, where it matters */
		return;
	case RECORD_OLDER:
		tell_own(o, p, n);
		return;
	case RECORD_SAME:
		/* Said leave in an earlier run, at the same version as it starts with now. */
		if (n->state == NODE_LEFT && !(r->flags & RECORD_LEFT))
			tell_own(o, p, n);
		return;
	case RECORD_NEW:
	case RECORD_NEWER:
		break;
	}
	identity_pin(o, n, r->identity, false);
	if (!n->proven)
		n->by = p->id;
	if (n->state == NODE_LEFT) {
		/* Without a record too: a session was there, and hosts may have been learned. */
		if (was_there && !was_left)
			bury_node(o, n, EV_LEFT);
		return;
	}
	if ((n->rec.flags ^ flags_before) & RECORD_LAN_MASK)
		note_lan(o, n);
	took_record(o, n, !was_known || was_left, restarted, was_known);
}

/* --- upkeep --- */

static void forget(struct overlay *o, struct node *n)
{
	nodedb_forget(o->nodes, n, overlay_now(o));
	bury_node(o, n, EV_FORGOTTEN);
}

static void forget_silent(struct overlay *o, mono_t now)
{
	for (uint16_t i = SLOT_SELF + 1; i < nodedb_slots(o->nodes); i++) {
		struct node *n = nodedb_at(o->nodes, i);
		struct peer *p = peer_at(o, i);
		int64_t limit_ms = o->conf->forget_ms;
		mono_t last;

		if (!n || n->state == NODE_LEFT || n->state == NODE_REACHABLE ||
		    (p && peer_is_alive(o, p)))
			continue;
		if (!n->has_record)
			limit_ms = min_of(limit_ms, (int64_t)RECORDLESS_MS);
		last = mono_before(n->since, n->heard) ? n->heard : n->since;
		if (mono_sub_ms(now, last) > limit_ms)
			forget(o, n);
	}
}

/*
 * Drops what hangs on nodes that stay unreachable. Not at once: on a machine without processor time
 * for a moment all others seem to be gone, and when they are back, hosts that only listen would be
 * unknown until they speak. Frames for them are flooded meanwhile.
 */
static void purge_unreachable(struct overlay *o, mono_t now)
{
	for (uint16_t i = SLOT_SELF + 1; i < nodedb_slots(o->nodes); i++) {
		struct node *n = nodedb_at(o->nodes, i);
		struct peer *p = peer_at(o, i);

		if (!n || !p || n->state != NODE_UNREACHABLE || p->purged ||
		    mono_sub_ms(now, n->since) < MOURN_MS)
			continue;
		p->purged = true;
		o->ops.purge(o->arg, i);
	}
}

static void slot_expires(void *arg, uint16_t slot)
{
	struct overlay *o = arg;
	struct peer *p = peer_at(o, slot);

	if (p)
		peer_drop(o, p);
	latdb_forget(o->lat, slot);
}

/* Sessions with nodes that are no members: they said HELLO but never sent a record. */
static void fetch_missing(struct overlay *o)
{
	for (uint32_t i = 0; i < o->cap_slots; i++) {
		struct peer *p = o->by_slot[i];
		struct node *n = p ? peer_node(o, p) : NULL;

		if (!n || !peer_is_alive(o, p))
			continue;
		if (!n->has_record || n->state == NODE_LEFT)
			sync_want(o, p, p);
	}
}

void member_upkeep(void *arg, mono_t now)
{
	struct overlay *o = arg;

	o->upkeep.at = MONO_NEVER;
	peer_bury(o);
	member_refresh_own(o, !mono_before(now, o->refresh_at));
	purge_unreachable(o, now);
	forget_silent(o, now);
	nodedb_expire(o->nodes, now, 2 * (int64_t)o->conf->forget_ms + LEAVE_MARGIN_MS,
		      slot_expires, o);
	peer_expire_pending(o);
	fetch_missing(o);
	sync_upkeep(o, now);
	rekey_upkeep(o, now);
	peer_upkeep(o);
	doubt_upkeep(o, now);
	route_upkeep(o, now);
	probe_upkeep(o);
	peer_bury(o);
	alarm_set(&o->upkeep, overlay_in(o, UPKEEP_MS * 3 / 4, UPKEEP_MS));
}
