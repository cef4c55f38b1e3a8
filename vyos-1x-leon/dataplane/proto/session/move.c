// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Endpoint mobility. Traffic beyond an answer goes only to an address at which the peer has proved
 * that it receives. A message from a new address triggers a PING with an unpredictable id to that
 * address only. The PONG proves the address, and the peer's endpoint changes one round trip after
 * its first message. Control thread. Protocol 3.6.
 */
#include "proto/session/move.h"

#include "proto/schedule.h"
#include "proto/core.h"
#include "proto/measure/link.h"
#include "proto/measure/rtt.h"
#include "proto/service.h"
#include "proto/session/initiator.h"

#define MOVE_MS	    10000 /* lifetime of an unproved address */
#define AGAIN_MS    100	  /* minimum interval of PINGs to one address */
#define MOVES_PER_S 5	  /* PINGs per second to addresses claimed by one peer */
#define MOVES_BURST 5

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

/* The peer claims to be at `ep`; its endpoint changes after an answer from there. */
static void claimed(struct overlay *o, struct peer *p, const struct endpoint *ep)
{
	struct moving *m = &p->move.now;
	mono_t now = overlay_now(o);

	if (!p->cur || !endpoint_is_usable(ep) || endpoint_equal(&p->ep, ep))
		return;
	/* One id for all attempts, so that a late answer counts. */
	if (!m->id || !endpoint_equal(&m->to, ep) || mono_sub_ms(now, m->since) > MOVE_MS)
		*m = (struct moving){ .to = *ep, .id = rtt_new_id(), .since = now };
	else if (mono_sub_ms(now, m->requested) < AGAIN_MS)
		return;
	query_there(o, p);
}

void move_periodic(struct overlay *o)
{
	for (uint32_t i = 0; i < o->cap_slots; i++)
		if (o->by_slot[i])
			query_again(o, o->by_slot[i]);
}

/* Makes the proved address `ep` the peer's endpoint. */
static void follow(struct overlay *o, struct peer *p, const struct endpoint *ep)
{
	bool had = p->ep.ip.family;

	if (!endpoint_is_usable(ep) || endpoint_equal(&p->ep, ep))
		return;
	p->ep = *ep;
	schedule_snapshot(o);
	if (had)
		overlay_emit(o, EV_ENDPOINT, p->id, NODE_ID_NONE, 0, NULL);
}

void move_session_up(struct overlay *o, struct peer *p, const struct rx_hello *h)
{
	p->move.counter = 0;
	if (!h->direct)
		return;
	p->move.received_direct = overlay_now(o);
	if (h->returned)
		follow(o, p, h->direct);
	else
		claimed(o, p, h->direct);
}

void move_received(struct overlay *o, struct peer *p, const struct endpoint *from, uint64_t counter)
{
	p->move.received_direct = overlay_now(o);
	if (counter <= p->move.counter)
		return;
	p->move.counter = counter;
	claimed(o, p, from);
}

bool move_proved(struct overlay *o, struct peer *p, uint32_t id)
{
	struct endpoint to = p->move.now.to;
	bool had = p->ep.ip.family;

	if (!p->move.now.id || p->move.now.id != id)
		return false;
	p->move.now = (struct moving){ 0 };
	follow(o, p, &to);
	initiator_observed(o, p);
	/* Messages of the session start could not be sent before. */
	if (!had && p->record_tries)
		p->due[DUE_RECORD] = overlay_now(o);
	schedule_probe(o, p);
	return true;
}
