// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Signatures: the signed content of a record, a HELLO and a CONFLICT, signing and verification.
 * identity.c decides which key is permitted. Control thread. Protocol 3.4.
 */
#include "proto/handshake/handshake.h"

#include <stddef.h>
#include <string.h>

#include "proto/overlay.h"
#include "wire/bytes.h"

#define CONTEXT_MAX 32
#define SIGNED_MAX  (CONTEXT_MAX + MSG_LEN_MAX)

void overlay_set_identity(struct overlay *o, const uint8_t secret[DH_KEY_LEN])
{
	memcpy(o->identity.secret, secret, DH_KEY_LEN);
	sign_public(o->identity.secret, o->identity.public);
}

enum part { PART_RECORD, PART_ATTRIBUTES, PART_HELLO, PART_CONFLICT };

/* Signed messages. The attributes of a record are signed together with the record and its
 * signature, because older nodes verify the record alone. */
static const struct {
	const char *word;
	bool to_one;	  /* to a single node */
	size_t signature; /* its place in struct msg */
} parts[] = {
	[PART_RECORD] = { "LEON record", false, offsetof(struct msg, record.signature) },
	[PART_ATTRIBUTES] = { "LEON attributes", false,
			      offsetof(struct msg, record.attributes_signature) },
	[PART_HELLO] = { "LEON hello", true, offsetof(struct msg, hello.signature) },
	[PART_CONFLICT] = { "LEON conflict", true, offsetof(struct msg, conflict.signature) },
};

/* Builds the signed content: a label, the overlay, sender and receiver (for messages to a single
 * node), and the message with a zero signature. Returns its length; 0 if the message cannot be
 * encoded. */
static size_t signed_text(const struct overlay *o, enum part part, struct msg *m, node_id_t from,
			  node_id_t to, uint8_t out[SIGNED_MAX])
{
	struct wbuf b = wbuf_of(out, SIGNED_MAX);
	int len;

	wbuf_bytes(&b, parts[part].word, strlen(parts[part].word));
	wbuf_u24(&b, o->vni);
	if (parts[part].to_one) {
		wbuf_u32(&b, from);
		wbuf_u32(&b, to);
	}
	memset((uint8_t *)m + parts[part].signature, 0, MSG_SIGNATURE_LEN);
	len = msg_encode(m, out + wbuf_len(&b), MSG_LEN_MAX);
	return len > 0 ? wbuf_len(&b) + (size_t)len : 0;
}

/* m is a copy; its signature is overwritten. */
static void make(const struct overlay *o, enum part part, struct msg *m, node_id_t to,
		 uint8_t signature[MSG_SIGNATURE_LEN])
{
	uint8_t text[SIGNED_MAX];

	sign_make(o->identity.secret, text, signed_text(o, part, m, o->self, to, text), signature);
}

static bool holds(const struct overlay *o, enum part part, struct msg *m, node_id_t from,
		  node_id_t to, const uint8_t identity[MSG_KEY_LEN],
		  const uint8_t signature[MSG_SIGNATURE_LEN])
{
	uint8_t text[SIGNED_MAX];

	return sign_verify(identity, text, signed_text(o, part, m, from, to, text), signature);
}

void sign_hello(const struct overlay *o, struct msg_hello *h, node_id_t to)
{
	struct msg m = { .type = MSG_HELLO };

	memcpy(h->identity, o->identity.public, sizeof(h->identity));
	m.hello = *h;
	make(o, PART_HELLO, &m, to, h->signature);
}

bool sign_holds_hello(const struct overlay *o, node_id_t from, const struct rx_hello *h)
{
	struct msg m = { .type = MSG_HELLO, .hello = *h->m };

	return holds(o, PART_HELLO, &m, from, h->to, h->m->identity, h->m->signature);
}

void sign_conflict(const struct overlay *o, struct msg_conflict *c, node_id_t to)
{
	struct msg m = { .type = MSG_CONFLICT };

	memcpy(c->identity, o->identity.public, sizeof(c->identity));
	m.conflict = *c;
	make(o, PART_CONFLICT, &m, to, c->signature);
}

bool sign_holds_conflict(const struct overlay *o, const struct msg_conflict *c, node_id_t from,
			 node_id_t to)
{
	struct msg m = { .type = MSG_CONFLICT, .conflict = *c };

	return holds(o, PART_CONFLICT, &m, from, to, c->identity, c->signature);
}

void sign_own(struct overlay *o)
{
	struct msg_record *r = &nodedb_at(o->nodes, SLOT_SELF)->rec;
	struct msg m = { .type = MSG_RECORD };

	memcpy(r->identity, o->identity.public, sizeof(r->identity));
	m.record = *r;
	m.record.n_attributes = 0;
	make(o, PART_RECORD, &m, NODE_ID_NONE, r->signature);
	m.record = *r;
	if (r->n_attributes)
		make(o, PART_ATTRIBUTES, &m, NODE_ID_NONE, r->attributes_signature);
}

bool sign_holds_record(const struct overlay *o, const struct msg_record *r)
{
	struct msg m = { .type = MSG_RECORD, .record = *r }, whole = m;

	m.record.n_attributes = 0;
	return holds(o, PART_RECORD, &m, NODE_ID_NONE, NODE_ID_NONE, r->identity, r->signature) &&
	       (!r->n_attributes || holds(o, PART_ATTRIBUTES, &whole, NODE_ID_NONE, NODE_ID_NONE,
					  r->identity, r->attributes_signature));
}
