// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Membership: the records of others and what they change, room for them in the node table, their
 * leave, and forgetting of silent nodes. Called by dispatch.c, hello.c, expel.c and upkeep.c on
 * the control thread. Protocol 5.1, 5.2.
 *
 * Three times hang together. A node refreshes its own record (own.c) four times within
 * forget-time, so the record of whoever is alive is always newer than the one that others may have
 * forgotten: that is what makes the two halves of a long partition take each other back, while the
 * record of a dead node, which nobody refreshes, revives nowhere. Tombstones are kept for twice
 * forget-time and a minute: by then all who were connected have forgotten the node too.
 */
#include "proto/session/member.h"

#include <string.h>

#include "base/log.h"
#include "proto/admit/claim.h"
#include "proto/admit/room.h"
#include "proto/agenda.h"
#include "proto/core.h"
#include "proto/measure/probe.h"
#include "proto/paths.h"
#include "proto/peer.h"
#include "proto/send.h"
#include "proto/service.h"
#include "proto/session/identity.h"
#include "proto/session/lan.h"
#include "proto/session/own.h"
#include "proto/share/rows.h"
#include "proto/share/sync.h"

#define MOURN_MS	3000 /* a node unreachable for so long is not just a moment away */
#define LEAVE_MARGIN_MS 60000
#define RECORDLESS_MS	60000 /* a node of which no record ever came */

static void table_full(struct overlay *o, node_id_t id)
{
	if (bucket_pass(&o->full_event, overlay_now(o), 60 * NS_PER_S, 60 * NS_PER_S))
		overlay_emit(o, EV_TABLE_FULL, id, NODE_ID_NONE, 0, NULL);
}

void member_clear(struct overlay *o, struct node *n)
{
	struct peer *p = peer_at(o, n->slot);

	if (p) {
		probe_link_lost(o, p);
		peer_drop(o, p);
	}
	latdb_forget(o->lat, n->slot);
	paths_forget(o, n->slot);
	o->ops.purge(o->arg, n->slot);
	agenda_snapshot_now(o);
	agenda_paths_now(o);
}

static void send_away(struct overlay *o, struct node *n)
{
	if (n->state != NODE_LEFT)
		table_full(o, n->id);
	member_clear(o, n);
	nodedb_forget(o->nodes, n, overlay_now(o));
	paths_run(o, overlay_now(o));
	nodedb_remove(o->nodes, n, overlay_now(o));
}

static bool make_room(struct overlay *o, const struct room *r)
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

bool member_bind(struct overlay *o, struct peer *p)
{
	struct node *n;

	if (p->slot != SLOT_NONE)
		return true;
	n = nodedb_find(o->nodes, p->id);
	if (!n && make_room(o, &(struct room){ .place = true, .slot = true }))
		n = nodedb_add(o->nodes, p->id, overlay_now(o));
	if (!n) {
		table_full(o, p->id);
		return false;
	}
	peer_of_node(o, n);
	latdb_ask_lacking(o->lat);
	return true;
}

/* --- sessions --- */

/* A node we had forgotten speaks to us. One that said leave has to send a newer record. */
static void revive(struct overlay *o, struct peer *p)
{
	struct node *n = peer_node(o, p);

	if (n->state != NODE_LEFT || (n->has_record && (n->rec.flags & RECORD_LEFT)))
		return;
	if (!make_room(o, &(struct room){ .place = true })) {
		table_full(o, n->id);
		return;
	}
	nodedb_set_state(o->nodes, n, NODE_KNOWN, overlay_now(o));
	overlay_emit(o, EV_RETURNED, n->id, NODE_ID_NONE, 0, NULL);
	agenda_snapshot(o);
}

void member_session_up(struct overlay *o, struct peer *p)
{
	revive(o, p);
	own_send(o, p);
	rows_session_up(o, p);
	if (!o->synced)
		sync_ask(o, p);
}

/* A node is a tombstone now. */
static void make_tombstone(struct overlay *o, struct node *n, enum event_kind kind)
{
	member_clear(o, n);
	overlay_emit(o, kind, n->id, NODE_ID_NONE, 0, NULL);
}

/* --- records of others --- */

/* A record of somebody we are in session with that says it left, and not from itself. */
static bool is_doubtful_leave(struct overlay *o, const struct peer *from,
			      const struct msg_record *r)
{
	struct peer *origin = peer_find(o, r->origin);

	return (r->flags & RECORD_LEFT) && from->id != r->origin && origin &&
	       peer_is_alive(o, origin);
}

/* What the node says of its LAN, beside what it said before. */
static void note_lan(struct overlay *o, const struct node *n, const struct record_lan *lan_before,
		     uint16_t flags_before)
{
	struct peer *p = peer_of_node(o, n);

	if ((n->rec.flags & ~flags_before & RECORD_LAN_DOWN) && o->ops.lan_left)
		o->ops.lan_left(o->arg, n->slot);
	lan_classes_changed(o, p, record_lan_changed(lan_before, &n->rec.lan));
	agenda_arm(p);
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
			agenda_hello(o, p, spread_ms);
		agenda_row(o, ROW_SOON); /* entries of it could not be named before */
	} else if (!p->probe.up && !peer_is_alive(o, p)) {
		agenda_hello(o, p, 200);
	}
	agenda_snapshot(o);
	agenda_paths_later(o);
}

/* Answers a node that does not know how far its own record had come. */
static void tell_own(struct overlay *o, struct peer *p, const struct node *n)
{
	struct msg m = { .type = MSG_RECORD, .record = n->rec };

	if (p->id == n->id && n->has_record)
		peer_send(o, p, &m);
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
	if (!goes_on && r->incarnation <= nodedb_at(o->nodes, SLOT_SELF)->rec.incarnation)
		return;
	if (bucket_pass(&o->duplicate_event, overlay_now(o), 60 * NS_PER_S, 60 * NS_PER_S))
		overlay_emit(o, EV_DUPLICATE_ID, o->self, NODE_ID_NONE, 0, NULL);
}

/* A record of ourselves, from somebody: of an earlier run, where it is signed by our key. */
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
	if (make_room(o, &room))
		return true;
	if (!left)
		table_full(o, r->origin);
	return false;
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
		/* Even where it never had a record: there was a session, so hosts behind it may
		 * have been learned. */
		if (was_there && !was_left)
			make_tombstone(o, n, EV_LEFT);
		return;
	}
	note_lan(o, n, &lan_before, flags_before);
	took_record(o, n, !was_known || was_left, restarted, was_known);
}

/* --- upkeep --- */

static void forget(struct overlay *o, struct node *n)
{
	nodedb_forget(o->nodes, n, overlay_now(o));
	make_tombstone(o, n, EV_FORGOTTEN);
}

static void forget_silent(struct overlay *o, mono_t now)
{
	for (struct node *n = NULL; (n = nodedb_next(o->nodes, n));) {
		struct peer *p = peer_at(o, n->slot);
		int64_t limit_ms = o->conf->forget_ms;
		mono_t last;

		if (n->state == NODE_REACHABLE || (p && peer_is_alive(o, p)))
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
	for (const struct node *n = NULL; (n = nodedb_next(o->nodes, n));) {
		struct peer *p = peer_at(o, n->slot);

		if (!p || n->state != NODE_UNREACHABLE || p->purged ||
		    mono_sub_ms(now, n->since) < MOURN_MS)
			continue;
		p->purged = true;
		o->ops.purge(o->arg, n->slot);
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

void member_upkeep(struct overlay *o, mono_t now)
{
	purge_unreachable(o, now);
	forget_silent(o, now);
	nodedb_expire(o->nodes, now, 2 * (int64_t)o->conf->forget_ms + LEAVE_MARGIN_MS,
		      slot_expires, o);
}

/* Sessions with nodes that are no members: they said HELLO but never sent a record. */
void member_fetch_missing(struct overlay *o)
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
