// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RECORD: the record of a node with addresses, prefixes, segments and attributes. Reading, checks
 * and writing for the table of msg.c. Control thread; pure. doc/protocol.md section 4.
 */
#include <string.h>

#include "base/defs.h"
#include "wire/bytes.h"
#include "wire/message/msg.h"
#include "wire/message/msg_parts.h"

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

bool record_valid(const struct msg *m)
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

void record_read(struct rbuf *b, struct msg *m)
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

void record_write(struct wbuf *b, const struct msg *m)
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
