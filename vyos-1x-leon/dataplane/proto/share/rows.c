// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Distribution of latency rows: changes of the own row to all members at most once per interval,
 * failures at once. Rows of others into the database; detection of missing rows. Control thread.
 * Protocol 4.6, 5.3.
 */
#include "proto/share/share.h"

#define BEHIND_MS 200 /* a row that the PING refers to may still be in flight */
/* A complete row is not sent to a node again within this time. A FETCH for the record of this node
 * requests the row too. A node repeats the FETCH if the row was lost. */
#define WHOLE_AGAIN_MS 500

static bool is_addressee(const struct overlay *o, const struct peer *p)
{
	const struct node *n = p->cur ? peer_node(o, p) : NULL;

	return n && n->state != NODE_LEFT;
}

/* Nodes of an older release accept ROW only. */
static bool takes_short(const struct overlay *o, const struct peer *p)
{
	return peer_announces(o, p, RECORD_TAKES_SHORT_ROWS);
}

static void send_row(struct overlay *o, struct peer *p, struct msg *m)
{
	m->type = takes_short(o, p) ? MSG_SHORT_ROW : MSG_ROW;
	peer_send(o, p, m);
}

/* The form of a row for these addressees; false: there is none. */
static bool form_for(const struct overlay *o, bool whole, enum row_form *form)
{
	bool any = false, is_short = true;

	for (const struct peer *p = NULL; (p = peer_next(o, p));) {
		if (!is_addressee(o, p) || p->rows.whole_due != whole)
			continue;
		any = true;
		is_short = is_short && takes_short(o, p);
	}
	*form = (whole ? ROW_WHOLE : ROW_CHANGES) | (is_short ? ROW_SHORT : 0);
	return any;
}

/* Sends the complete row to new nodes and the changes to the others. */
static void send_part(struct overlay *o, struct msg *m, bool whole)
{
	for (struct peer *p = NULL; (p = peer_next(o, p));)
		if (is_addressee(o, p) && p->rows.whole_due == whole)
			send_row(o, p, m);
}

void rows_session_up(struct overlay *o, struct peer *p)
{
	p->rows.whole_due = true;
	p->rows.whole_seq = 0;
	schedule_row(o, ROW_SOON);
}

static void sent_whole(struct overlay *o, struct peer *p)
{
	p->rows.whole_due = false;
	p->rows.whole_seq = latdb_row_seq(o->lat, SLOT_SELF);
	p->rows.whole_at = overlay_now(o);
}

uint32_t rows_seq_for(const struct overlay *o, const struct peer *p)
{
	return p->rows.whole_due ? 0 : latdb_row_seq(o->lat, SLOT_SELF);
}

void rows_announce(void *arg, mono_t now)
{
	struct overlay *o = arg;
	uint64_t incarnation = nodedb_at(o->nodes, SLOT_SELF)->rec.incarnation;
	enum row_form form;
	uint32_t iter = 0;
	struct msg m;

	alarm_set(&o->announce, MONO_NEVER); /* expel.c calls before the alarm is due */
	schedule_row_done(o, now);
	form_for(o, false, &form);
	while (latdb_own_next(o->lat, o->nodes, incarnation, form, &iter, &m.row))
		send_part(o, &m, false);
	iter = 0;
	if (latdb_row_seq(o->lat, SLOT_SELF) && form_for(o, true, &form))
		while (latdb_own_next(o->lat, o->nodes, incarnation, form, &iter, &m.row))
			send_part(o, &m, true);
	for (struct peer *p = NULL; (p = peer_next(o, p));)
		if (is_addressee(o, p) && p->rows.whole_due)
			sent_whole(o, p);
	if (latdb_own_dirty(o->lat))
		schedule_row(o, ROW_LATER);
}

void rows_send_whole(struct overlay *o, struct peer *p)
{
	uint64_t incarnation = nodedb_at(o->nodes, SLOT_SELF)->rec.incarnation;
	enum row_form form = ROW_WHOLE | (takes_short(o, p) ? ROW_SHORT : 0);
	uint32_t iter = 0;
	struct msg m;

	if (latdb_row_seq(o->lat, SLOT_SELF) == 0 ||
	    (p->rows.whole_seq == latdb_row_seq(o->lat, SLOT_SELF) &&
	     mono_sub_ms(overlay_now(o), p->rows.whole_at) < WHOLE_AGAIN_MS))
		return;
	while (latdb_own_next(o->lat, o->nodes, incarnation, form, &iter, &m.row))
		send_row(o, p, &m);
	sent_whole(o, p);
}

static uint16_t slot_of(void *arg, node_id_t id)
{
	const struct overlay *o = arg;

	return nodedb_slot(o->nodes, id);
}

/* The far end of a failed link may be dead. A lazy link notices this late, so a PING follows, but
 * not more often than on other links. */
static void ask(struct overlay *o, struct peer *p)
{
	int64_t ms = overlay_stretch(o, o->conf->interval_ms);

	if (p && p->probe.lazy && mono_sub_ms(overlay_now(o), p->probe.sent_at) > ms)
		schedule_probe(o, p);
}

/* Returns true if the row reports a link as down or unresponsive; paths over it must change at
 * once. A complete row after an outage of its node repeats failures of that time. */
static bool has_failure(struct overlay *o, uint16_t from, const struct msg_row *m)
{
	bool any = false;

	for (unsigned i = 0; i < m->n; i++) {
		uint16_t to = slot_of(o, m->entry[i].node);

		if ((m->entry[i].link.up && !m->entry[i].link.silent) ||
		    !latdb_get(o->lat, from, to).up)
			continue;
		if (m->base)
			ask(o, peer_at(o, to));
		any = true;
	}
	return any;
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
