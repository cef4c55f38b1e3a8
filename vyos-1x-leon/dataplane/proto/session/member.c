// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Membership: records of others and their consequences, room in the node table, leave, and
 * forgetting of unresponsive nodes. Called by dispatch.c, hello.c, expel.c and periodic.c on the
 * control thread. Protocol 5.1, 5.2.
 *
 * Three times depend on each other. A node refreshes its own record (own.c) four times within
 * forget-time. The record of a live node is therefore always newer than a forgotten version, so the
 * halves of a long partition accept each other again. The record of a dead node is not refreshed
 * and revives nowhere. Tombstones last twice forget-time plus a minute; by then all connected nodes
 * have forgotten the node.
 */
#include "proto/session/membership.h"

#include <string.h>

#include "proto/admit/admit.h"
#include "proto/measure/measure.h"
#include "proto/share/share.h"

#define TOMBSTONE_MS	3000 /* delay before state of an unreachable node is dropped */
#define LEAVE_MARGIN_MS 60000
#define RECORDLESS_MS	60000 /* lifetime of a node without a record */

static void table_full(struct overlay *o, node_id_t id)
{
	if (overlay_once_a_minute(o, &o->full_event))
		overlay_emit(o, EV_TABLE_FULL, id, NODE_ID_NONE, 0, NULL);
}

/* False: no host was learned behind the node since member_clear(), and no path leads over it. */
static bool had_session(const struct overlay *o, const struct node *n)
{
	const struct peer *p = peer_at(o, n->slot);

	return p && !mono_is_never(p->established);
}

void member_clear(struct overlay *o, struct node *n, struct slot_set *gone)
{
	const bool in_use = had_session(o, n);
	struct peer *p = peer_at(o, n->slot);

	if (p) {
		link_state_lost(o, p);
		multicast_forget(o, p);
		peer_drop(o, p);
	}
	latdb_forget(o->lat, n->slot);
	paths_forget(o, n->slot);
	/* A purge walks tables of the size of `fdb maximum`, and members can invent records. */
	if (!in_use) {
		schedule_snapshot(o);
		schedule_paths_later(o);
		return;
	}
	slot_set_add(gone, n->slot);
	schedule_snapshot_now(o);
	schedule_paths_now(o);
}

void member_purge(struct overlay *o, const struct slot_set *gone)
{
	if (!slot_set_is_empty(gone))
		o->ops.purge(o->arg, gone);
}

static void reject_node(struct overlay *o, struct node *n)
{
	const bool in_use = had_session(o, n);
	struct slot_set gone = { 0 };

	if (n->state != NODE_LEFT)
		table_full(o, n->id);
	member_clear(o, n, &gone);
	member_purge(o, &gone);
	nodedb_forget(o->nodes, n, overlay_now(o));
	if (in_use)
		paths_run(o, overlay_now(o));
	nodedb_remove(o->nodes, n, overlay_now(o));
}

static bool make_room(struct overlay *o, const struct eviction *r)
{
	struct node *n;

	while (eviction_is_needed(o, r)) {
		n = eviction_victim(o, r);
		if (!n)
			return false;
		reject_node(o, n);
	}
	return true;
}

bool member_bind(struct overlay *o, struct peer *p)
{
	struct node *n;

	if (p->slot != SLOT_NONE)
		return true;
	n = nodedb_find(o->nodes, p->id);
	if (!n && make_room(o, &(struct eviction){ .place = true, .slot = true }))
		n = nodedb_add(o->nodes, p->id, overlay_now(o));
	if (!n) {
		table_full(o, p->id);
		return false;
	}
	peer_of_node(o, n);
	latdb_request_missing(o->lat);
	return true;
}

/* --- sessions --- */

/* A forgotten node sends messages. A node that has left must send a newer record. */
static void revive(struct overlay *o, struct peer *p)
{
	struct node *n = peer_node(o, p);

	if (n->state != NODE_LEFT || (n->has_record && (n->rec.flags & RECORD_LEFT)))
		return;
	if (!make_room(o, &(struct eviction){ .place = true })) {
		table_full(o, n->id);
		return;
	}
	nodedb_set_state(o->nodes, n, NODE_KNOWN, overlay_now(o));
	overlay_emit(o, EV_RETURNED, n->id, NODE_ID_NONE, 0, NULL);
	schedule_snapshot(o);
}

void member_session_up(struct overlay *o, struct peer *p)
{
	revive(o, p);
	own_send(o, p);
	rows_session_up(o, p);
	if (!o->synced)
		sync_request(o, p);
}

/* The node becomes a tombstone. */
static void left(struct overlay *o, struct node *n)
{
	struct slot_set gone = { 0 };

	member_clear(o, n, &gone);
	member_purge(o, &gone);
	overlay_emit(o, EV_LEFT, n->id, NODE_ID_NONE, 0, NULL);
}

/* --- records of others --- */

/* Returns true for a leave record of a node in session that a third node forwards. */
static bool is_doubtful_leave(struct overlay *o, const struct peer *from,
			      const struct msg_record *r)
{
	struct peer *origin = peer_find(o, r->origin);

	return (r->flags & RECORD_LEFT) && from->id != r->origin && origin &&
	       peer_is_alive(o, origin);
}

/* Compares the LAN state of the record with the previous one. */
static void note_lan(struct overlay *o, const struct node *n, const struct record_lan *lan_before,
		     uint16_t flags_before)
{
	struct peer *p = peer_of_node(o, n);

	if ((n->rec.flags & ~flags_before & RECORD_LAN_DOWN) && o->ops.lan_left)
		o->ops.lan_left(o->arg, n->slot);
	lan_classes_changed(o, p, record_lan_changed(lan_before, &n->rec.lan));
	schedule_arm(p);
}

static void took_record(struct overlay *o, struct node *n, bool joined, bool restarted,
			bool was_known)
{
	struct peer *p = peer_of_node(o, n);

	/* Large PINGs that were lost in the restart prove nothing about the path. */
	if (restarted)
		pmtu_reset(o, p);
	if (joined || restarted)
		overlay_emit(o, was_known ? EV_RETURNED : EV_JOINED, n->id, NODE_ID_NONE, 0, NULL);
	if (joined) {
		latdb_request_missing(o->lat);
		/* All members learn of a new node at once, so their HELLOs are jittered. */
		int64_t spread_ms = min_of(nodedb_members(o->nodes) * 2, 1000u);

		if (!p->cur)
			schedule_hello(o, p, spread_ms);
		schedule_row(o, ROW_SOON); /* its node could not be named in earlier rows */
	} else if (!p->probe.up && !peer_is_alive(o, p)) {
		schedule_hello(o, p, 200);
	}
	multicast_offer(o, p, 0);
	schedule_snapshot(o);
	schedule_paths_later(o);
}

/* Answers a node that does not know the last version of its own record. */
static void notify_own(struct overlay *o, struct peer *p, const struct node *n)
{
	struct msg m = { .type = MSG_RECORD, .record = n->rec };

	if (p->id == n->id && n->has_record)
		peer_send(o, p, &m);
}

/*
 * A record of this node-id under another key. The record does not affect our version, because
 * versions are compared within a key. It comes from an earlier installation of this node, or from a
 * duplicate node-id. The other node then continues to announce itself, or started later.
 */
static void claimed_by_other(struct overlay *o, const struct msg_record *r)
{
	const struct msg_summary_entry e = claim_of(r), before = o->claim;
	bool goes_on = memcmp(e.key, before.key, sizeof(e.key)) == 0 &&
		       version_cmp(e.incarnation, e.seq, before.incarnation, before.seq) > 0;

	o->claim = e;
	if (!goes_on && r->incarnation <= nodedb_at(o->nodes, SLOT_SELF)->rec.incarnation)
		return;
	if (overlay_once_a_minute(o, &o->duplicate_event))
		overlay_emit(o, EV_DUPLICATE_ID, o->self, NODE_ID_NONE, 0, NULL);
}

/* A record with this node as origin: from an earlier run if our key signed it. */
static void own_record(struct overlay *o, struct peer *p, const struct msg_record *r)
{
	bool is_ours = memcmp(r->identity, o->identity.public, sizeof(r->identity)) == 0;

	if ((is_ours && nodedb_compare(nodedb_at(o->nodes, SLOT_SELF), r) <= 0) ||
	    !identity_of_record(o, p, r))
		return;
	if (is_ours)
		own_seen(o, r->incarnation, r->seq);
	else
		claimed_by_other(o, r);
}

/* Conditions for acceptance: newer, signed by a permitted key, and room in the table. */
static bool may_take(struct overlay *o, struct peer *p, const struct node *n,
		     const struct msg_record *r)
{
	const bool left = r->flags & RECORD_LEFT;
	const struct eviction eviction = {
		.place = !left && (!n || n->state == NODE_LEFT),
		.slot = !n,
		.by = p->id,
	};

	if (n && nodedb_compare(n, r) <= 0)
		return true; /* nothing changes; nodedb_put() returns the comparison */
	if (!identity_of_record(o, p, r))
		return false;
	if (make_room(o, &eviction))
		return true;
	if (!left)
		table_full(o, r->origin);
	return false;
}

/* An older node forwards a record without its attributes. */
static void add_attributes(struct overlay *o, struct peer *p, struct node *n,
			   const struct msg_record *r)
{
	if (r->n_attributes && !n->rec.n_attributes && identity_of_record(o, p, r))
		n->rec = *r;
}

void member_record(struct overlay *o, struct peer *p, const struct msg_record *r)
{
	struct node *n = nodedb_find(o->nodes, r->origin);
	bool was_there = n != NULL, was_left = n && n->state == NODE_LEFT;
	bool was_known = n && n->has_record;
	bool restarted = was_known && r->incarnation != n->rec.incarnation;
	uint16_t flags_before = was_known ? n->rec.flags : 0;
	struct record_lan lan_before = was_known ? n->rec.lan : r->lan;

	if (r->origin == o->self) {
		own_record(o, p, r);
		return;
	}
	if (r->origin == NODE_ID_ANY || is_doubtful_leave(o, p, r) || !may_take(o, p, n, r))
		return;
	switch (nodedb_put(o->nodes, r, overlay_now(o), &n)) {
	case RECORD_OWN:
		return;
	case RECORD_FULL: /* reported already if relevant */
		return;
	case RECORD_OLDER:
		notify_own(o, p, n);
		return;
	case RECORD_SAME:
		add_attributes(o, p, n, r);
		/* The node left in an earlier run at the version with which it starts now. */
		if (n->state == NODE_LEFT && !(r->flags & RECORD_LEFT))
			notify_own(o, p, n);
		return;
	case RECORD_NEW:
	case RECORD_NEWER:
		break;
	}
	identity_pin(o, n, r->identity, false);
	if (!n->verified)
		n->by = p->id;
	if (n->state == NODE_LEFT) {
		/* Also without a record: there was a session, so hosts behind the node may have
		 * been learned. */
		if (was_there && !was_left)
			left(o, n);
		return;
	}
	note_lan(o, n, &lan_before, flags_before);
	took_record(o, n, !was_known || was_left, restarted, was_known);
}

/* --- maintenance --- */

static void forget(struct overlay *o, struct node *n, struct slot_set *gone)
{
	nodedb_forget(o->nodes, n, overlay_now(o));
	member_clear(o, n, gone);
	overlay_emit(o, EV_FORGOTTEN, n->id, NODE_ID_NONE, 0, NULL);
}

static void forget_silent(struct overlay *o, mono_t now, struct slot_set *gone)
{
	for (struct node *n = NULL; (n = nodedb_next(o->nodes, n));) {
		struct peer *p = peer_at(o, n->slot);
		int64_t limit_ms = o->conf->forget_ms;
		mono_t last;

		if (n->state == NODE_REACHABLE || (p && peer_is_alive(o, p)))
			continue;
		if (!n->has_record)
			limit_ms = min_of(limit_ms, (int64_t)RECORDLESS_MS);
		last = mono_before(n->since, n->received) ? n->received : n->since;
		if (mono_sub_ms(now, last) > limit_ms)
			forget(o, n, gone);
	}
}

/*
 * Drops the state of nodes that stay unreachable. The delay exists because on a machine without
 * processor time all nodes seem unreachable for a moment. After their return, silent hosts would be
 * unknown until they send, and frames for them would be flooded.
 */
static void purge_unreachable(struct overlay *o, mono_t now, struct slot_set *gone)
{
	for (const struct node *n = NULL; (n = nodedb_next(o->nodes, n));) {
		struct peer *p = peer_at(o, n->slot);

		if (!p || n->state != NODE_UNREACHABLE || p->purged ||
		    mono_sub_ms(now, n->since) < TOMBSTONE_MS)
			continue;
		p->purged = true;
		slot_set_add(gone, n->slot);
		schedule_snapshot(o); /* no frame is flooded to the node any more */
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

void member_periodic(struct overlay *o, mono_t now)
{
	struct slot_set gone = { 0 };

	/* After an outage of this node, all others are due at once. */
	purge_unreachable(o, now, &gone);
	forget_silent(o, now, &gone);
	member_purge(o, &gone);
	nodedb_expire(o->nodes, now, 2 * (int64_t)o->conf->forget_ms + LEAVE_MARGIN_MS,
		      slot_expires, o);
}

/* Sessions with nodes that are no members: they sent a HELLO but no record. */
void member_fetch_missing(struct overlay *o)
{
	for (struct peer *p = NULL; (p = peer_next(o, p));) {
		const struct node *n = peer_node(o, p);

		if (n && peer_is_alive(o, p) && (!n->has_record || n->state == NODE_LEFT))
			sync_want(o, p, p);
	}
}
