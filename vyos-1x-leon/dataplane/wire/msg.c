// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Encoding of control messages: one table row per type. read() moves bytes into the struct and
 * refuses counts that exceed it. valid() checks the range of every field in both directions, so a
 * node never sends a message that a receiver calls malformed. Control thread; pure. doc/protocol.md
 * section 4 describes the same table.
 */
#include "wire/msg.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/defs.h"
#include "wire/bytes.h"

#define V4_LEN		       4
#define V6_LEN		       16
#define IP_WIRE_MAX	       (1 + V6_LEN) /* family, address */
#define EP_WIRE_MAX	       (IP_WIRE_MAX + 2)
#define PREFIX_WIRE_MAX	       (IP_WIRE_MAX + 1)
#define SUMMARY_ENTRY	       24
#define ROW_ENTRY	       17
#define U24_MAX		       0xffffffu
#define LOSS_MAX	       1000
#define ENTRY_UP	       0x8000
#define CONFLICT_SAME_IDENTITY 0x01
#define ENTRY_LEFT	       0x01
#define ENTRY_SILENT	       0x4000
#define ENTRY_LOSS	       0x03ff

/* Returns the address length of this family, or -1 for an unknown family. */
static int family_len(uint8_t family)
{
	switch (family) {
	case 0:
		return 0;
	case 4:
		return V4_LEN;
	case 6:
		return V6_LEN;
	default:
		return -1;
	}
}

static void read_ip(struct rbuf *b, struct ip_addr *ip)
{
	const uint8_t *p;
	int n;

	ip->family = rbuf_u8(b);
	n = family_len(ip->family);
	if (n < 0) {
		b->ok = false;
		return;
	}
	p = rbuf_take(b, (size_t)n);
	if (p)
		memcpy(ip->b, p, (size_t)n);
}

static void write_ip(struct wbuf *b, const struct ip_addr *ip)
{
	wbuf_u8(b, ip->family);
	wbuf_bytes(b, ip->b, (size_t)family_len(ip->family));
}

static void read_endpoint(struct rbuf *b, struct endpoint *ep)
{
	read_ip(b, &ep->ip);
	ep->port = ep->ip.family ? rbuf_u16(b) : 0;
}

static void write_endpoint(struct wbuf *b, const struct endpoint *ep)
{
	write_ip(b, &ep->ip);
	if (ep->ip.family)
		wbuf_u16(b, ep->port);
}

static void read_bytes(struct rbuf *b, uint8_t *out, size_t len)
{
	const uint8_t *p = rbuf_take(b, len);

	if (p)
		memcpy(out, p, len);
}

/* Returns false and fails the cursor if n exceeds the array in the struct. */
static bool fits(struct rbuf *b, size_t n, size_t max)
{
	b->ok = b->ok && n <= max;
	return b->ok;
}

static bool is_unicast(const struct ip_addr *ip)
{
	struct endpoint ep = { .ip = *ip, .port = 1 };

	return endpoint_is_usable(&ep);
}

static bool are_parts_valid(uint16_t part, uint16_t parts)
{
	return parts >= 1 && parts <= MSG_PARTS_MAX && part < parts;
}

/* HELLO */

static bool valid_hello(const struct msg *m)
{
	const struct msg_hello *h = &m->hello;

	return h->session_mine != 0 && h->incarnation <= MSG_INCARNATION_MAX &&
	       (h->observed.ip.family == 0 || endpoint_is_usable(&h->observed));
}

static void read_hello(struct rbuf *b, struct msg *m)
{
	struct msg_hello *h = &m->hello;

	h->incarnation = rbuf_u64(b);
	h->session_mine = rbuf_u64(b);
	h->session_yours = rbuf_u64(b);
	h->port_hint = rbuf_u16(b);
	for (size_t i = 0; i < MSG_SECRETS_MAX; i++)
		h->secret[i] = rbuf_u32(b);
	h->data_offer = rbuf_u8(b);
	read_bytes(b, h->public, MSG_KEY_LEN);
	read_bytes(b, h->identity, MSG_KEY_LEN);
	read_bytes(b, h->signature, MSG_SIGNATURE_LEN);
	read_endpoint(b, &h->observed);
}

static void write_hello(struct wbuf *b, const struct msg *m)
{
	const struct msg_hello *h = &m->hello;

	wbuf_u64(b, h->incarnation);
	wbuf_u64(b, h->session_mine);
	wbuf_u64(b, h->session_yours);
	wbuf_u16(b, h->port_hint);
	for (size_t i = 0; i < MSG_SECRETS_MAX; i++)
		wbuf_u32(b, h->secret[i]);
	wbuf_u8(b, h->data_offer);
	wbuf_bytes(b, h->public, MSG_KEY_LEN);
	wbuf_bytes(b, h->identity, MSG_KEY_LEN);
	wbuf_bytes(b, h->signature, MSG_SIGNATURE_LEN);
	write_endpoint(b, &h->observed);
}

/* SUMMARY_REQ has no body. */

static bool valid_empty(const struct msg *m attr_unused)
{
	return true;
}

static void read_empty(struct rbuf *b attr_unused, struct msg *m attr_unused)
{
}

static void write_empty(struct wbuf *b attr_unused, const struct msg *m attr_unused)
{
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

static void read_summary(struct rbuf *b, struct msg *m)
{
	struct msg_summary *s = &m->summary;

	s->part = rbuf_u16(b);
	s->parts = rbuf_u16(b);
	s->n = rbuf_u16(b);
	if (!fits(b, s->n, MSG_SUMMARY_MAX))
		return;
	for (size_t i = 0; i < s->n; i++) {
		s->entry[i].origin = rbuf_u32(b);
		s->entry[i].incarnation = rbuf_u64(b);
		s->entry[i].seq = rbuf_u32(b);
		s->entry[i].left = rbuf_u8(b) & ENTRY_LEFT;
		read_bytes(b, s->entry[i].key, MSG_KEY_NAME_LEN);
	}
}

static void write_summary(struct wbuf *b, const struct msg *m)
{
	const struct msg_summary *s = &m->summary;

	wbuf_u16(b, s->part);
	wbuf_u16(b, s->parts);
	wbuf_u16(b, s->n);
	for (size_t i = 0; i < s->n; i++) {
		wbuf_u32(b, s->entry[i].origin);
		wbuf_u64(b, s->entry[i].incarnation);
		wbuf_u32(b, s->entry[i].seq);
		wbuf_u8(b, s->entry[i].left ? ENTRY_LEFT : 0);
		wbuf_bytes(b, s->entry[i].key, MSG_KEY_NAME_LEN);
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

static void read_fetch(struct rbuf *b, struct msg *m)
{
	struct msg_fetch *f = &m->fetch;

	f->n = rbuf_u16(b);
	if (!fits(b, f->n, MSG_FETCH_MAX))
		return;
	for (size_t i = 0; i < f->n; i++)
		f->origin[i] = rbuf_u32(b);
}

static void write_fetch(struct wbuf *b, const struct msg *m)
{
	const struct msg_fetch *f = &m->fetch;

	wbuf_u16(b, f->n);
	for (size_t i = 0; i < f->n; i++)
		wbuf_u32(b, f->origin[i]);
}

/* RECORD */

static bool is_name_valid(const char name[MSG_NAME_MAX + 1])
{
	size_t len = strnlen(name, MSG_NAME_MAX + 1);

	for (size_t i = 0; i < len; i++)
		if (name[i] <= ' ' || name[i] > '~')
			return false;
	return len <= MSG_NAME_MAX;
}

static bool is_prefix_valid(const struct prefix *p)
{
	return p->ip.family && family_len(p->ip.family) > 0 &&
	       p->len <= 8 * family_len(p->ip.family);
}

static bool are_segments_valid(const struct msg_record *r)
{
	if (r->n_segments > MSG_SEGMENTS_MAX || (r->n_segments && !(r->flags & RECORD_SEGMENTS)))
		return false;
	for (size_t i = 0; i < r->n_segments; i++) {
		const struct id_range *v = &r->segment[i];

		if (v->first > v->last || v->last > U24_MAX ||
		    (i && v->first <= r->segment[i - 1].last + 1))
			return false;
	}
	return true;
}

bool record_lan_names(const struct record_lan *l, node_id_t node)
{
	for (unsigned i = 0; i < l->n; i++)
		if (l->node[i] == node)
			return true;
	return false;
}

static bool is_lan_valid(const struct msg_record *r)
{
	const struct record_lan *l = &r->lan;

	if (!(r->flags & RECORD_LAN))
		return !l->n && !l->low && !l->high;
	if (l->n > MSG_LAN_NODES_MAX)
		return false;
	for (unsigned i = 0; i < l->n; i++)
		if (l->node[i] == NODE_ID_NONE || (i && l->node[i] <= l->node[i - 1]))
			return false;
	return true;
}

/* The entries fill the list exactly. */
static bool are_attributes_valid(const struct msg_record *r)
{
	struct rbuf b =
		rbuf_of(r->attributes, min_of((size_t)r->n_attributes, (size_t)MSG_ATTRIBUTES_MAX));

	while (b.ok && rbuf_left(&b)) {
		rbuf_u8(&b);
		rbuf_take(&b, rbuf_u8(&b));
	}
	return b.ok && r->n_attributes <= MSG_ATTRIBUTES_MAX;
}

static bool valid_record(const struct msg *m)
{
	const struct msg_record *r = &m->record;

	if (r->origin == NODE_ID_NONE || r->seq == 0 || !is_name_valid(r->name) ||
	    r->incarnation > MSG_INCARNATION_MAX)
		return false;
	if (r->n_locators > MSG_LOCATORS_MAX || r->n_overlay > MSG_OVERLAY_MAX ||
	    r->n_prefixes > MSG_PREFIXES_MAX)
		return false;
	for (size_t i = 0; i < r->n_locators; i++)
		if (!endpoint_is_usable(&r->locator[i]))
			return false;
	for (size_t i = 0; i < r->n_overlay; i++)
		if (!is_unicast(&r->overlay[i]))
			return false;
	for (size_t i = 0; i < r->n_prefixes; i++)
		if (!is_prefix_valid(&r->prefix[i]))
			return false;
	return are_segments_valid(r) && is_lan_valid(r) && are_attributes_valid(r);
}

static void read_name(struct rbuf *b, char name[MSG_NAME_MAX + 1])
{
	uint8_t len = rbuf_u8(b);
	const uint8_t *p;

	if (!fits(b, len, MSG_NAME_MAX))
		return;
	p = rbuf_take(b, len);
	if (!p)
		return;
	memcpy(name, p, len);
	/* A NUL in the name would hide its remainder from valid(). */
	b->ok = strnlen(name, len) == len;
}

static void read_segments(struct rbuf *b, struct msg_record *r)
{
	r->n_segments = rbuf_u8(b);
	if (!fits(b, r->n_segments, MSG_SEGMENTS_MAX))
		return;
	for (size_t i = 0; i < r->n_segments; i++) {
		r->segment[i].first = rbuf_u24(b);
		r->segment[i].last = rbuf_u24(b);
	}
}

static void write_segments(struct wbuf *b, const struct msg_record *r)
{
	wbuf_u8(b, r->n_segments);
	for (size_t i = 0; i < r->n_segments; i++) {
		wbuf_u24(b, r->segment[i].first);
		wbuf_u24(b, r->segment[i].last);
	}
}

static void read_lan(struct rbuf *b, struct msg_record *r)
{
	struct record_lan *l = &r->lan;

	if (!(r->flags & RECORD_LAN))
		return;
	l->low = rbuf_u64(b);
	l->high = rbuf_u64(b);
	l->n = rbuf_u8(b);
	if (!fits(b, l->n, MSG_LAN_NODES_MAX))
		return;
	for (unsigned i = 0; i < l->n; i++)
		l->node[i] = rbuf_u32(b);
}

static void write_lan(struct wbuf *b, const struct msg_record *r)
{
	const struct record_lan *l = &r->lan;

	if (!(r->flags & RECORD_LAN))
		return;
	wbuf_u64(b, l->low);
	wbuf_u64(b, l->high);
	wbuf_u8(b, l->n);
	for (unsigned i = 0; i < l->n; i++)
		wbuf_u32(b, l->node[i]);
}

/* A length of 0 is padding. */
static void read_attributes(struct rbuf *b, struct msg_record *r)
{
	uint16_t len = rbuf_left(b) < 2 ? 0 : rbuf_u16(b);

	if (!len || !fits(b, len, MSG_ATTRIBUTES_MAX))
		return;
	r->n_attributes = (uint8_t)len;
	read_bytes(b, r->attributes, len);
	read_bytes(b, r->attributes_signature, MSG_SIGNATURE_LEN);
}

static void write_attributes(struct wbuf *b, const struct msg_record *r)
{
	if (!r->n_attributes)
		return;
	wbuf_u16(b, r->n_attributes);
	wbuf_bytes(b, r->attributes, r->n_attributes);
	wbuf_bytes(b, r->attributes_signature, MSG_SIGNATURE_LEN);
}

static void read_record(struct rbuf *b, struct msg *m)
{
	struct msg_record *r = &m->record;

	r->origin = rbuf_u32(b);
	r->incarnation = rbuf_u64(b);
	r->seq = rbuf_u32(b);
	r->flags = rbuf_u16(b);
	read_name(b, r->name);
	r->n_locators = rbuf_u8(b);
	if (!fits(b, r->n_locators, MSG_LOCATORS_MAX))
		return;
	for (size_t i = 0; i < r->n_locators; i++)
		read_endpoint(b, &r->locator[i]);
	r->n_overlay = rbuf_u8(b);
	if (!fits(b, r->n_overlay, MSG_OVERLAY_MAX))
		return;
	for (size_t i = 0; i < r->n_overlay; i++)
		read_ip(b, &r->overlay[i]);
	r->n_prefixes = rbuf_u8(b);
	if (!fits(b, r->n_prefixes, MSG_PREFIXES_MAX))
		return;
	for (size_t i = 0; i < r->n_prefixes; i++) {
		read_ip(b, &r->prefix[i].ip);
		r->prefix[i].len = rbuf_u8(b);
		/* Clears the host bits, so that a prefix has one representation. */
		prefix_mask(&r->prefix[i]);
	}
	read_segments(b, r);
	read_lan(b, r);
	read_bytes(b, r->identity, MSG_KEY_LEN);
	read_bytes(b, r->signature, MSG_SIGNATURE_LEN);
	read_attributes(b, r);
}

static void write_record(struct wbuf *b, const struct msg *m)
{
	const struct msg_record *r = &m->record;
	size_t name_len = strlen(r->name);

	wbuf_u32(b, r->origin);
	wbuf_u64(b, r->incarnation);
	wbuf_u32(b, r->seq);
	wbuf_u16(b, r->flags);
	wbuf_u8(b, (uint8_t)name_len);
	wbuf_bytes(b, r->name, name_len);
	wbuf_u8(b, r->n_locators);
	for (size_t i = 0; i < r->n_locators; i++)
		write_endpoint(b, &r->locator[i]);
	wbuf_u8(b, r->n_overlay);
	for (size_t i = 0; i < r->n_overlay; i++)
		write_ip(b, &r->overlay[i]);
	wbuf_u8(b, r->n_prefixes);
	for (size_t i = 0; i < r->n_prefixes; i++) {
		struct prefix p = r->prefix[i];

		prefix_mask(&p);
		write_ip(b, &p.ip);
		wbuf_u8(b, p.len);
	}
	write_segments(b, r);
	write_lan(b, r);
	wbuf_bytes(b, r->identity, MSG_KEY_LEN);
	wbuf_bytes(b, r->signature, MSG_SIGNATURE_LEN);
	write_attributes(b, r);
}

/* ROW */

static bool valid_row(const struct msg *m)
{
	const struct msg_row *r = &m->row;

	if (r->origin == NODE_ID_NONE || r->seq == 0 || r->base >= r->seq ||
	    r->incarnation > MSG_INCARNATION_MAX)
		return false;
	if (!are_parts_valid(r->part, r->parts) || r->n > MSG_ROW_MAX)
		return false;
	for (size_t i = 0; i < r->n; i++)
		if (r->entry[i].node == NODE_ID_NONE || r->entry[i].loss_pm > LOSS_MAX)
			return false;
	return true;
}

static void read_row(struct rbuf *b, struct msg *m)
{
	struct msg_row *r = &m->row;

	r->origin = rbuf_u32(b);
	r->incarnation = rbuf_u64(b);
	r->seq = rbuf_u32(b);
	r->base = rbuf_u32(b);
	r->part = rbuf_u16(b);
	r->parts = rbuf_u16(b);
	r->n = rbuf_u16(b);
	if (!fits(b, r->n, MSG_ROW_MAX))
		return;
	for (size_t i = 0; i < r->n; i++) {
		struct row_entry *e = &r->entry[i];
		uint16_t state;

		e->node = rbuf_u32(b);
		state = rbuf_u16(b);
		e->up = state & ENTRY_UP;
		e->silent = e->up && (state & ENTRY_SILENT);
		e->loss_pm = state & ENTRY_LOSS;
		e->rtt_us = rbuf_u24(b);
		e->long_term_us = rbuf_u24(b);
		e->var_us = rbuf_u24(b);
		e->mtu = rbuf_u16(b);
	}
}

static void write_row(struct wbuf *b, const struct msg *m)
{
	const struct msg_row *r = &m->row;

	wbuf_u32(b, r->origin);
	wbuf_u64(b, r->incarnation);
	wbuf_u32(b, r->seq);
	wbuf_u32(b, r->base);
	wbuf_u16(b, r->part);
	wbuf_u16(b, r->parts);
	wbuf_u16(b, r->n);
	for (size_t i = 0; i < r->n; i++) {
		const struct row_entry *e = &r->entry[i];

		wbuf_u32(b, e->node);
		wbuf_u16(b, (uint16_t)((e->up ? ENTRY_UP : 0) |
				       (e->up && e->silent ? ENTRY_SILENT : 0) | e->loss_pm));
		wbuf_u24(b, min_of(e->rtt_us, U24_MAX));
		wbuf_u24(b, min_of(e->long_term_us, U24_MAX));
		wbuf_u24(b, min_of(e->var_us, U24_MAX));
		wbuf_u16(b, e->mtu);
	}
}

/* PING, PONG */

static void read_ping(struct rbuf *b, struct msg *m)
{
	m->ping.id = rbuf_u32(b);
	m->ping.digest = rbuf_u64(b);
	m->ping.row_seq = rbuf_u32(b);
	m->ping.size = rbuf_u16(b);
	m->ping.guard = rbuf_u64(b);
}

static void write_ping(struct wbuf *b, const struct msg *m)
{
	wbuf_u32(b, m->ping.id);
	wbuf_u64(b, m->ping.digest);
	wbuf_u32(b, m->ping.row_seq);
	wbuf_u16(b, m->ping.size);
	wbuf_u64(b, m->ping.guard);
}

static void read_pong(struct rbuf *b, struct msg *m)
{
	m->pong.id = rbuf_u32(b);
	m->pong.digest = rbuf_u64(b);
	m->pong.row_seq = rbuf_u32(b);
	m->pong.size = rbuf_u16(b);
	m->pong.held_ns = rbuf_u32(b);
	m->pong.epoch = rbuf_u32(b);
	m->pong.link_rx = rbuf_u32(b);
	m->pong.path_rx = rbuf_u32(b);
	m->pong.arrived_us = rbuf_u32(b);
	m->pong.limit_kbits = rbuf_u32(b);
}

static void write_pong(struct wbuf *b, const struct msg *m)
{
	wbuf_u32(b, m->pong.id);
	wbuf_u64(b, m->pong.digest);
	wbuf_u32(b, m->pong.row_seq);
	wbuf_u16(b, m->pong.size);
	wbuf_u32(b, m->pong.held_ns);
	wbuf_u32(b, m->pong.epoch);
	wbuf_u32(b, m->pong.link_rx);
	wbuf_u32(b, m->pong.path_rx);
	wbuf_u32(b, m->pong.arrived_us);
	wbuf_u32(b, m->pong.limit_kbits);
}

/* NOTICE */

static bool valid_notice(const struct msg *m)
{
	return m->notice.next != NODE_ID_NONE && m->notice.destination != NODE_ID_NONE;
}

static void read_notice(struct rbuf *b, struct msg *m)
{
	m->notice.next = rbuf_u32(b);
	m->notice.destination = rbuf_u32(b);
}

static void write_notice(struct wbuf *b, const struct msg *m)
{
	wbuf_u32(b, m->notice.next);
	wbuf_u32(b, m->notice.destination);
}

/* SECRETS */

static void read_secrets(struct rbuf *b, struct msg *m)
{
	for (size_t i = 0; i < MSG_SECRETS_MAX; i++)
		m->secrets.name[i] = rbuf_u32(b);
}

static void write_secrets(struct wbuf *b, const struct msg *m)
{
	for (size_t i = 0; i < MSG_SECRETS_MAX; i++)
		wbuf_u32(b, m->secrets.name[i]);
}

/* CONFLICT */

static bool valid_conflict(const struct msg *m)
{
	return m->conflict.at.ip.family == 0 || endpoint_is_usable(&m->conflict.at);
}

static void read_conflict(struct rbuf *b, struct msg *m)
{
	struct msg_conflict *c = &m->conflict;

	c->mine = rbuf_u64(b);
	c->yours = rbuf_u64(b);
	c->incarnation = rbuf_u64(b);
	c->same_identity = rbuf_u8(b) & CONFLICT_SAME_IDENTITY;
	read_bytes(b, c->identity, MSG_KEY_LEN);
	read_bytes(b, c->signature, MSG_SIGNATURE_LEN);
	read_endpoint(b, &c->at);
}

static void write_conflict(struct wbuf *b, const struct msg *m)
{
	const struct msg_conflict *c = &m->conflict;

	wbuf_u64(b, c->mine);
	wbuf_u64(b, c->yours);
	wbuf_u64(b, c->incarnation);
	wbuf_u8(b, c->same_identity ? CONFLICT_SAME_IDENTITY : 0);
	wbuf_bytes(b, c->identity, MSG_KEY_LEN);
	wbuf_bytes(b, c->signature, MSG_SIGNATURE_LEN);
	write_endpoint(b, &c->at);
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
#define ROW_MIN 27
#define ROW_MAX (ROW_MIN + ROW_ENTRY * MSG_ROW_MAX)

static_assert(HELLO_MAX == MSG_HELLO_LEN, "padding of HELLO");
static_assert(CONFLICT_MAX <= MSG_HELLO_LEN, "an answer is no longer than its question");
static_assert(SUMMARY_MAX <= MSG_LEN_MAX && RECORD_PLAIN_MAX <= MSG_LEN_MAX &&
		      ROW_MAX <= MSG_LEN_MAX,
	      "message size");

static const struct msg_type_row {
	const char *name;
	uint16_t min, max;
	bool (*valid)(const struct msg *m);
	void (*read)(struct rbuf *b, struct msg *m);
	void (*write)(struct wbuf *b, const struct msg *m);
} table[] = {
	[MSG_HELLO] = { "hello", HELLO_MIN, HELLO_MAX, valid_hello, read_hello, write_hello },
	[MSG_SUMMARY_REQ] = { "summary-request", 1, 1, valid_empty, read_empty, write_empty },
	[MSG_SUMMARY] = { "summary", SUMMARY_MIN, SUMMARY_MAX, valid_summary, read_summary,
			  write_summary },
	[MSG_FETCH] = { "fetch", FETCH_MIN, FETCH_MAX, valid_fetch, read_fetch, write_fetch },
	[MSG_RECORD] = { "record", RECORD_MIN, MSG_LEN_MAX, valid_record, read_record,
			 write_record },
	[MSG_ROW] = { "row", ROW_MIN, ROW_MAX, valid_row, read_row, write_row },
	[MSG_PING] = { "ping", MSG_PING_LEN, MSG_PING_LEN, valid_empty, read_ping, write_ping },
	[MSG_PONG] = { "pong", 43, 43, valid_empty, read_pong, write_pong },
	[MSG_NOTICE] = { "notice", 9, 9, valid_notice, read_notice, write_notice },
	[MSG_CONFLICT] = { "conflict", CONFLICT_MIN, CONFLICT_MAX, valid_conflict, read_conflict,
			   write_conflict },
	[MSG_SECRETS] = { "secrets", 17, 17, valid_empty, read_secrets, write_secrets },
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
	t->read(&b, m);
	return b.ok && t->valid(m) ? 0 : -EBADMSG;
}

int msg_encode(const struct msg *m, void *out, size_t out_len)
{
	const struct msg_type_row *t = table_find(m->type);
	struct wbuf b = wbuf_of(out, out_len);

	if (!t || !t->valid(m))
		return -EINVAL;
	wbuf_u8(&b, m->type);
	t->write(&b, m);
	return b.ok ? (int)wbuf_len(&b) : -ENOSPC;
}

const char *msg_type_name(uint8_t type)
{
	const struct msg_type_row *t = table_find(type);

	return t ? t->name : "unknown";
}
