// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Announcements of multicast groups (protocol 4.12). An announcement is the complete list of this
 * node, in at most eight messages. It replaces the previous announcement and requires none. An
 * announcement has no expiry: its sender repeats it until the peer acknowledges, after each change
 * and with each new key. Defines overlay_set_groups(). Control thread.
 */
#include "proto/share/share.h"

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"
#include "proto/overlay.h"
#include "state/tables/listeners.h"

/* Minimum interval of announcements. A first frame arrives 100 ms after a join plus the RTT, or up
 * to a second later in a large overlay with many groups. */
#define GAP_MS	 50
#define RETRY_MS 400u

/* --- own announcement --- */

static bool lacks_it(struct overlay *o, const struct peer *p)
{
	const struct node *n = p->cur ? peer_node(o, p) : NULL;

	return n && n->state != NODE_LEFT && (n->rec.flags & RECORD_SNOOPS) && !o->leaving &&
	       p->multicast.acked != o->multicast.seq;
}

static void send_all(struct overlay *o, struct peer *p)
{
	const struct multicast_state *s = &o->multicast;
	struct msg m = { .type = MSG_GROUPS, .groups = { .seq = s->seq } };

	m.groups.parts = (uint16_t)max_of((s->n + MSG_GROUPS_MAX - 1) / MSG_GROUPS_MAX, 1u);
	for (unsigned at = 0; m.groups.part < m.groups.parts; m.groups.part++) {
		m.groups.n = (uint16_t)min_of(s->n - at, (unsigned)MSG_GROUPS_MAX);
		for (unsigned i = 0; i < m.groups.n; i++)
			m.groups.entry[i] = s->entry[at++];
		peer_send(o, p, &m);
	}
}

void multicast_offer(struct overlay *o, struct peer *p, int64_t within_ms)
{
	const struct node *n = p->cur ? peer_node(o, p) : NULL;

	/* A node that stops snooping forgets the announcements. */
	if (n && !(n->rec.flags & RECORD_SNOOPS))
		p->multicast.acked = 0;
	if (!lacks_it(o, p))
		return;
	if (within_ms > 0) {
		/* multicast_tick() sends, and doubles the interval of the retries. */
		p->multicast.retry_ms = RETRY_MS / 2;
		p->due[DUE_GROUPS] = overlay_in(o, 0, within_ms);
	} else {
		send_all(o, p);
		p->multicast.retry_ms = RETRY_MS;
		p->due[DUE_GROUPS] = overlay_in(o, RETRY_MS, RETRY_MS * 2);
	}
	schedule_arm(p);
}

void multicast_tick(struct overlay *o, struct peer *p, mono_t now)
{
	if (!schedule_take(p, DUE_GROUPS, now) || !lacks_it(o, p))
		return;
	send_all(o, p);
	p->multicast.retry_ms = min_of(p->multicast.retry_ms * 2, BACKOFF_MAX_MS);
	p->due[DUE_GROUPS] = overlay_in(o, p->multicast.retry_ms, p->multicast.retry_ms * 2);
}

static void announce(void *arg, mono_t now)
{
	struct overlay *o = arg;
	int64_t within_ms = 0;

	/* Several messages to each of many nodes would fill the socket. */
	if (o->multicast.n > MSG_GROUPS_MAX)
		within_ms = overlay_stretch(o, GAP_MS) - GAP_MS;
	o->announcing_groups.at = MONO_NEVER;
	if (!o->multicast.changed || o->leaving)
		return;
	o->multicast.changed = false;
	o->multicast.announced = now;
	o->multicast.seq++;
	for (struct peer *p = NULL; (p = peer_next(o, p));)
		multicast_offer(o, p, within_ms);
}

void overlay_set_groups(struct overlay *o, const uint64_t *entry, unsigned n)
{
	struct multicast_state *s = &o->multicast;
	mono_t now = overlay_now(o);
	mono_t at = mono_add_ms(s->announced, overlay_stretch(o, GAP_MS));

	n = min_of(n, (unsigned)LISTENERS_MAX);
	if (n == s->n && (!n || memcmp(s->entry, entry, n * sizeof(*entry)) == 0))
		return;
	s->entry = x_realloc(s->entry, n + 1, sizeof(*entry));
	if (n)
		memcpy(s->entry, entry, n * sizeof(*entry));
	s->n = n;
	s->changed = true;
	alarm_sooner(&o->announcing_groups,
		     mono_is_never(s->announced) || mono_before(at, now) ? now : at);
}

void multicast_session_up(struct overlay *o, struct peer *p)
{
	p->multicast.acked = 0;
	multicast_offer(o, p, 0);
}

void multicast_acked(struct overlay *o, struct peer *p, const struct msg_groups_ack *m)
{
	if (m->seq == o->multicast.seq)
		p->multicast.acked = m->seq;
}

/* --- announcements of others --- */

static void drop_parts(struct multicast_peer *g)
{
	free(g->entry);
	g->entry = NULL;
	g->n = 0;
	g->parts = 0;
	g->next_seq = 0;
}

void multicast_peer_free(struct peer *p)
{
	drop_parts(&p->multicast);
}

void multicast_forget(struct overlay *o, struct peer *p)
{
	drop_parts(&p->multicast);
	p->multicast.seq = 0;
	if (o->ops.groups && p->slot != SLOT_NONE)
		o->ops.groups(o->arg, p->slot, NULL, 0);
}

static void acknowledge(struct overlay *o, struct peer *p)
{
	struct msg m = { .type = MSG_GROUPS_ACK, .groups_ack = { p->multicast.seq } };

	peer_send(o, p, &m);
}

/* Returns true if this was the last missing part. */
static bool add_part(struct multicast_peer *g, const struct msg_groups *m)
{
	uint64_t bit = 1ULL << m->part;

	if (m->seq != g->next_seq) {
		drop_parts(g);
		g->next_seq = m->seq;
		g->entry = x_calloc(LISTENERS_MAX, sizeof(*g->entry));
	}
	if ((g->parts & bit) || g->n + m->n > LISTENERS_MAX)
		return false;
	g->parts |= bit;
	memcpy(g->entry + g->n, m->entry, m->n * sizeof(*g->entry));
	g->n += m->n;
	return g->parts == UINT64_MAX >> (MSG_PARTS_MAX - m->parts);
}

void multicast_take(struct overlay *o, struct peer *p, const struct msg_groups *m)
{
	struct multicast_peer *g = &p->multicast;

	/* The peer does not know yet that this node stopped snooping. */
	if (!o->conf->multicast_snooping || m->seq < g->seq || m->seq < g->next_seq)
		return;
	if (m->seq > g->seq) {
		if (!add_part(g, m))
			return;
		g->seq = m->seq;
		if (o->ops.groups)
			o->ops.groups(o->arg, p->slot, g->entry, g->n);
		drop_parts(g);
	}
	acknowledge(o, p);
}

/* Others announce no changes to a node that does not snoop. */
void multicast_configure(struct overlay *o, const struct conf *old)
{
	if (o->conf->multicast_snooping || !old->multicast_snooping)
		return;
	for (struct peer *p = NULL; (p = peer_next(o, p));)
		multicast_forget(o, p);
}

void multicast_init(struct overlay *o)
{
	alarm_init(o, &o->announcing_groups, announce, o);
}

void multicast_free(struct overlay *o)
{
	alarm_free(&o->announcing_groups);
	free(o->multicast.entry);
}
