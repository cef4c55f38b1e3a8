// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The own record. It is built from the configuration and the known addresses, announced to all, and
 * retransmitted to peers that may have missed it. It is refreshed before it expires, raised above
 * newer versions of other nodes, and withdrawn at leave. Control thread. Protocol 5.1, 5.2.
 */
#include "proto/session/membership.h"

#include <string.h>

#include "base/defs.h"
#include "proto/overlay.h"
#include "proto/handshake/handshake.h"

#define RECORD_TRIES	  3
#define RECORD_RETRY_MS	  400
#define SUPERSEDE_SLOW_MS 30000
#define OBSERVED_MAX	  4

static struct node *own_node(struct overlay *o)
{
	return nodedb_at(o->nodes, SLOT_SELF);
}

struct vote {
	struct endpoint ep;
	unsigned n;
};

/* Counts the peers per observed address of this node; returns the number of peers. */
static unsigned count_votes(struct overlay *o, struct vote *votes, unsigned *n_votes)
{
	unsigned n_peers = 0, k;

	for (const struct peer *p = NULL; (p = peer_next(o, p));) {
		if (!p->observed.ip.family || !peer_is_alive(o, p))
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

static void add_locator(struct msg_record *r, const struct endpoint *ep)
{
	if (r->n_locators < MSG_LOCATORS_MAX && !endpoint_is_among(ep, r->locator, r->n_locators))
		r->locator[r->n_locators++] = *ep;
}

/* An observed address counts if two peers agree, or if only one peer reports any. */
static void add_observed(struct overlay *o, struct msg_record *r)
{
	struct vote votes[OBSERVED_MAX];
	unsigned n_votes = 0, n_peers = count_votes(o, votes, &n_votes);

	for (unsigned k = 0; k < n_votes; k++) {
		if (votes[k].n < 2 && n_peers != 1)
			continue;
		add_locator(r, &votes[k].ep);
		if (!seed_is_own(o, &votes[k].ep))
			r->flags |= RECORD_BEHIND_NAT;
	}
}

/* The mapped and the observed addresses are the first. A host may have more addresses than a
 * record, and other nodes reach no private address. */
static void add_locators(struct overlay *o, struct msg_record *r)
{
	if (o->mapped.ip.family) {
		add_locator(r, &o->mapped);
		r->flags |= RECORD_BEHIND_NAT;
	}
	add_observed(o, r);
	for (unsigned i = 0; i < o->n_locators; i++)
		add_locator(r, &o->locator[i]);
}

static void own_facts(struct overlay *o, struct msg_record *r)
{
	const struct conf *c = o->conf;

	memset(r, 0, sizeof(*r));
	memcpy(r->identity, o->identity.public, sizeof(r->identity));
	r->flags = o->own.lan_flags | RECORD_TAKES_COPIES | RECORD_TAKES_PARITY;
	r->lan = o->own.lan;
	r->flags |= RECORD_TAKES_LINES | RECORD_TAKES_SHORT_ROWS;
	if (o->n_lines > 1)
		r->flags |= RECORD_HAS_LINES;
	if (c->transit_disable)
		r->flags |= RECORD_TRANSIT_DISABLED;
	if (c->multicast_snooping)
		r->flags |= RECORD_SNOOPS;
	if (o->own.accelerates)
		r->flags |= RECORD_ACCELERATES;
	memcpy(r->name, c->node_name, sizeof(r->name));
	add_locators(o, r);
	r->n_overlay = c->n_overlay;
	memcpy(r->overlay, c->overlay, sizeof(r->overlay));
	r->n_prefixes = o->own.prefixes_are_given ? o->own.n_prefixes : c->n_prefixes;
	memcpy(r->prefix, o->own.prefixes_are_given ? o->own.prefix : c->prefix,
	       r->n_prefixes * sizeof(r->prefix[0]));
	if (o->own.serves_some)
		r->flags |= RECORD_SEGMENTS;
	r->n_segments = o->own.n_segments;
	memcpy(r->segment, o->own.segment, r->n_segments * sizeof(r->segment[0]));
}

static bool is_same_endpoint_set(const struct msg_record *a, const struct msg_record *b)
{
	if (a->n_locators != b->n_locators)
		return false;
	for (unsigned i = 0; i < a->n_locators; i++)
		if (!endpoint_is_among(&a->locator[i], b->locator, b->n_locators))
			return false;
	return true;
}

static bool is_same_lan(const struct record_lan *a, const struct record_lan *b)
{
	return a->low == b->low && a->high == b->high && a->n == b->n &&
	       memcmp(a->node, b->node, a->n * sizeof(a->node[0])) == 0;
}

static bool is_same_facts(const struct msg_record *a, const struct msg_record *b)
{
	if (a->flags != b->flags || a->n_overlay != b->n_overlay || strcmp(a->name, b->name) != 0)
		return false;
	for (unsigned i = 0; i < a->n_overlay; i++)
		if (!ip_equal(&a->overlay[i], &b->overlay[i]))
			return false;
	/* Both lists have the order of the configuration, which is sorted. */
	if (a->n_prefixes != b->n_prefixes)
		return false;
	for (unsigned i = 0; i < a->n_prefixes; i++)
		if (prefix_compare(&a->prefix[i], &b->prefix[i]) != 0)
			return false;
	return a->n_segments == b->n_segments &&
	       memcmp(a->segment, b->segment, a->n_segments * sizeof(a->segment[0])) == 0 &&
	       is_same_lan(&a->lan, &b->lan) && is_same_endpoint_set(a, b);
}

static void schedule_refresh(struct overlay *o)
{
	int64_t quarter_ms = o->conf->forget_ms / 4;

	o->own.refresh_at = overlay_in(o, quarter_ms * 3 / 4, quarter_ms);
}

static void send_record(struct overlay *o, struct peer *p)
{
	struct msg m = { .type = MSG_RECORD, .record = own_node(o)->rec };

	peer_send(o, p, &m);
}

void own_send(struct overlay *o, struct peer *p)
{
	send_record(o, p);
	p->record_tries = RECORD_TRIES;
	p->due[DUE_RECORD] = overlay_in(o, RECORD_RETRY_MS, RECORD_RETRY_MS * 2);
}

static void announce(struct overlay *o)
{
	for (struct peer *p = NULL; (p = peer_next(o, p));) {
		if (!p->cur)
			continue;
		own_send(o, p);
		schedule_arm(p);
	}
}

void own_refresh(struct overlay *o, bool force)
{
	struct node *self = own_node(o);
	struct msg_record r;

	if (!o->started || o->leaving)
		return;
	own_facts(o, &r);
	if (!force && self->has_record && is_same_facts(&self->rec, &r)) {
		/* forget-time may have decreased. */
		if (mono_sub_ms(o->own.refresh_at, overlay_now(o)) > o->conf->forget_ms / 4)
			schedule_refresh(o);
		return;
	}
	nodedb_set_own(o->nodes, &r, self->rec.incarnation, overlay_now(o));
	sign_own(o);
	schedule_refresh(o);
	announce(o);
	schedule_snapshot(o);
}

void overlay_set_prefixes(struct overlay *o, const struct prefix *p, unsigned n)
{
	o->own.prefixes_are_given = true;
	o->own.n_prefixes = (uint8_t)min_of(n, (unsigned)MSG_PREFIXES_MAX);
	if (n)
		memcpy(o->own.prefix, p, o->own.n_prefixes * sizeof(*p));
	own_refresh(o, false);
}

void overlay_set_segments(struct overlay *o, const struct id_range *served, unsigned n)
{
	o->own.serves_some = served != NULL;
	o->own.n_segments = (uint8_t)min_of(n, (unsigned)MSG_SEGMENTS_MAX);
	if (served)
		memcpy(o->own.segment, served, o->own.n_segments * sizeof(*served));
	own_refresh(o, false);
}

void overlay_set_lan(struct overlay *o, uint16_t lan_flags, const struct record_lan *lan)
{
	o->own.lan_flags = lan_flags & RECORD_LAN_MASK;
	o->own.lan = lan_flags & RECORD_LAN ? *lan : (struct record_lan){ 0 };
	own_refresh(o, false);
}

void overlay_set_accelerates(struct overlay *o, bool accelerates)
{
	o->own.accelerates = accelerates;
	own_refresh(o, false);
}

void own_periodic(struct overlay *o, mono_t now)
{
	own_refresh(o, !mono_before(now, o->own.refresh_at));
}

void own_start(struct overlay *o)
{
	uint64_t wall_us = o->ops.wall_us(o->arg);
	struct msg_record r;

	own_facts(o, &r);
	wall_us = min_of(max_of(wall_us, (uint64_t)1), MSG_INCARNATION_MAX);
	nodedb_set_own(o->nodes, &r, wall_us, overlay_now(o));
	sign_own(o);
	schedule_refresh(o);
}

/*
 * A version of an earlier run with a clock ahead, or a forged version, is exceeded at once. If the
 * version returns repeatedly, another node uses this node-id. This node then reports the duplicate
 * and exceeds the version rarely, so that the two nodes do not compete at line rate.
 */
void own_seen(struct overlay *o, uint64_t incarnation, uint32_t seq)
{
	const struct msg_record *own = &own_node(o)->rec;
	mono_t now = overlay_now(o);

	if (o->leaving || version_cmp(incarnation, seq, own->incarnation, own->seq) <= 0)
		return;
	if (overlay_many_a_minute(o, &o->own.supersedes)) {
		duplicate_suspected(o);
		if (mono_sub_ms(now, o->own.supersede_at) < SUPERSEDE_SLOW_MS)
			return;
	}
	o->own.supersede_at = now;
	nodedb_supersede(o->nodes, incarnation, seq, now);
	sign_own(o);
	announce(o);
	schedule_row(o, ROW_SOON);
}

void own_tick(struct overlay *o, struct peer *p, mono_t now)
{
	if (!schedule_take(p, DUE_RECORD, now))
		return;
	p->due[DUE_RECORD] = overlay_in(o, RECORD_RETRY_MS, RECORD_RETRY_MS * 2);
	if (--p->record_tries == 0)
		p->due[DUE_RECORD] = MONO_NEVER;
	if (p->cur)
		send_record(o, p);
}

void own_leave(struct overlay *o)
{
	struct msg_record r = own_node(o)->rec;

	if (!o->leaving) {
		r.flags |= RECORD_LEFT;
		nodedb_set_own(o->nodes, &r, r.incarnation, overlay_now(o));
		sign_own(o);
		o->leaving = true;
	}
	for (struct peer *p = NULL; (p = peer_next(o, p));)
		if (p->cur)
			send_record(o, p);
}
