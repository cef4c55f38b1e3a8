// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Transmission of HELLOs: to peers without a session, to addresses with an unknown node, for new
 * keys, and to complete a handshake. hello.c handles received HELLOs. Control thread. Protocol 3.2.
 */
#include "proto/handshake/handshake.h"

#include <string.h>

#include "proto/admit/admit.h"

/* All HELLOs are padded to the longest, so that no answer is larger than its request. */
bool initiator_send(struct overlay *o, const struct via *v, const struct initiation *g)
{
	struct msg m = { .type = MSG_HELLO };
	size_t hdr_len = via_header(o, v, o->buf);
	uint8_t *text = o->buf + hdr_len + ENVELOPE_HELLO_LEN;
	int len;

	m.hello.incarnation = nodedb_at(o->nodes, SLOT_SELF)->rec.incarnation;
	m.hello.session_mine = g->mine;
	m.hello.session_yours = g->yours;
	m.hello.port_hint = o->conf->port;
	m.hello.data_offer = keyring_offer(o->keys);
	keyring_ids(o->keys, m.hello.secret);
	if (g->public)
		memcpy(m.hello.public, g->public, sizeof(m.hello.public));
	if (g->observed && endpoint_is_usable(g->observed))
		m.hello.observed = *g->observed;
	sign_hello(o, &m.hello, v->hop[v->n_hops - 1]);
	memset(text, 0, MSG_HELLO_LEN);
	len = msg_encode(&m, text, MSG_HELLO_LEN);
	if (len > 0)
		len = hello_seal(o->keys, g->secret, o->buf, hdr_len, MSG_HELLO_LEN,
				 sizeof(o->buf));
	if (len < 0)
		return false;
	via_transmit(o, v, (size_t)len, MSG_HELLO);
	return true;
}

bool initiator_address(struct overlay *o, const struct endpoint *ep, uint64_t value,
		       const struct ephemeral *key)
{
	struct via v = { .to = *ep, .n_hops = 1, .hop = { NODE_ID_ANY } };
	struct initiation g = { .mine = value, .public = key->public };
	bool sent = false;

	for (v.to.line = 0; v.to.line < o->n_lines; v.to.line++)
		sent |= initiator_send(o, &v, &g);
	return sent;
}

/* A peer that does not answer may not have our own secret yet; some HELLOs use the secret that the
 * peer used last. */
static uint32_t secret_for(const struct peer *p, uint32_t tries)
{
	return tries % 2 ? p->secret : 0;
}

void initiator_handshake(struct overlay *o, const struct via *v, struct handshake *f,
			 const struct initiation *g)
{
	handshake_sent(f, v);
	initiator_send(o, v, g);
}

/* Sends a HELLO on each line, on the line in use last. */
static void send_on_lines(struct overlay *o, const struct via *v, struct handshake *f,
			  const struct initiation *g)
{
	struct via other = *v;

	for (uint8_t line = 0; line < o->n_lines; line++) {
		other.to.line = line;
		if (line != v->to.line && !o->line[line].lost && !endpoint_is_stream(&v->to))
			initiator_handshake(o, &other, f, g);
	}
	initiator_handshake(o, v, f, g);
}

/* Sends one HELLO to every address of the peer, and one along relays if a path is known. */
static void send_to_all_endpoints(struct overlay *o, struct peer *p)
{
	const struct node *n = peer_node(o, p);
	struct handshake *f = handshake_of(o, p);
	struct initiation g = { f->value, f->answers.session_mine, f->key.public, &p->ep,
				secret_for(p, p->initiator.tries++) };
	struct via v;

	if (via_direct(p, &v))
		send_on_lines(o, &v, f, &g);
	for (unsigned i = 0; n && n->has_record && i < n->rec.n_locators; i++) {
		v = (struct via){ .to = n->rec.locator[i], .n_hops = 1, .hop = { p->id } };
		if (!endpoint_same_address(&v.to, &p->ep) && endpoint_may_send(o, n, &v.to))
			send_on_lines(o, &v, f, &g);
	}
	if (p->choice.path.n_hops > 1 ? via_path(o, &p->choice.path, &v) : via_claimed(o, p, &v))
		initiator_handshake(o, &v, f, &g);
}

void initiator_tick(struct overlay *o, struct peer *p, mono_t now)
{
	const struct node *n = peer_node(o, p);
	int64_t left_ms;

	if (!schedule_take(p, DUE_HELLO, now) || !n || n->state == NODE_LEFT)
		return;
	if (peer_is_alive(o, p)) {
		left_ms = peer_usual_alive_ms(o) - mono_sub_ms(now, p->received);
		/* A lazy link lives longer, and any link after a reload. A failure must not wait
		 * for a HELLO that long. */
		if (left_ms <= 0)
			left_ms = peer_usual_alive_ms(o);
		p->initiator.wait_ms = p->initiator.tries = 0;
		p->due[DUE_HELLO] = overlay_in(o, left_ms, left_ms + 100);
		return;
	}
	send_to_all_endpoints(o, p);
	p->initiator.sent_at = now;
	p->initiator.wait_ms =
		p->initiator.wait_ms ? min_of(p->initiator.wait_ms * 2, BACKOFF_MAX_MS) : 250;
	p->due[DUE_HELLO] = overlay_in(o, p->initiator.wait_ms * 3 / 4, p->initiator.wait_ms);
}

bool initiator_observed(struct overlay *o, struct peer *p)
{
	mono_t now = overlay_now(o);
	struct via v;

	if (!p->cur)
		return true;
	if (mono_is_recent(p->initiator.observed_at, 1000, now))
		return false;
	p->initiator.observed_at = now;
	if (via_direct(p, &v))
		initiator_send(o, &v,
			       &(struct initiation){ .mine = session_mine(p->cur),
						     .yours = session_theirs(p->cur),
						     .observed = &p->ep,
						     .secret = p->secret });
	return true;
}

void initiator_rekey(struct overlay *o, struct peer *p, uint32_t tries)
{
	struct handshake *f = handshake_of(o, p);
	struct initiation g = { f->value, session_theirs(p->cur), f->key.public, &p->ep,
				secret_for(p, tries) };
	struct via v;

	if (via_best(o, p, &v))
		initiator_handshake(o, &v, f, &g);
}

void initiator_confirm(struct overlay *o, struct peer *p)
{
	struct initiation g = { session_mine(p->cur), session_theirs(p->cur), p->cur_public, &p->ep,
				p->secret };
	struct via v;

	if (via_best(o, p, &v))
		initiator_send(o, &v, &g);
}
