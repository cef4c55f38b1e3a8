// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Distribution of latency rows: changes of the own row to all members at most once per interval,
 * failures at once; rows of others into the database; detection of missing rows. Control thread.
 * Protocol 4.6, 5.3.
 */
#include "proto/share/rows.h"

#include "proto/schedule.h"
#include "proto/core.h"
#include "proto/peer.h"
#include "proto/send.h"
#include "proto/service.h"
#include "proto/share/sync.h"

#define BEHIND_MS 200 /* a row that the PING refers to may still be in flight */

static bool is_addressee(const struct overlay *o, const struct peer *p)
{
	const struct node *n = p && p->cur ? peer_node(o, p) : NULL;

	return n && n->state != NODE_LEFT;
}

/* Sends the complete row to new nodes and the changes to the others. */
static void send_part(struct overlay *o, const struct msg *m, bool whole)
{
	for (uint32_t i = 0; i < o->cap_slots; i++) {
		struct peer *p = o->by_slot[i];

		if (is_addressee(o, p) && p->rows.whole_due == whole)
			peer_send(o, p, m);
	}
}

static bool is_any_due(const struct overlay *o)
{
	for (uint32_t i = 0; i < o->cap_slots; i++)
		if (is_addressee(o, o->by_slot[i]) && o->by_slot[i]->rows.whole_due)
			return true;
	return false;
}

void rows_session_up(struct overlay *o, struct peer *p)
{
	p->rows.whole_due = true;
	schedule_row(o, ROW_SOON);
}

void rows_announce(void *arg, mono_t now)
{
	struct overlay *o = arg;
	uint64_t incarnation = nodedb_at(o->nodes, SLOT_SELF)->rec.incarnation;
	struct msg m = { .type = MSG_ROW };
	uint32_t iter = 0;

	o->announce.at = MONO_NEVER;
	o->done.row = now;
	while (latdb_own_next(o->lat, o->nodes, incarnation, false, &iter, &m.row))
		send_part(o, &m, false);
	iter = 0;
	while (latdb_row_seq(o->lat, SLOT_SELF) && is_any_due(o) &&
	       latdb_own_next(o->lat, o->nodes, incarnation, true, &iter, &m.row))
		send_part(o, &m, true);
	for (uint32_t i = 0; i < o->cap_slots; i++)
		if (is_addressee(o, o->by_slot[i]))
			o->by_slot[i]->rows.whole_due = false;
	if (latdb_own_dirty(o->lat))
		schedule_row(o, ROW_LATER);
}

void rows_send_whole(struct overlay *o, struct peer *p)
{
	uint64_t incarnation = nodedb_at(o->nodes, SLOT_SELF)->rec.incarnation;
	struct msg m = { .type = MSG_ROW };
	uint32_t iter = 0;

	if (latdb_row_seq(o->lat, SLOT_SELF) == 0)
		return;
	while (latdb_own_next(o->lat, o->nodes, incarnation, true, &iter, &m.row))
		peer_send(o, p, &m);
}

static uint16_t slot_of(void *arg, node_id_t id)
{
	const struct overlay *o = arg;

	return nodedb_slot(o->nodes, id);
}

/* Returns true if the row reports a link as down or unresponsive; paths over it must change at
 * once. */
static bool has_failure(struct overlay *o, uint16_t from, const struct msg_row *m)
{
	for (unsigned i = 0; i < m->n; i++)
		if ((!m->entry[i].up || m->entry[i].silent) &&
		    latdb_get(o->lat, from, slot_of(o, m->entry[i].node)).up)
			return true;
	return false;
}

void rows_take(struct overlay *o, struct peer *p, const struct msg_row *m)
{
	const struct node *n = nodedb_find(o->nodes, m->origin);
	struct peer *origin = n ? peer_at(o, n->slot) : NULL;
	bool failure;

	/* Each node sends its own row only; the session is the proof of its origin. */
	if (!origin || origin != p || !n->has_record || n->state == NODE_LEFT) {
		o->count.rx_foreign_rows += origin != p;
		return;
	}
	failure = has_failure(o, n->slot, m);
	switch (latdb_merge(o->lat, n->slot, m, slot_of, o)) {
	case ROW_CHANGED:
		if (failure)
			schedule_paths_now(o);
		else
			schedule_paths_later(o);
		return;
	case ROW_GAP:
		sync_want(o, p, p);
		return;
	case ROW_UNCHANGED:
	case ROW_OLD:
		return;
	}
}

void rows_row_seq(struct overlay *o, struct peer *p, uint32_t row_seq)
{
	const struct node *n = peer_node(o, p);
	bool known =
		n && n->has_record && latdb_row_incarnation(o->lat, p->slot) == n->rec.incarnation;
	uint32_t have = known ? latdb_row_seq(o->lat, p->slot) : 0;
	mono_t now = overlay_now(o);

	if (row_seq <= have) {
		p->rows.behind_seq = 0;
		return;
	}
	if (p->rows.behind_seq && have < p->rows.behind_seq) {
		if (mono_sub_ms(now, p->rows.behind_since) > BEHIND_MS)
			sync_want(o, p, p);
		return;
	}
	p->rows.behind_seq = row_seq;
	p->rows.behind_since = now;
}
