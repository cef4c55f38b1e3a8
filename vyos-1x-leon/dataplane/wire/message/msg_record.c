// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RECORD: the record of a node with addresses, prefixes, segments and attributes. Reading, checks
 * and writing for the table of msg.c. Fields that several messages have (msg_parts.h). Control
 * thread; pure. doc/protocol.md section 4.
 */
#include <assert.h>
#include <string.h>

#include "base/defs.h"
#include "base/text.h"
#include "wire/bytes.h"
#include "wire/frame/ip.h"
#include "wire/message/msg.h"
#include "wire/message/msg_parts.h"

/* --- fields that several messages have --- */

static_assert(IP_WIRE_MAX == 1 + V6_LEN, "family, address");

int family_len(uint8_t family)
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

void code_ip(struct codec *b, struct ip_addr *ip)
{
	int n;

	code_u8(b, &ip->family);
	n = family_len(ip->family);
	if (n >= 0)
		code_bytes(b, ip->b, (size_t)n);
	else if (b->in)
		b->in->ok = false;
}

void code_endpoint(struct codec *b, struct endpoint *ep)
{
	code_ip(b, &ep->ip);
	if (ep->ip.family)
		code_u16(b, &ep->port);
}

bool are_parts_valid(uint16_t part, uint16_t parts)
{
	return parts >= 1 && parts <= MSG_PARTS_MAX && part < parts;
}

/* --- RECORD --- */

static bool is_name_valid(const char name[MSG_NAME_MAX + 1])
{
	size_t len = strnlen(name, MSG_NAME_MAX + 1);

	return len <= MSG_NAME_MAX && ascii_is_word(name, len);
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
		if (!ip_is_usable(&r->overlay[i]))
			return false;
	for (size_t i = 0; i < r->n_prefixes; i++)
		if (!is_prefix_valid(&r->prefix[i]))
			return false;
	return are_segments_valid(r) && is_lan_valid(r) && are_attributes_valid(r);
}

static void code_name(struct codec *b, char name[MSG_NAME_MAX + 1])
{
	uint8_t len = (uint8_t)strlen(name);

	len = (uint8_t)code_count(b, &len, MSG_NAME_MAX);
	code_bytes(b, (uint8_t *)name, len);
	/* A NUL in the name would hide its remainder from valid(). */
	if (b->in && strnlen(name, len) != len)
		b->in->ok = false;
}

/* Clears the host bits, so that a prefix has one representation. */
static void code_prefix(struct codec *b, struct prefix *prefix)
{
	struct prefix p = *prefix;

	prefix_mask(&p);
	code_ip(b, &p.ip);
	code_u8(b, &p.len);
	prefix_mask(&p);
	if (b->in)
		*prefix = p;
}

static void code_segments(struct codec *b, struct msg_record *r)
{
	for (unsigned i = 0, n = code_count(b, &r->n_segments, MSG_SEGMENTS_MAX); i < n; i++) {
		code_u24(b, &r->segment[i].first);
		code_u24(b, &r->segment[i].last);
	}
}

static void code_lan(struct codec *b, struct msg_record *r)
{
	struct record_lan *l = &r->lan;

	if (!(r->flags & RECORD_LAN))
		return;
	code_u64(b, &l->low);
	code_u64(b, &l->high);
	for (unsigned i = 0, n = code_count(b, &l->n, MSG_LAN_NODES_MAX); i < n; i++)
		code_u32(b, &l->node[i]);
}

/* A length of 0 is padding. */
static void code_attributes(struct codec *b, struct msg_record *r)
{
	uint16_t len = r->n_attributes;

	if (b->in ? rbuf_left(b->in) < 2 : !len)
		return;
	if (!code_count16(b, &len, MSG_ATTRIBUTES_MAX))
		return;
	if (b->in)
		r->n_attributes = (uint8_t)len;
	code_bytes(b, r->attributes, len);
	code_bytes(b, r->attributes_signature, MSG_SIGNATURE_LEN);
}

void record_code(struct codec *b, struct msg *m)
{
	struct msg_record *r = &m->record;

	code_u32(b, &r->origin);
	code_u64(b, &r->incarnation);
	code_u32(b, &r->seq);
	code_u16(b, &r->flags);
	code_name(b, r->name);
	for (unsigned i = 0, n = code_count(b, &r->n_locators, MSG_LOCATORS_MAX); i < n; i++)
		code_endpoint(b, &r->locator[i]);
	for (unsigned i = 0, n = code_count(b, &r->n_overlay, MSG_OVERLAY_MAX); i < n; i++)
		code_ip(b, &r->overlay[i]);
	for (unsigned i = 0, n = code_count(b, &r->n_prefixes, MSG_PREFIXES_MAX); i < n; i++)
		code_prefix(b, &r->prefix[i]);
	code_segments(b, r);
	code_lan(b, r);
	code_bytes(b, r->identity, MSG_KEY_LEN);
	code_bytes(b, r->signature, MSG_SIGNATURE_LEN);
	code_attributes(b, r);
}
