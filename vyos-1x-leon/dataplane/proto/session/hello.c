// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The receiving half of the handshake (protocol 3.2): answers, and the start of a session. A
 * replayed HELLO opens nothing, because its value is no longer on offer (handshake.c). HELLOs of
 * the same incarnation do not disturb a peer with recent messages. Answers are limited per address
 * and in total (limit.c) and never exceed the request (initiator.c). Called by dispatch.c on the
 * control thread.
 */
#include "proto/session/membership.h"

#include <errno.h>
#include <string.h>

#include "proto/admit/admit.h"
#include "proto/lines/line_pairs.h"
#include "proto/measure/measure.h"
#include "proto/handshake/handshake.h"
#include "proto/share/share.h"

#define CROSSED_MS 1000 /* one of our answers may still be in flight */

/* --- starting a session --- */

/* Sessions with alternating incarnations indicate two nodes with one node-id. HELLOs without a
 * session do not count, because a node restarted with its clock set back sends many HELLOs until
 * its previous session ends. */
static void note_other_run(struct overlay *o, struct peer *p)
{
	if (overlay_many_a_minute(o, &p->hello.restarts) &&
	    overlay_once_a_minute(o, &o->duplicate_event))
		overlay_emit(o, EV_DUPLICATE_ID, p->id, NODE_ID_NONE, 0, NULL);
}

/* HELLOs with another incarnation continue, and the peer in session continues too. A single
 * restarted node does only one of the two, even if its clock was set back. */
static bool are_two(struct overlay *o, struct peer *p)
{
	return overlay_many_a_minute(o, &p->hello.attempts) &&
	       mono_sub_ms(p->received, p->hello.attempts.since) > ALIVE_MS;
}

/* Two curves result in no session. The HELLO is answered nevertheless, so that the peer learns the
 * reason. */
static bool has_other_curve(const struct overlay *o, const struct msg_hello *m)
{
	return keyring_sealed(o->keys) && seal_offer_curve(m->data_offer) != keyring_curve(o->keys);
}

/* Creates a session from the value on offer and the value of the peer. */
static struct session *pair(struct overlay *o, const struct peer *p, uint64_t value,
			    const struct ephemeral *key, const struct msg_hello *m)
{
	struct session_terms t = {
		.self = o->self,
		.peer = p->id,
		.mine = value,
		.theirs = m->session_mine,
		.ephemeral = key,
		.their_public = m->public,
		.their_offer = m->data_offer,
	};

	memcpy(t.their_ids, m->secret, sizeof(t.their_ids));
	o->count.key_exchanges += keyring_sealed(o->keys);
	return session_new(o->keys, &t);
}

static struct session *offered(struct overlay *o, struct peer *p)
{
	struct handshake *f = &p->handshake;

	/* In clear mode a message names only the receiver's value, so it does not prove which value
	 * of the peer is paired with it. A HELLO names both. */
	if (!keyring_sealed(o->keys))
		return NULL;
	/* Computed once per pair of values. An observer of the value can cause no more work than
	 * this. */
	if (f->answers.session_mine && !f->session) {
		const struct rx_hello h = { .m = &f->answers, .to = f->to };

		if (identity_of_hello(o, p, &h))
			f->session = pair(o, p, f->value, &f->key, &f->answers);
		if (!f->session)
			f->answers.session_mine = 0;
	}
	return f->session;
}

/* Includes a peer that was forgotten since. */
static void note_new_run(struct overlay *o, struct peer *p, uint64_t incarnation)
{
	if (p->incarnation == incarnation)
		return;
	if (p->incarnation)
		note_other_run(o, p);
	p->incarnation = incarnation;
	multicast_forget(o, p);
	if (o->ops.new_run)
		o->ops.new_run(o->arg, p->slot);
}

static void establish(struct overlay *o, struct peer *p, struct session *s,
		      const struct rx_hello *h)
{
	uint64_t incarnation = h->m->incarnation;
	mono_t now = overlay_now(o);
	bool renewed = peer_is_alive(o, p) && p->incarnation == incarnation;

	if (!member_bind(o, p)) {
		session_free(s);
		peer_drop(o, p);
		return;
	}
	identity_pin(o, peer_node(o, p), h->m->identity, true);
	/* The session that carries messages is kept for reception. */
	if (!p->prev_sends) {
		session_free(p->prev);
		p->prev = p->cur;
	} else {
		session_free(p->cur);
	}
	p->cur = s;
	p->cur_received = p->prev_sends = false;
	p->secret = h->secret;
	memcpy(p->secrets, h->m->secret, sizeof(p->secrets));
	data_established(o, p, renewed);
	note_new_run(o, p, incarnation);
	p->established = now;
	peer_received(o, p);
	/* The session may use a value offered to a seed; the value on offer to the peer may still
	 * be answered and stays. */
	if (session_mine(s) == p->handshake.value) {
		memcpy(p->cur_public, p->handshake.key.public, sizeof(p->cur_public));
		handshake_cancel(&p->handshake);
	}
	move_session_up(o, p, h);
	multicast_session_up(o, p);
	p->initiator.wait_ms = 0;
	p->due[DUE_HELLO] = mono_add_ms(now, peer_usual_alive_ms(o));
	rekey_established(o, p);
	if (h->proved)
		rekey_confirmed(o, p);
	lines_session_up(o, p);
	if (renewed) {
		rekey_speak_up(o, p);
		p->prev_sends = p->prev && !p->cur_received;
	} else {
		probe_session_up(o, p);
		member_session_up(o, p);
	}
	schedule_arm(p);
}

/* The first message in the offered session proves as much as a HELLO with its echo. */
int hello_open_offered(struct overlay *o, struct peer *p, const struct endpoint *direct,
		       uint8_t *data, size_t hdr_len, size_t len, uint8_t **msg, size_t *msg_len)
{
	struct session *s = offered(o, p);
	int err = s ? session_open(s, data, hdr_len, len, msg, msg_len) : -ENOKEY;

	if (err)
		return err;
	p->handshake.session = NULL;
	establish(o, p, s,
		  &(struct rx_hello){ .m = &p->handshake.answers,
				      .secret = p->handshake.secret,
				      .direct = direct,
				      .proved = true,
				      .returned = handshake_returned(&p->handshake, direct) });
	return 0;
}

/* --- reception --- */

static bool lists_ip(const struct node *n, const struct ip_addr *ip)
{
	for (unsigned i = 0; n->has_record && i < n->rec.n_locators; i++)
		if (ip_equal(&n->rec.locator[i].ip, ip))
			return true;
	return false;
}

/*
 * Clear mode: nothing is authenticated, so only addresses from the configuration or from a member's
 * record count. A known node must use one of its own addresses; a node behind relays must have a
 * record.
 */
static bool is_introduced(struct overlay *o, const struct endpoint *from, const struct leon_hdr *h)
{
	const struct node *n = nodedb_find(o->nodes, h->source);

	if (seed_of_address(o, &from->ip))
		return true;
	if (!n || n->state == NODE_LEFT || !n->has_record)
		return false;
	return h->n_hops > 1 || lists_ip(n, &from->ip);
}

/* A configured peer whose datagrams do not open has another secret, or none. */
static void suspect_secret(struct overlay *o, const struct endpoint *from, node_id_t source)
{
	const struct seed *seed = seed_of_address(o, &from->ip);

	/* A peer in session has the secret, so its address was spoofed. */
	if (!seed || seed->alive || !overlay_once_a_minute(o, &o->secret_event))
		return;
	overlay_emit(o, EV_SECRET_MISMATCH, source, NODE_ID_NONE, 0, NULL);
}

static bool open_hello(struct overlay *o, const struct endpoint *from, uint8_t *data, size_t len,
		       const struct leon_hdr *h, size_t hdr_len, struct msg *m, uint32_t *secret)
{
	size_t msg_len;
	uint8_t *msg;

	if (!limit_may_open(o, from)) {
		o->count.rx_rate_limited++;
		return false;
	}
	if (hello_open(o->keys, secret, data, hdr_len, len, &msg, &msg_len)) {
		o->count.rx_not_authentic++;
		suspect_secret(o, from, h->source);
		diagnosis_not_opened(o, from, h);
		return false;
	}
	if (!keyring_sealed(o->keys) && !is_introduced(o, from, h)) {
		o->count.rx_stranger++;
		return false;
	}
	if (msg_decode(msg, msg_len, m) || (m->type != MSG_HELLO && m->type != MSG_CONFLICT)) {
		o->count.rx_malformed++;
		return false;
	}
	o->count.rx_by_type[m->type]++;
	if (m->type == MSG_CONFLICT || h->source == o->self)
		return true;
	/* The claimed identity suffices for a refusal; its proof is checked later. No answer. */
	if (!trust_passes(o, h->source, m->hello.identity)) {
		diagnosis_note(o, from, SEED_NOT_TRUSTED);
		return false;
	}
	if (has_other_curve(o, &m->hello))
		diagnosis_other_curve(o, from, h->source);
	else
		diagnosis_note(o, from, SEED_INITIATES);
	return true;
}

/* Cases 2 and 3 of protocol 3.2: our value was echoed. It was offered to the peer or to a seed. */
static void accept(struct overlay *o, struct peer *p, const struct ephemeral *key,
		   const struct rx_hello *h)
{
	const struct msg_hello *m = h->m;
	bool notify = p->handshake.answers.session_mine != m->session_mine;
	struct session *s;
	uint8_t public[DH_KEY_LEN];

	if (has_other_curve(o, m))
		return;
	if (!identity_of_hello(o, p, h)) {
		if (peer_is_alive(o, p))
			duplicate_proved(o, p, h);
		return;
	}
	s = pair(o, p, m->session_yours, key, m);
	if (!s) {
		o->count.rx_not_authentic++;
		return;
	}
	memcpy(public, key->public, sizeof(public));
	establish(o, p, s, h);
	if (p->slot == SLOT_NONE)
		return;
	memcpy(p->cur_public, public, sizeof(public));
	if (m->observed.ip.family)
		p->observed = m->observed;
	/* The peer has already received our value as the answer to its own. */
	if (notify)
		initiator_send(o, &h->back,
			       &(struct initiation){ m->session_yours, m->session_mine, public,
						     h->direct, h->secret });
}

/* Requests new keys within the current session. */
static bool is_rekey(const struct peer *p, const struct msg_hello *m)
{
	return m->session_yours == session_mine(p->cur) &&
	       m->session_mine != session_theirs(p->cur);
}

/* Answers a peer in session at its verified endpoint, not at the source of the HELLO, which may be
 * a replay. */
static void answer_known(struct overlay *o, struct peer *p, const struct rx_hello *h)
{
	struct initiation g = { .mine = session_mine(p->cur),
				.yours = h->m->session_mine,
				.observed = &p->ep,
				.secret = h->secret };
	struct handshake *f = NULL;
	struct via known;

	if (is_rekey(p, h->m) && keyring_sealed(o->keys)) {
		f = handshake_of(o, p);
		handshake_answers(o, f, h);
		g.mine = f->value;
		g.public = f->key.public;
	}
	if (!via_best(o, p, &known))
		return;
	if (f)
		handshake_sent(f, &known);
	initiator_send(o, &known, &g);
}

/*
 * Clear mode: the peer shows our value of this session beside another of its own, so each end has
 * paired the value differently. The peer's messages open here all the same, but it cannot read
 * ours, and requests a new handshake.
 */
static bool is_paired_otherwise(const struct overlay *o, const struct peer *p,
				const struct msg_hello *m)
{
	return p && p->cur && !keyring_sealed(o->keys) && is_rekey(p, m);
}

/* Cases 4 to 7: a request. */
static void answer(struct overlay *o, struct peer *p, const struct leon_hdr *hdr,
		   const struct rx_hello *h)
{
	const struct msg_hello *m = h->m;
	bool quiet = p && peer_is_alive(o, p) && m->incarnation <= p->incarnation;
	struct handshake *f;

	/* In session with this incarnation: nothing to open. The HELLO may come from a configured
	 * peer that looks for the node at an address. */
	if (quiet && m->incarnation < p->incarnation && h->direct &&
	    !endpoint_equal(h->direct, &p->ep) && are_two(o, p))
		duplicate_attempt(o, p, h);
	if (quiet && !is_rekey(p, m) &&
	    (hdr->hop[0] != NODE_ID_ANY || m->incarnation != p->incarnation))
		return;
	if (!limit_may_answer(o, h->from)) {
		o->count.rx_rate_limited++;
		return;
	}
	if (quiet) {
		answer_known(o, p, h);
		return;
	}
	if (!p)
		p = peer_new_pending(o, hdr->source);
	if (!p) {
		o->count.rx_rate_limited++;
		return;
	}
	f = handshake_of(o, p);
	handshake_answers(o, f, h);
	initiator_handshake(o, &h->back, f,
			    &(struct initiation){ f->value, m->session_mine, f->key.public,
						  h->direct, h->secret });
}

/*
 * Both nodes have requested and received the other's answer, so two sessions are possible. The
 * lower node-id creates one from its own request, and the other waits for it, for a limited time
 * because a message may be lost.
 */
static bool is_crossed(const struct overlay *o, const struct peer *p)
{
	const struct handshake *f = &p->handshake;

	return o->self > p->id && f->value && f->answers.session_mine &&
	       mono_is_recent(f->answered, CROSSED_MS, overlay_now(o));
}

/* The answer to a seed's HELLO names the node at that address. */
static void seed_answered(struct overlay *o, struct peer *p, const struct seed *seed,
			  const struct leon_hdr *hdr, const struct rx_hello *h)
{
	const struct msg_hello *m = h->m;

	if (p && peer_is_alive(o, p) && m->incarnation <= p->incarnation)
		return;
	/* The value on offer answered this value; the peer is pairing the two. */
	if (p && p->handshake.value && p->handshake.answers.session_mine == m->session_mine)
		return;
	if (p && is_crossed(o, p))
		return;
	if (!p)
		p = peer_new_pending(o, hdr->source);
	if (p)
		accept(o, p, &seed->key, h);
}

/* A sender with the secret reaches this point, so its identity is checked here. */
static void note_observed(struct overlay *o, struct peer *p, const struct rx_hello *h)
{
	const struct endpoint *observed = &h->m->observed;

	if (observed->ip.family && !endpoint_equal(observed, &p->observed) &&
	    bucket_pass(&p->hello.observing, overlay_now(o), NS_PER_S, 5 * NS_PER_S) &&
	    identity_of_hello(o, p, h))
		p->observed = *observed;
}

void hello_input(struct overlay *o, const struct endpoint *from, uint8_t *data, size_t len,
		 const struct leon_hdr *hdr, size_t hdr_len)
{
	struct msg msg;
	const struct msg_hello *m = &msg.hello;
	struct rx_hello h = { .m = m,
			      .to = hdr->hop[hdr->n_hops - 1],
			      .from = from,
			      .direct = hdr->n_hops == 1 ? from : NULL };
	struct seed *seed;
	struct peer *p;
	unsigned at;

	if (!open_hello(o, from, data, len, hdr, hdr_len, &msg, &h.secret) ||
	    !via_back(o, from, hdr, &h.back))
		return;
	if (msg.type == MSG_CONFLICT) {
		duplicate_refused(o, hdr->source, &msg.conflict, &h);
		return;
	}
	if (hdr->source == o->self) {
		duplicate_own_hello(o, &h);
		return;
	}
	p = peer_find(o, hdr->source);
	seed = m->session_yours ? seed_of_value(o, m->session_yours, &at) : NULL;
	if (seed) {
		seed->reached = hdr->source;
		seed->value[at] = 0; /* a value is paired once */
	}
	if (p && p->cur && m->session_mine == session_theirs(p->cur)) {
		/* Case 1; another own value is not paired with it, because a value is paired
		 * once. */
		if (seed || m->session_yours == session_mine(p->cur))
			note_observed(o, p, &h);
		return;
	}
	h.returned = seed ? h.direct && endpoint_same_address(h.direct, &seed->ep[at])
			  : p && handshake_returned(&p->handshake, h.direct);
	if ((p && p->handshake.value && m->session_yours == p->handshake.value) ||
	    is_paired_otherwise(o, p, m))
		accept(o, p, &p->handshake.key, &h);
	else if (seed)
		seed_answered(o, p, seed, hdr, &h);
	else
		answer(o, p, hdr, &h);
}
