// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who speaks: signatures on records and HELLOs, and the key that a node-id is pinned to. Whoever
 * has the secret can open a session; whose session it is, and what a record says, is proved by the
 * key of the node itself. Control thread. Protocol 3.4.
 */
#include <string.h>

#include "base/mem.h"
#include "proto/core.h"

#define VERIFY_PER_S 500 /* records of one peer; each costs about 100 us */
#define VERIFY_BURST 2000

#define CONTEXT_MAX 32
#define SIGNED_MAX  (CONTEXT_MAX + MSG_LEN_MAX)

void identity_set(struct overlay *o, const uint8_t secret[DH_KEY_LEN])
{
	memcpy(o->identity.secret, secret, DH_KEY_LEN);
	sign_public(o->identity.secret, o->identity.public);
}

/* Puts the message behind what b holds; length of the whole, 0 where it has no room. */
static size_t with_message(struct wbuf *b, const struct msg *m, uint8_t *text)
{
	int len = msg_encode(m, text + wbuf_len(b), MSG_LEN_MAX);

	return len > 0 ? wbuf_len(b) + (size_t)len : 0;
}

/* What is signed: a word, the overlay, for HELLO who speaks to whom, and the message with its
 * signature as zero. */
static size_t record_text(const struct overlay *o, const struct msg_record *r,
			  uint8_t out[SIGNED_MAX])
{
	static const char word[] = "LEON record";
	struct msg m = { .type = MSG_RECORD, .record = *r };
	struct wbuf b = wbuf_of(out, SIGNED_MAX);

	wbuf_bytes(&b, word, sizeof(word) - 1);
	wbuf_u24(&b, o->vni);
	memset(m.record.signature, 0, sizeof(m.record.signature));
	return with_message(&b, &m, out);
}

static size_t hello_text(const struct overlay *o, const struct msg_hello *h, node_id_t from,
			 node_id_t to, uint8_t out[SIGNED_MAX])
{
	static const char word[] = "LEON hello";
	struct msg m = { .type = MSG_HELLO, .hello = *h };
	struct wbuf b = wbuf_of(out, SIGNED_MAX);

	wbuf_bytes(&b, word, sizeof(word) - 1);
	wbuf_u24(&b, o->vni);
	wbuf_u32(&b, from);
	wbuf_u32(&b, to);
	memset(m.hello.signature, 0, sizeof(m.hello.signature));
	return with_message(&b, &m, out);
}

static size_t conflict_text(const struct overlay *o, const struct msg_conflict *c, node_id_t from,
			    node_id_t to, uint8_t out[SIGNED_MAX])
{
	static const char word[] = "LEON conflict";
	struct msg m = { .type = MSG_CONFLICT, .conflict = *c };
	struct wbuf b = wbuf_of(out, SIGNED_MAX);

	wbuf_bytes(&b, word, sizeof(word) - 1);
	wbuf_u24(&b, o->vni);
	wbuf_u32(&b, from);
	wbuf_u32(&b, to);
	memset(m.conflict.signature, 0, sizeof(m.conflict.signature));
	return with_message(&b, &m, out);
}

void identity_sign_conflict(const struct overlay *o, struct msg_conflict *c, node_id_t to)
{
	uint8_t text[SIGNED_MAX];
	size_t len;

	memcpy(c->identity, o->identity.public, sizeof(c->identity));
	len = conflict_text(o, c, o->self, to, text);
	sign_make(o->identity.secret, text, len, c->signature);
}

bool identity_signed_conflict(const struct overlay *o, const struct msg_conflict *c, node_id_t from,
			      node_id_t to)
{
	uint8_t text[SIGNED_MAX];
	size_t len = conflict_text(o, c, from, to, text);

	return sign_verify(c->identity, text, len, c->signature);
}

bool identity_signed_hello(const struct overlay *o, node_id_t from, const struct heard_hello *h)
{
	uint8_t text[SIGNED_MAX];
	size_t len = hello_text(o, h->m, from, h->to, text);

	return sign_verify(h->m->identity, text, len, h->m->signature);
}

void identity_sign_hello(const struct overlay *o, struct msg_hello *h, node_id_t to)
{
	uint8_t text[SIGNED_MAX];
	size_t len;

	memcpy(h->identity, o->identity.public, sizeof(h->identity));
	len = hello_text(o, h, o->self, to, text);
	sign_make(o->identity.secret, text, len, h->signature);
}

void identity_sign_own(struct overlay *o)
{
	struct msg_record *r = &nodedb_at(o->nodes, SLOT_SELF)->rec;
	uint8_t text[SIGNED_MAX];
	size_t len;

	memcpy(r->identity, o->identity.public, sizeof(r->identity));
	len = record_text(o, r, text);
	sign_make(o->identity.secret, text, len, r->signature);
}

/* --- pins --- */

static bool has_other_key(const struct node *n, const uint8_t key[MSG_KEY_LEN])
{
	return n && n->has_key && memcmp(n->key, key, MSG_KEY_LEN) != 0;
}

/* Two are about with one node-id, as far as can be seen here. */
static void refuse_other_key(struct overlay *o, const struct node *n)
{
	o->count.rx_other_identity++;
	if (claim_is_held(o, n) &&
	    bucket_pass(&o->duplicate_event, overlay_now(o), 60 * NS_PER_S, 60 * NS_PER_S))
		overlay_emit(o, EV_DUPLICATE_ID, n->id, NODE_ID_NONE, 0, NULL);
}

/* All that hangs on a node-id belongs to the key that it had. */
static void change_key(struct overlay *o, struct node *n)
{
	struct peer *p = peer_at(o, n->slot);

	if (n->has_record && memcmp(n->rec.identity, n->key, MSG_KEY_LEN) != 0)
		nodedb_drop_record(o->nodes, n);
	latdb_forget_row(o->lat, n->slot);
	if (p) {
		rekey_expire(o, p);
		p->heard = MONO_NEVER;
		p->incarnation = 0;
	}
	route_changed(o);
	route_later(o);
}

void identity_pin(struct overlay *o, struct node *n, const uint8_t key[MSG_KEY_LEN], bool proven)
{
	bool is_first = !n->has_key, changed = has_other_key(n, key), was_proven = n->proven;

	n->has_key = true;
	memcpy(n->key, key, MSG_KEY_LEN);
	/* What replaces another on a record alone gets no time in which it keeps others out: else
	 * claims under new keys, one after the other, would keep the node itself out for ever. */
	if (is_first || changed)
		n->pinned = is_first || proven ? overlay_now(o) : MONO_NEVER;
	if (proven || changed)
		n->proven = proven;
	if (!changed)
		return;
	change_key(o, n);
	/* Of claims that nobody stood for there is nothing to say, and nothing hangs on them. */
	if (!proven && !was_proven)
		return;
	o->ops.purge(o->arg, n->slot);
	overlay_emit(o, EV_IDENTITY_CHANGED, n->id, NODE_ID_NONE, 0, NULL);
}

bool identity_of_hello(struct overlay *o, const struct peer *p, const struct heard_hello *h)
{
	const struct node *n = nodedb_find(o->nodes, p->id);

	if (!trust_passes(o, p->id, h->m->identity))
		return false;
	if (has_other_key(n, h->m->identity) && claim_is_held(o, n)) {
		refuse_other_key(o, n);
		return false;
	}
	if (identity_signed_hello(o, p->id, h))
		return true;
	o->count.rx_bad_signature++;
	return false;
}

bool identity_of_record(struct overlay *o, struct peer *from, const struct msg_record *r)
{
	const struct node *n = nodedb_find(o->nodes, r->origin);
	const struct msg_summary_entry e = claim_of(r);
	uint8_t text[SIGNED_MAX];
	size_t len;

	/* Of ourselves: an earlier life may have had another key. */
	if (r->origin != o->self && !trust_passes(o, r->origin, r->identity))
		return false;
	if (r->origin != o->self && has_other_key(n, r->identity) && !claim_may_replace(o, n, &e)) {
		refuse_other_key(o, n);
		return false;
	}
	if (!bucket_pass(&from->verify, overlay_now(o), NS_PER_S / VERIFY_PER_S,
			 VERIFY_BURST * (NS_PER_S / VERIFY_PER_S))) {
		o->count.rx_rate_limited++;
		return false;
	}
	len = record_text(o, r, text);
	if (sign_verify(r->identity, text, len, r->signature))
		return true;
	o->count.rx_bad_signature++;
	return false;
}
