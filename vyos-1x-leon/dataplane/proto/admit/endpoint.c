// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a peer is. More than an answer to a question goes only to an address at which the peer has
 * shown that it receives: a message from a new address is answered with a PING of an id that nobody can
 * guess, sent there and nowhere else, and when its PONG comes the peer has moved, a round trip after its
 * first message. Addresses that only a record names are asked rarely, whoever they belong to. So a
 * member cannot have the others flood a third party. Decides and counts; peer.c sends. Control thread.
 * Protocol 3.6.
 */
#include <string.h>

#include "proto/core.h"

#define MOVE_MS	    10000 /* a claim that was not shown to be true by then is forgotten */
#define AGAIN_MS    100	  /* between two PINGs to one address */
#define MOVES_PER_S 5	  /* PINGs to addresses that one peer claims */
#define MOVES_BURST 5

/* HELLOs and PINGs to addresses that records name; each has some 250 bytes at most. */
#define HOST_MS	     30000 /* to one IPv4 address or IPv6 /64, in the long run */
#define HOST_BURST   6	   /* the first attempts to a node that lives there */
#define NET_MS	     500   /* to one IPv4 /24 or IPv6 /48 */
#define NET_BURST    256
#define TELLER_MS    50 /* to addresses that one member told of */
#define TELLER_BURST 1024

static int64_t ms_ns(int64_t ms)
{
	return ms * NS_PER_MS;
}

/* A place is shared with whoever else has it, which costs a retry later: an empty one for each newcomer
 * would let somebody who names many addresses begin anew all the time. */
static struct bucket *place(struct overlay *o, struct bucket table[ASKED_PLACES], const void *name,
			    size_t len)
{
	return &table[siphash(&o->hash_key, name, len) % ASKED_PLACES];
}

bool endpoint_may_ask(struct overlay *o, const struct node *n, const struct endpoint *to)
{
	const struct ip_addr *ip = &to->ip;
	node_id_t teller = n->proven || n->by == NODE_ID_NONE ? n->id : n->by;
	size_t host_len = ip->family == 6 ? 8 : 4, net_len = ip->family == 6 ? 6 : 3;
	mono_t now = overlay_now(o);

	return bucket_pass(place(o, o->asked_by, &teller, sizeof(teller)), now, ms_ns(TELLER_MS),
			   TELLER_BURST * ms_ns(TELLER_MS)) &&
	       bucket_pass(place(o, o->asked_host, ip->b, host_len), now, ms_ns(HOST_MS),
			   HOST_BURST * ms_ns(HOST_MS)) &&
	       bucket_pass(place(o, o->asked_net, ip->b, net_len), now, ms_ns(NET_MS),
			   NET_BURST * ms_ns(NET_MS));
}

/* --- a peer that moves --- */

static bool may_ask_there(struct overlay *o, struct peer *p)
{
	if (!bucket_pass(&p->moves, overlay_now(o), NS_PER_S / MOVES_PER_S,
			 MOVES_BURST * (NS_PER_S / MOVES_PER_S)))
		return false;
	p->moving.asked = overlay_now(o);
	return true;
}

bool endpoint_claim(struct overlay *o, struct peer *p, const struct endpoint *ep)
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

bool endpoint_retry(struct overlay *o, struct peer *p)
{
	if (!p->moving.id)
		return false;
	if (p->cur && mono_sub_ms(overlay_now(o), p->moving.since) <= MOVE_MS)
		return may_ask_there(o, p);
	p->moving = (struct moving){ 0 };
	return false;
}
