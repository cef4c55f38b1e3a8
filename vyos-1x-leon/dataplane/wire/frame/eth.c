// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parses an Ethernet frame into a view. The workers call it once for every frame from the TAP and
 * for every delivered frame. Unreadable fields stay 0: a bridge forwards a frame with a malformed
 * network header. Pure.
 */
#include "wire/frame/eth.h"

#include <errno.h>
#include <string.h>

#include "base/defs.h"
#include "wire/bytes.h"
#include "wire/frame/ip.h"

#define TAGS_MAX     2
#define EXT_UNIT     8 /* bytes; extension headers are multiples of it */
#define EXT_MAX	     8 /* limit of the chain of extension headers */
#define V4_FRAG_MORE 0x2000
#define V4_FRAG_OFF  0x1fff
#define V6_FRAG_BITS 0xfff9 /* offset and the M flag, without the reserved bits */

/* Extension headers in front of the transport header. Others, such as AH, are protocols, as in
 * IPv4. */
enum v6_next {
	NEXT_HOP_BY_HOP = 0,
	NEXT_ROUTING = 43,
	NEXT_FRAGMENT = 44,
	NEXT_DEST_OPTIONS = 60,
};

static void parse_v4(const uint8_t *p, size_t len, struct eth_view *v)
{
	const uint8_t *ip = p + v->l3_offset;
	size_t hdr_len, l4;
	uint16_t fragment;

	if (len < v->l3_offset + (size_t)V4_HDR_LEN || ip[0] >> 4 != 4)
		return;
	hdr_len = (ip[0] & 0x0fu) * 4;
	if (hdr_len < V4_HDR_LEN)
		return;
	fragment = get_u16(ip + 6);
	v->ip_version = 4;
	v->ip_proto = ip[9];
	v->ip_fragment = fragment & (V4_FRAG_MORE | V4_FRAG_OFF);
	l4 = v->l3_offset + hdr_len;
	if (!(fragment & V4_FRAG_OFF) && l4 < len)
		v->l4_offset = (uint16_t)l4;
}

static bool is_stepped_over(uint8_t next)
{
	return next == NEXT_HOP_BY_HOP || next == NEXT_ROUTING || next == NEXT_DEST_OPTIONS;
}

static void parse_v6(const uint8_t *p, size_t len, struct eth_view *v)
{
	size_t at = v->l3_offset + (size_t)V6_HDR_LEN;
	uint8_t next;

	if (len < at || p[v->l3_offset] >> 4 != 6)
		return;
	v->ip_version = 6;
	next = p[v->l3_offset + 6];
	for (unsigned i = 0; i < EXT_MAX && is_stepped_over(next); i++) {
		if (len < at + EXT_UNIT)
			return;
		next = p[at];
		at += (p[at + 1] + 1u) * EXT_UNIT;
	}
	/* A truncated fragment header counts as a fragment. A complete one has the number of the
	 * protocol, as the header of IPv4 has. The transport header behind it cannot be trusted. */
	if (next == NEXT_FRAGMENT) {
		v->ip_fragment = len < at + EXT_UNIT || get_u16(p + at + 2) & V6_FRAG_BITS;
		next = len < at + EXT_UNIT ? NEXT_FRAGMENT : p[at];
		at = len;
	}
	if (next == NEXT_FRAGMENT || is_stepped_over(next))
		return;
	v->ip_proto = next;
	if (at < len)
		v->l4_offset = (uint16_t)at;
}

int eth_parse(const void *frame, size_t len, struct eth_view *v)
{
	const uint8_t *p = frame;
	size_t offset = ETH_HDR_LEN;

	*v = (struct eth_view){ 0 };
	if (unlikely(len < ETH_HDR_LEN))
		return -EBADMSG;
	memcpy(v->dst.b, p, MAC_LEN);
	memcpy(v->src.b, p + MAC_LEN, MAC_LEN);
	if (unlikely(mac_is_multicast(v->src)))
		return -EBADMSG;
	v->ethertype = get_u16(p + 2 * MAC_LEN);
	for (unsigned tags = 0; tags < TAGS_MAX && eth_is_tag(v->ethertype); tags++) {
		if (unlikely(len < offset + ETH_TAG_LEN))
			return -EBADMSG;
		if (tags == 0) {
			v->tag = v->ethertype;
			v->vlan = get_u16(p + offset) & 0x0fff;
		}
		v->ethertype = get_u16(p + offset + 2);
		offset += ETH_TAG_LEN;
	}
	v->l3_offset = (uint16_t)offset;
	if (v->ethertype == ETHERTYPE_V4)
		parse_v4(p, len, v);
	else if (v->ethertype == ETHERTYPE_V6)
		parse_v6(p, len, v);
	return 0;
}

bool eth_is_link_local_control(struct mac dst)
{
	return mac_to_u64(dst) >> 4 == 0x0180c2000000ULL >> 4;
}

void eth_put_header(struct wbuf *b, struct mac dst, struct mac src, uint16_t vlan,
		    uint16_t ethertype)
{
	wbuf_bytes(b, dst.b, MAC_LEN);
	wbuf_bytes(b, src.b, MAC_LEN);
	if (vlan) {
		wbuf_u16(b, ETHERTYPE_DOT1Q);
		wbuf_u16(b, vlan);
	}
	wbuf_u16(b, ethertype);
}

void eth_put_answer(struct wbuf *b, const void *frame, const struct eth_view *v, struct mac dst,
		    struct mac src)
{
	wbuf_bytes(b, dst.b, MAC_LEN);
	wbuf_bytes(b, src.b, MAC_LEN);
	/* Tags and EtherType. */
	wbuf_bytes(b, (const uint8_t *)frame + 2 * MAC_LEN, v->l3_offset - 2u * MAC_LEN);
}
