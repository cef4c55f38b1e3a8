// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Endpoint mobility. Traffic beyond an answer goes only to an address at which the peer has proved
 * that it receives. A message from a new address triggers a PING with an unpredictable id to that
 * address only. The PONG proves the address, and the peer's endpoint changes one round trip after
 * its first message. Control thread. Protocol 3.6.
 */
#include "proto/session/membership.h"

#include "proto/overlay.h"
#include "proto/lines/line_pairs.h"
#include "proto/measure/measure.h"
#include "proto/handshake/handshake.h"

#define MOVE_MS	    10000 /* lifetime of an unproved address */
#define AGAIN_MS    100	  /* minimum interval of PINGs to one address */
#define MOVES_PER_S 5	  /* PINGs per second to addresses claimed by one peer */
#define MOVES_BURST 5

/* One of the two is a stream, and the other is an address of UDP. */
static bool is_other_transport(const struct endpoint *a, const struct endpoint *b)
{
	return a->ip.family && b->ip.family && endpoint_is_stream(a) != endpoint_is_stream(b);
}

/* Sends a PING to the claimed address only. */
static void query_there(struct overlay *o, struct peer *p)
{
	struct via v = { .to = p->move.now.to, .n_hops = 1, .hop = { p->id } };

	if (!bucket_pass(&p->move.asking, overlay_now(o), NS_PER_S / MOVES_PER_S,
			 MOVES_BURST * (NS_PER_S / MOVES_PER_S)))
		return;
	p->move.now.requested = overlay_now(o);
	link_ping(o, p, &v, p->move.now.id, 0);
}

static void query_again(struct overlay *o, struct peer *p)
{
	if (!p->move.now.id)
		return;
	if (p->cur && mono_sub_ms(overlay_now(o), p->move.now.since) <= MOVE_MS)
		query_there(o, p);
	else
		p->move.now = (struct moving){ 0 };
}

/* A stream is no address of a message, and only this host offers one. */
static bool may_be_at(const struct endpoint *ep)
{
	return endpoint_is_usable(ep) || endpoint_is_stream(ep);
}

/* The connection that the node with the lower node-id began. */
static bool is_preferred(const struct overlay *o, const struct peer *p, const struct endpoint *ep)
{
	return !(ep->ip.b[2] & IP_STREAM_ACCEPTED) == (o->self < p->id);
}

/* Both ends began a connection, and both must use the same one. */
static bool is_superfluous(const struct overlay *o, const struct peer *p, const struct endpoint *ep)
{
	return endpoint_is_stream(&p->ep) && endpoint_is_stream(ep) && p->probe.up &&
	       !p->probe.silent && is_preferred(o, p, &p->ep) && !is_preferred(o, p, ep);
}

static void begin_claim(struct overlay *o, struct peer *p, const struct endpoint *ep)
{
	p->move.now = (struct moving){ .to = *ep, .id = rtt_new_id(), .since = overlay_now(o) };
	if (is_other_transport(&p->ep, ep))
		schedule_snapshot(o); /* move_backup() */
}

/* The peer claims to be at `ep`; its endpoint changes after an answer from there. */
static void claimed(struct overlay *o, struct peer *p, const struct endpoint *ep)
{
	struct moving *m = &p->move.now;
	mono_t now = overlay_now(o);

	if (!p->cur || !may_be_at(ep) || endpoint_equal(&p->ep, ep) || is_superfluous(o, p, ep))
		return;
	/* One id for all attempts, so that a late answer counts. */
	if (!m->id || !endpoint_equal(&m->to, ep) || mono_sub_ms(now, m->since) > MOVE_MS)
		begin_claim(o, p, ep);
	else if (mono_sub_ms(now, m->requested) < AGAIN_MS)
		return;
	query_there(o, p);
}

struct endpoint move_backup(const struct peer *p)
{
	const struct moving *m = &p->move.now;

	return m->id && is_other_transport(&p->ep, &m->to) ? m->to : p->backup;
}

void overlay_offer_endpoint(struct overlay *o, node_id_t node, const struct endpoint *ep)
{
	struct peer *p = peer_find(o, node);

	if (p)
		claimed(o, p, ep);
}

void overlay_endpoint_ended(struct overlay *o, const struct endpoint *ep)
{
	for (struct peer *p = NULL; (p = peer_next(o, p));) {
		if (endpoint_equal(&p->backup, ep)) {
			p->backup = (struct endpoint){ 0 };
			schedule_snapshot(o);
		}
		if (endpoint_equal(&p->move.now.to, ep))
			p->move.now = (struct moving){ 0 };
		if (endpoint_equal(&p->ep, ep))
			schedule_probe(o, p);
	}
}

bool overlay_uses_endpoint(const struct overlay *o, const struct endpoint *ep)
{
	for (const struct peer *p = NULL; (p = peer_next(o, p));)
		if (endpoint_equal(&p->ep, ep) || endpoint_equal(&p->backup, ep))
			return true;
	return false;
}

void move_periodic(struct overlay *o)
{
	for (struct peer *p = NULL; (p = peer_next(o, p));) {
		query_again(o, p);
		if (p->move.unreported)
			p->move.unreported = !initiator_observed(o, p);
	}
}

/* Makes the proved address `ep` the peer's endpoint. rtt_us: round-trip time there; 0: unknown. */
static void follow(struct overlay *o, struct peer *p, const struct endpoint *ep, uint32_t rtt_us)
{
	bool had = p->ep.ip.family, changes = is_other_transport(&p->ep, ep);

	if (!may_be_at(ep) || endpoint_equal(&p->ep, ep))
		return;
	if (changes)
		p->backup = p->ep;
	p->ep = *ep;
	schedule_snapshot(o);
	if (changes) {
		link_state_transport_changed(o, p, rtt_us);
		overlay_emit(o, EV_LINK_TRANSPORT, p->id, NODE_ID_NONE, 0, NULL);
	} else if (had)
		overlay_emit(o, EV_ENDPOINT, p->id, NODE_ID_NONE, 0, NULL);
}

void move_session_up(struct overlay *o, struct peer *p, const struct rx_hello *h)
{
	p->move.counter = 0;
	if (!h->direct)
		return;
	p->move.received_direct = overlay_now(o);
	if (lines_choose_for(p, h->direct))
		return;
	if (h->returned)
		follow(o, p, h->direct, 0);
	else
		claimed(o, p, h->direct);
}

void move_received(struct overlay *o, struct peer *p, const struct endpoint *from, uint64_t counter)
{
	p->move.received_direct = overlay_now(o);
	if (counter <= p->move.counter)
		return;
	p->move.counter = counter;
	if (!lines_has(p, from))
		claimed(o, p, from);
}

bool move_proved(struct overlay *o, struct peer *p, uint32_t id)
{
	struct endpoint to = p->move.now.to;
	int64_t rtt_us = mono_sub_us(overlay_now(o), p->move.now.requested);
	bool had = p->ep.ip.family;

	if (!p->move.now.id || p->move.now.id != id)
		return false;
	p->move.now = (struct moving){ 0 };
	follow(o, p, &to, (uint32_t)max_of(min_of(rtt_us, (int64_t)UINT32_MAX), (int64_t)1));
	p->move.unreported = !initiator_observed(o, p);
	/* Messages of the session start could not be sent before. */
	if (!had && p->record_tries)
		p->due[DUE_RECORD] = overlay_now(o);
	schedule_probe(o, p);
	return true;
}
