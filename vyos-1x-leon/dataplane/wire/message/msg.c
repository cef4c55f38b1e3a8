// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Encoding of control messages: one table row per type. code() moves the fields between bytes and
 * the struct, in the direction of the codec, and refuses counts that exceed the struct. valid()
 * checks the range of every field in both directions, so a node never sends a message that a
 * receiver calls malformed. doc/protocol.md section 4 describes the same table. Control thread;
 * pure.
 */
#include "wire/message/msg.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/defs.h"
#include "wire/bytes.h"
#include "wire/message/msg_parts.h"

#define PREFIX_WIRE_MAX	       (IP_WIRE_MAX + 1)
#define SUMMARY_ENTRY	       24
#define CONFLICT_SAME_IDENTITY 0x01
#define ENTRY_LEFT	       0x01
#define PING_LINE	       1  /* attribute of PING */
#define PONG_RECEIVED	       1  /* attribute of PONG */
#define PING_ATTRIBUTES	       64 /* bytes of attributes that are read */

/* Other bits of the octet are reserved. */
static void code_flag(struct codec *b, bool *flag, uint8_t bit)
{
	uint8_t octet = *flag ? bit : 0;

	code_u8(b, &octet);
	if (b->in)
		*flag = octet & bit;
}

/* HELLO */

static bool valid_hello(const struct msg *m)
{
	const struct msg_hello *h = &m->hello;

	return h->session_mine != 0 && h->incarnation <= MSG_INCARNATION_MAX &&
	       (h->observed.ip.family == 0 || endpoint_is_usable(&h->observed));
}

static void code_hello(struct codec *b, struct msg *m)
{
	struct msg_hello *h = &m->hello;

	code_u64(b, &h->incarnation);
	code_u64(b, &h->session_mine);
	code_u64(b, &h->session_yours);
	code_u16(b, &h->port_hint);
	for (size_t i = 0; i < MSG_SECRETS_MAX; i++)
		code_u32(b, &h->secret[i]);
	code_u8(b, &h->data_offer);
	code_bytes(b, h->public, MSG_KEY_LEN);
	code_bytes(b, h->identity, MSG_KEY_LEN);
	code_bytes(b, h->signature, MSG_SIGNATURE_LEN);
	code_endpoint(b, &h->observed);
}

/* SUMMARY */

static bool valid_summary(const struct msg *m)
{
	const struct msg_summary *s = &m->summary;

	if (!are_parts_valid(s->part, s->parts) || s->n > MSG_SUMMARY_MAX)
		return false;
	for (size_t i = 0; i < s->n; i++)
		if (s->entry[i].origin == NODE_ID_NONE ||
		    s->entry[i].incarnation > MSG_INCARNATION_MAX)
			return false;
	return true;
}

static void code_summary(struct codec *b, struct msg *m)
{
	struct msg_summary *s = &m->summary;

	code_u16(b, &s->part);
	code_u16(b, &s->parts);
	for (unsigned i = 0, n = code_count16(b, &s->n, MSG_SUMMARY_MAX); i < n; i++) {
		code_u32(b, &s->entry[i].origin);
		code_u64(b, &s->entry[i].incarnation);
		code_u32(b, &s->entry[i].seq);
		code_flag(b, &s->entry[i].left, ENTRY_LEFT);
		code_bytes(b, s->entry[i].key, MSG_KEY_NAME_LEN);
	}
}

/* FETCH */

static bool valid_fetch(const struct msg *m)
{
	const struct msg_fetch *f = &m->fetch;

	if (f->n > MSG_FETCH_MAX)
		return false;
	for (size_t i = 0; i < f->n; i++)
		if (f->origin[i] == NODE_ID_NONE)
			return false;
	return true;
}

static void code_fetch(struct codec *b, struct msg *m)
{
	struct msg_fetch *f = &m->fetch;

	for (unsigned i = 0, n = code_count16(b, &f->n, MSG_FETCH_MAX); i < n; i++)
		code_u32(b, &f->origin[i]);
}

/* PING, PONG */

/* Attributes follow the body: type, length, value. Reads or writes one with a value of `len` bytes.
 * Returns true if the message has it; the caller codes the value. An incomplete attribute ends the
 * list, like padding. */
static bool code_attribute(struct codec *b, uint8_t type, uint8_t len, bool has)
{
	struct rbuf value = { 0 };
	bool found = false;

	while (b->in && b->in->ok && rbuf_left(b->in) >= 2) {
		uint8_t t = rbuf_u8(b->in), n = rbuf_u8(b->in);
		struct rbuf next;

		if (!t || rbuf_left(b->in) < n)
			break;
		next = rbuf_of(rbuf_take(b->in, n), n);
		if (t != type || n != len)
			continue;
		value = next;
		found = true;
	}
	if (found)
		*b->in = value;
	if (b->in || !has)
		return found;
	code_u8(b, &type);
	code_u8(b, &len);
	return true;
}

static void code_ping(struct codec *b, struct msg *m)
{
	code_u32(b, &m->ping.id);
	code_u64(b, &m->ping.digest);
	code_u32(b, &m->ping.row_seq);
	code_u16(b, &m->ping.size);
	code_u64(b, &m->ping.guard);
	if (code_attribute(b, PING_LINE, 1, m->ping.line))
		code_u8(b, &m->ping.line);
}

static void code_pong(struct codec *b, struct msg *m)
{
	code_u32(b, &m->pong.id);
	code_u64(b, &m->pong.digest);
	code_u32(b, &m->pong.row_seq);
	code_u16(b, &m->pong.size);
	code_u32(b, &m->pong.held_ns);
	code_u32(b, &m->pong.epoch);
	code_u32(b, &m->pong.link_rx);
	code_u32(b, &m->pong.path_rx);
	code_u32(b, &m->pong.arrived_us);
	code_u32(b, &m->pong.limit_kbits);
	if (!code_attribute(b, PONG_RECEIVED, 8, m->pong.has_received))
		return;
	code_u64(b, &m->pong.received);
	if (b->in)
		m->pong.has_received = true;
}

/* NOTICE */

static bool valid_notice(const struct msg *m)
{
	return m->notice.next != NODE_ID_NONE && m->notice.destination != NODE_ID_NONE;
}

static void code_notice(struct codec *b, struct msg *m)
{
	code_u32(b, &m->notice.next);
	code_u32(b, &m->notice.destination);
}

/* SECRETS */

static void code_secrets(struct codec *b, struct msg *m)
{
	for (size_t i = 0; i < MSG_SECRETS_MAX; i++)
		code_u32(b, &m->secrets.name[i]);
}

/* CONFLICT */

static bool valid_conflict(const struct msg *m)
{
	return m->conflict.at.ip.family == 0 || endpoint_is_usable(&m->conflict.at);
}

static void code_conflict(struct codec *b, struct msg *m)
{
	struct msg_conflict *c = &m->conflict;

	code_u64(b, &c->mine);
	code_u64(b, &c->yours);
	code_u64(b, &c->incarnation);
	code_flag(b, &c->same_identity, CONFLICT_SAME_IDENTITY);
	code_bytes(b, c->identity, MSG_KEY_LEN);
	code_bytes(b, c->signature, MSG_SIGNATURE_LEN);
	code_endpoint(b, &c->at);
}

/* GROUPS */

#define ENTRY_FAMILY(entry) ((uint8_t)((entry) >> 32))

static bool valid_groups(const struct msg *m)
{
	const struct msg_groups *g = &m->groups;

	if (g->seq == 0 || !are_parts_valid(g->part, g->parts) || g->n > MSG_GROUPS_MAX)
		return false;
	for (size_t i = 0; i < g->n; i++)
		if (family_len(ENTRY_FAMILY(g->entry[i])) <= 0)
			return false;
	return true;
}

static void code_groups(struct codec *b, struct msg *m)
{
	struct msg_groups *g = &m->groups;

	code_u32(b, &g->seq);
	code_u16(b, &g->part);
	code_u16(b, &g->parts);
	for (unsigned i = 0, n = code_count16(b, &g->n, MSG_GROUPS_MAX); i < n; i++)
		code_u64(b, &g->entry[i]);
}

/* GROUPS-ACK */

static void code_groups_ack(struct codec *b, struct msg *m)
{
	code_u32(b, &m->groups_ack.seq);
}

/* Shortest and longest message of a type, including the type byte. */
#define HELLO_MIN    173
#define CONFLICT_MIN 123
#define CONFLICT_MAX (CONFLICT_MIN - 1 + EP_WIRE_MAX)
#define HELLO_MAX    (HELLO_MIN - 1 + EP_WIRE_MAX)
#define SUMMARY_MIN  7
#define SUMMARY_MAX  (SUMMARY_MIN + SUMMARY_ENTRY * MSG_SUMMARY_MAX)
#define FETCH_MIN    3
#define FETCH_MAX    (FETCH_MIN + 4 * MSG_FETCH_MAX)
#define RANGE_WIRE   6
#define RECORD_MIN   120
#define RECORD_PLAIN_MAX                                                                           \
	(RECORD_MIN + MSG_NAME_MAX + EP_WIRE_MAX * MSG_LOCATORS_MAX +                              \
	 IP_WIRE_MAX * MSG_OVERLAY_MAX + PREFIX_WIRE_MAX * MSG_PREFIXES_MAX +                      \
	 RANGE_WIRE * MSG_SEGMENTS_MAX + 17 + 4 * MSG_LAN_NODES_MAX)
#define GROUPS_MIN     11
#define GROUPS_MAX_LEN (GROUPS_MIN + 8 * MSG_GROUPS_MAX)

static_assert(HELLO_MAX == MSG_HELLO_LEN, "padding of HELLO");
static_assert(CONFLICT_MAX <= MSG_HELLO_LEN, "an answer is no longer than its question");
static_assert(SUMMARY_MAX <= MSG_LEN_MAX && RECORD_PLAIN_MAX <= MSG_LEN_MAX &&
		      ROW_MAX <= MSG_LEN_MAX && GROUPS_MAX_LEN <= MSG_LEN_MAX &&
		      CAPTURE_SEEN_MAX <= MSG_LEN_MAX && CAPTURE_DATA_MAX <= MSG_LEN_MAX,
	      "message size");

static const struct msg_type_row {
	const char *name;
	uint16_t min, max;
	bool (*valid)(const struct msg *m);	      /* NULL: any value is valid */
	void (*code)(struct codec *b, struct msg *m); /* NULL: no body */
} table[] = {
	[MSG_HELLO] = { "hello", HELLO_MIN, HELLO_MAX, valid_hello, code_hello },
	[MSG_SUMMARY_REQ] = { "summary-request", 1, 1, NULL, NULL },
	[MSG_SUMMARY] = { "summary", SUMMARY_MIN, SUMMARY_MAX, valid_summary, code_summary },
	[MSG_FETCH] = { "fetch", FETCH_MIN, FETCH_MAX, valid_fetch, code_fetch },
	[MSG_RECORD] = { "record", RECORD_MIN, MSG_LEN_MAX, record_valid, record_code },
	[MSG_ROW] = { "row", ROW_MIN, ROW_MAX, row_valid, row_code },
	[MSG_PING] = { "ping", MSG_PING_LEN, MSG_PING_LEN + PING_ATTRIBUTES, NULL, code_ping },
	[MSG_PONG] = { "pong", MSG_PONG_LEN, MSG_PONG_LEN + PING_ATTRIBUTES, NULL, code_pong },
	[MSG_NOTICE] = { "notice", 9, 9, valid_notice, code_notice },
	[MSG_CONFLICT] = { "conflict", CONFLICT_MIN, CONFLICT_MAX, valid_conflict, code_conflict },
	[MSG_SECRETS] = { "secrets", 17, 17, NULL, code_secrets },
	[MSG_GROUPS] = { "groups", GROUPS_MIN, GROUPS_MAX_LEN, valid_groups, code_groups },
	[MSG_GROUPS_ACK] = { "groups-ack", 5, 5, NULL, code_groups_ack },
	[MSG_SHORT_ROW] = { "short-row", SHORT_ROW_MIN, SHORT_ROW_MAX, short_row_valid,
			    short_row_code },
	[MSG_CAPTURE_START] = { "capture-start", CAPTURE_START_LEN, CAPTURE_START_LEN,
				capture_start_valid, capture_start_code },
	[MSG_CAPTURE_READ] = { "capture-read", CAPTURE_READ_LEN, CAPTURE_READ_LEN,
			       capture_read_valid, capture_read_code },
	[MSG_CAPTURE_DATA] = { "capture-data", CAPTURE_DATA_MIN, CAPTURE_DATA_MAX,
			       capture_data_valid, capture_data_code },
	[MSG_CAPTURE_LOOKUP] = { "capture-lookup", CAPTURE_LOOKUP_MIN, CAPTURE_LOOKUP_MAX,
				 capture_lookup_valid, capture_lookup_code },
	[MSG_CAPTURE_SEEN] = { "capture-seen", CAPTURE_LOOKUP_MIN, CAPTURE_SEEN_MAX,
			       capture_lookup_valid, capture_lookup_code },
};

static const struct msg_type_row *table_find(uint8_t type)
{
	return type < array_size(table) && table[type].name ? &table[type] : NULL;
}

int msg_decode(const void *data, size_t len, struct msg *m)
{
	const struct msg_type_row *t;
	struct rbuf b = rbuf_of(data, len);
	uint8_t type = rbuf_u8(&b);

	if (!b.ok)
		return -EBADMSG;
	t = table_find(type);
	if (!t)
		return -ENOMSG;
	if (len < t->min)
		return -EBADMSG;
	/* Bytes behind the longest body of this type are padding. */
	b.end -= len > t->max ? len - t->max : 0;
	memset(m, 0, sizeof(*m));
	m->type = type;
	if (t->code)
		t->code(&(struct codec){ .in = &b }, m);
	return b.ok && (!t->valid || t->valid(m)) ? 0 : -EBADMSG;
}

int msg_encode(const struct msg *m, void *out, size_t out_len)
{
	const struct msg_type_row *t = table_find(m->type);
	struct wbuf b = wbuf_of(out, out_len);

	if (!t || (t->valid && !t->valid(m)))
		return -EINVAL;
	wbuf_u8(&b, m->type);
	/* A codec that writes does not change the message. */
	if (t->code)
		t->code(&(struct codec){ .out = &b }, (struct msg *)m);
	return b.ok ? (int)wbuf_len(&b) : -ENOSPC;
}

const char *msg_type_name(uint8_t type)
{
	const struct msg_type_row *t = table_find(type);

	return t ? t->name : "unknown";
}
