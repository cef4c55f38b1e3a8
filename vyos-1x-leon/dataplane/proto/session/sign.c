// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Signatures of this node, and whether those of others hold: what exactly is signed of a record, a
 * HELLO and a CONFLICT. Whose key it may be is decided in identity.c. Control thread. Protocol 3.4.
 */
#include "proto/session/sign.h"

#include <string.h>

#include "proto/core.h"
#include "wire/bytes.h"

#define CONTEXT_MAX 32
#define SIGNED_MAX  (CONTEXT_MAX + MSG_LEN_MAX)

void sign_set_key(struct overlay *o, const uint8_t secret[DH_KEY_LEN])
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

void sign_conflict(const struct overlay *o, struct msg_conflict *c, node_id_t to)
{
	uint8_t text[SIGNED_MAX];
	size_t len;

	memcpy(c->identity, o->identity.public, sizeof(c->identity));
	len = conflict_text(o, c, o->self, to, text);
	sign_make(o->identity.secret, text, len, c->signature);
}

bool sign_holds_conflict(const struct overlay *o, const struct msg_conflict *c, node_id_t from,
			 node_id_t to)
{
	uint8_t text[SIGNED_MAX];
	size_t len = conflict_text(o, c, from, to, text);

	return sign_verify(c->identity, text, len, c->signature);
}

bool sign_holds_hello(const struct overlay *o, node_id_t from, const struct rx_hello *h)
{
	uint8_t text[SIGNED_MAX];
	size_t len = hello_text(o, h->m, from, h->to, text);

	return sign_verify(h->m->identity, text, len, h->m->signature);
}

void sign_hello(const struct overlay *o, struct msg_hello *h, node_id_t to)
{
	uint8_t text[SIGNED_MAX];
	size_t len;

	memcpy(h->identity, o->identity.public, sizeof(h->identity));
	len = hello_text(o, h, o->self, to, text);
	sign_make(o->identity.secret, text, len, h->signature);
}

void sign_own(struct overlay *o)
{
	struct msg_record *r = &nodedb_at(o->nodes, SLOT_SELF)->rec;
	uint8_t text[SIGNED_MAX];
	size_t len;

	memcpy(r->identity, o->identity.public, sizeof(r->identity));
	len = record_text(o, r, text);
	sign_make(o->identity.secret, text, len, r->signature);
}

bool sign_holds_record(const struct overlay *o, const struct msg_record *r)
{
	uint8_t text[SIGNED_MAX];
	size_t len = record_text(o, r, text);

	return sign_verify(r->identity, text, len, r->signature);
}
