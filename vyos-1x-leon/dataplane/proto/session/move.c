// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a peer is. More than an answer to a question goes only to an address at which the peer has
 * shown that it receives: a message from a new address is answered with a PING of an id that nobody
 * can guess, sent there and nowhere else, and when its PONG comes the peer has moved, a round trip
 * after its first message. Control thread. Protocol 3.6.
 */
#include "proto/session/move.h"

#include "proto/agenda.h"
#include "proto/core.h"
#include "proto/measure/link.h"
#include "proto/measure/rtt.h"
#include "proto/service.h"
#include "proto/session/greet.h"

#define MOVE_MS	    10000 /* a claim that was not shown to be true by then is forgotten */
#define AGAIN_MS    100	  /* between two PINGs to one address */
#define MOVES_PER_S 5	  /* PINGs to addresses that one peer claims */
#define MOVES_BURST 5

static bool may_ask_there(struct overlay *o, struct peer *p)
{
	if (!bucket_pass(&p->moves, overlay_now(o), NS_PER_S / MOVES_PER_S,
			 MOVES_BURST * (NS_PER_S / MOVES_PER_S)))
		return false;
	p->moving.asked = overlay_now(o);
	return true;
}

static bool may_ask_anew(struct overlay *o, struct peer *p, const struct endpoint *ep)
{
	struct moving *m = &p->moving;
	mono_t now = overlay_now(o);

	if (!p->cur || !endpoint_is_usable(ep) || endpoint_equal(&p->ep, ep))
		return false;
	/* One id for all attempts, so that a late answer counts. */
	if (!m->id || !endpoint_equal(&m->to, ep) || mono_sub_ms(now, m->since) > MOVE_MS)
		*m = (struct moving){ .to = *ep, .id = rtt_new_id(), .since = now };
	else if (mono_sub_ms(now, m->asked) < AGAIN_MS)
		return false;
	return may_ask_there(o, p);
}

static bool may_ask_again(struct overlay *o, struct peer *p)
{
	if (!p->moving.id)
		return false;
	if (p->cur && mono_sub_ms(overlay_now(o), p->moving.since) <= MOVE_MS)
		return may_ask_there(o, p);
	p->moving = (struct moving){ 0 };
	return false;
}

static void ask_there(struct overlay *o, struct peer *p)
{
	struct via v = { .to = p->moving.to, .n_hops = 1, .hop = { p->id } };

	link_ping(o, p, &v, p->moving.id, 0);
}

void move_claimed(struct overlay *o, struct peer *p, const struct endpoint *ep)
{
	if (may_ask_anew(o, p, ep))
		ask_there(o, p);
}

void move_upkeep(struct overlay *o)
{
	for (uint32_t i = 0; i < o->cap_slots; i++)
		if (o->by_slot[i] && may_ask_again(o, o->by_slot[i]))
			ask_there(o, o->by_slot[i]);
}

void move_to(struct overlay *o, struct peer *p, const struct endpoint *ep)
{
	bool had = p->ep.ip.family;

	if (!endpoint_is_usable(ep) || endpoint_equal(&p->ep, ep))
		return;
	p->ep = *ep;
	agenda_snapshot(o);
	if (had)
		overlay_emit(o, EV_ENDPOINT, p->id, NODE_ID_NONE, 0, NULL);
}

/* The PONG of a PING that went to where it says to be. */
bool move_shown(struct overlay *o, struct peer *p, uint32_t id)
{
	struct endpoint to = p->moving.to;
	bool had = p->ep.ip.family;

	if (!p->moving.id || p->moving.id != id)
		return false;
	p->moving = (struct moving){ 0 };
	move_to(o, p, &to);
	greet_observed(o, p);
	/* What was to be said when the session began could not be sent before. */
	if (!had && p->record_tries)
		p->due[DUE_RECORD] = overlay_now(o);
	agenda_probe(o, p);
	return true;
}
