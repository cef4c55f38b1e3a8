// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Detection of a duplicate node-id: a cloned machine with its identity key, or a number assigned
 * twice. One of the nodes is in session with this node and the other is not, so neither can detect
 * the conflict alone. A node that sees both reports it to both (CONFLICT, protocol 4.11), and a
 * node that receives a HELLO with its own node-id requests a proof.
 *
 * Only an echo of a value that was just offered counts. Own datagrams reflected by a NAT, messages
 * of an earlier run and replays are therefore not mistaken for another node. The result is shown to
 * operators and changes nothing. Control thread.
 */
#include "proto/session/membership.h"

#include <string.h>

#include "proto/handshake/handshake.h"

#define NOTIFY_AGAIN_MS 10000
#define VALUE_MS	PENDING_MS

static void emit(struct overlay *o, const struct duplicate *r)
{
	if (overlay_once_a_minute(o, &o->duplicate.event))
		overlay_emit(o, EV_DUPLICATE_ID, o->self, r->by, r->same_identity,
			     r->ep.ip.family ? ENDPOINT_TEXT(&r->ep) : "");
}

static void note_own(struct overlay *o, const struct endpoint *ep, bool same, node_id_t by)
{
	o->duplicate.seen =
		(struct duplicate){ .at = overlay_now(o), .same_identity = same, .by = by };
	if (ep)
		o->duplicate.seen.ep = *ep;
	emit(o, &o->duplicate.seen);
}

void duplicate_suspected(struct overlay *o)
{
	/* A more specific report exists already. */
	if (mono_is_never(o->duplicate.seen.at) ||
	    mono_sub_ms(overlay_now(o), o->duplicate.seen.at) > NOTIFY_AGAIN_MS)
		note_own(o, NULL, true, NODE_ID_NONE);
}

/* Sent in the envelope of a HELLO to the source of the request, because no session exists. */
static void send_outside(struct overlay *o, struct msg *m, const struct rx_hello *h)
{
	size_t hdr_len = via_header(o, &h->back, o->buf);
	int len;

	if (!limit_may_answer(o, h->from))
		return;
	sign_conflict(o, &m->conflict, h->back.hop[h->back.n_hops - 1]);
	len = msg_encode(m, o->buf + hdr_len + ENVELOPE_HELLO_LEN, MSG_HELLO_LEN);
	if (len > 0)
		len = hello_seal(o->keys, h->secret, o->buf, hdr_len, (size_t)len, sizeof(o->buf));
	if (len > 0)
		via_transmit(o, &h->back, (size_t)len, MSG_CONFLICT);
}

/* Addressed to NODE_ID_ANY: a datagram from our node-id to our node-id would name a node twice. */
static void send_to_anyone(struct overlay *o, struct msg *m, const struct rx_hello *h)
{
	struct rx_hello there = { .from = h->from, .secret = h->secret };

	there.back = (struct via){ .to = *h->from, .n_hops = 1, .hop = { NODE_ID_ANY } };
	send_outside(o, m, &there);
}

/* Returns the value that the other node must echo, for a limited time. */
static uint64_t value_to_echo(const struct overlay *o, struct duplicate_state *d)
{
	if (!d->value || mono_sub_ms(overlay_now(o), d->value_at) > VALUE_MS) {
		d->value = random_u64_nonzero();
		d->value_at = overlay_now(o);
	}
	return d->value;
}

/* --- a peer in session and another node with its node-id --- */

/* With `mine` not 0 the receiver must echo it, which proves its presence. */
static void refuse(struct overlay *o, const struct peer *p, const struct rx_hello *h, uint64_t mine,
		   bool same)
{
	struct msg m = { .type = MSG_CONFLICT,
			 .conflict = { .mine = mine,
				       .yours = h->m->session_mine,
				       .incarnation = p->incarnation,
				       .same_identity = same } };

	if (endpoint_is_usable(&p->ep))
		m.conflict.at = p->ep;
	send_outside(o, &m, h);
}

/* A node in session is notified in its session, which no other node can use. */
static void warn(struct overlay *o, struct peer *p, const struct endpoint *at, uint64_t incarnation,
		 bool same)
{
	struct msg m = { .type = MSG_CONFLICT,
			 .conflict = { .incarnation = incarnation, .same_identity = same } };

	if (mono_is_recent(p->duplicate.sent_at, NOTIFY_AGAIN_MS, overlay_now(o)))
		return;
	p->duplicate.sent_at = overlay_now(o);
	if (at && endpoint_is_usable(at))
		m.conflict.at = *at;
	peer_send(o, p, &m);
}

static bool is_same(const struct overlay *o, const struct peer *p, const uint8_t key[MSG_KEY_LEN])
{
	const struct node *n = peer_node(o, p);

	return n && n->has_key && memcmp(n->key, key, MSG_KEY_LEN) == 0;
}

/* The other node has proved its presence. */
static void note_of_peer(struct overlay *o, struct peer *p, const struct endpoint *at,
			 uint64_t incarnation, bool same)
{
	mono_t now = overlay_now(o);

	p->duplicate.seen = (struct duplicate){ .at = now, .same_identity = same };
	if (at)
		p->duplicate.seen.ep = *at;
	warn(o, p, at, incarnation, same);
	if (overlay_once_a_minute(o, &o->duplicate_event))
		overlay_emit(o, EV_DUPLICATE_ID, p->id, NODE_ID_NONE, 0, NULL);
}

static bool is_genuine(const struct overlay *o, const struct peer *p, const struct rx_hello *h)
{
	return peer_node(o, p) && conf_trusts(o->conf, h->m->identity) &&
	       sign_holds_hello(o, p->id, h);
}

void duplicate_attempt(struct overlay *o, struct peer *p, const struct rx_hello *h)
{
	if (!bucket_pass(&p->duplicate.checks, overlay_now(o), NS_PER_S, 5 * NS_PER_S) ||
	    !is_genuine(o, p, h))
		return;
	refuse(o, p, h, value_to_echo(o, &p->duplicate), is_same(o, p, h->m->identity));
}

void duplicate_proved(struct overlay *o, struct peer *p, const struct rx_hello *h)
{
	bool same;

	if (!is_genuine(o, p, h))
		return;
	same = is_same(o, p, h->m->identity);
	refuse(o, p, h, 0, same);
	note_of_peer(o, p, h->direct, h->m->incarnation, same);
}

/* Returns true if the other node echoed the value of duplicate_attempt(). */
static bool take_echo(struct overlay *o, node_id_t source, const struct msg_conflict *c,
		      const struct rx_hello *h)
{
	struct peer *p = peer_find(o, source);

	if (!p || !p->cur || !c->yours || c->yours != p->duplicate.value)
		return false;
	if (!conf_trusts(o->conf, c->identity) || !sign_holds_conflict(o, c, source, h->to)) {
		o->count.rx_bad_signature++;
		return true;
	}
	p->duplicate.value = 0;
	note_of_peer(o, p, h->direct, 0, is_same(o, p, c->identity));
	return true;
}

/* --- reports about our own node-id --- */

/* Returns true if this node offered the value, to the node or to any node at the address. */
static bool is_offered(struct overlay *o, node_id_t to, uint64_t value)
{
	const struct peer *p = peer_find(o, to);
	unsigned at;

	if (value == 0)
		return false;
	if (seed_of_value(o, value, &at) || (to == o->self && value == o->duplicate.value))
		return true;
	return p && (p->handshake.value == value || (p->cur && session_mine(p->cur) == value));
}

void duplicate_conflict(struct overlay *o, const struct peer *p, const struct msg_conflict *c)
{
	note_own(o, &c->at, c->same_identity, p->id);
}

void duplicate_refused(struct overlay *o, node_id_t source, const struct msg_conflict *c,
		       const struct rx_hello *h)
{
	bool from_itself = source == o->self;
	struct msg m = { .type = MSG_CONFLICT, .conflict = { .yours = c->mine } };

	/* Our own message, reflected. */
	if (from_itself && c->mine && c->mine == o->duplicate.value)
		return;
	if (!from_itself && take_echo(o, source, c, h))
		return;
	if (!is_offered(o, source, c->yours) || !conf_trusts(o->conf, c->identity))
		return;
	if (!sign_holds_conflict(o, c, source, h->to)) {
		o->count.rx_bad_signature++;
		return;
	}
	if (from_itself)
		note_own(o, h->direct,
			 memcmp(c->identity, o->identity.public, sizeof(c->identity)) == 0,
			 NODE_ID_NONE);
	else
		note_own(o, &c->at, c->same_identity, source);
	if (c->mine && from_itself)
		send_to_anyone(o, &m, h);
	else if (c->mine)
		send_outside(o, &m, h);
}

/* A HELLO with our node-id as its source. */
void duplicate_own_hello(struct overlay *o, const struct rx_hello *h)
{
	const struct msg_hello *hello = h->m;
	struct msg m = { .type = MSG_CONFLICT, .conflict = { .yours = hello->session_mine } };
	unsigned at;

	if (seed_of_value(o, hello->session_mine, &at)) {
		diagnosis_note(o, h->from, SEED_SELF);
		return;
	}
	if (!h->direct || h->to != NODE_ID_ANY)
		return;
	m.conflict.mine = value_to_echo(o, &o->duplicate);
	send_to_anyone(o, &m, h);
}
