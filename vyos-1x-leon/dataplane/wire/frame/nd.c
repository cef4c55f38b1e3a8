// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Neighbor discovery (RFC 4861): reads a solicitation or an advertisement. Writes the advertisement
 * for a host at another node, and the unsolicited one that announces a host (section 7.2.6). Writes
 * the solicitation that makes a host answer. The workers call it for ICMPv6 frames. Pure.
 */
#include <errno.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/frame/csum.h"
#include "wire/frame/eth.h"
#include "wire/frame/ip.h"
#include "wire/frame/mcast.h"

#define HOP_LIMIT      255
#define FIXED_LEN      24 /* type, code, checksum, flags, target */
#define TARGET	       8
#define OPT_SOURCE_LL  1
#define OPT_TARGET_LL  2
#define OPT_LL_LEN     8
#define MESSAGE_LEN    (FIXED_LEN + OPT_LL_LEN) /* length with the link-layer address option */
#define FLAG_ROUTER    0x80
#define FLAG_SOLICITED 0x40
#define FLAG_OVERRIDE  0x20

static const uint8_t all_nodes_ip[V6_LEN] = { 0xff, 0x02, [15] = 1 };
static const struct mac all_nodes_mac = { { 0x33, 0x33, 0, 0, 0, 1 } };

static bool is_multicast(const uint8_t *v6)
{
	return v6[0] == 0xff;
}

static bool is_unspecified(const uint8_t *v6)
{
	static const uint8_t zero[V6_LEN];

	return !memcmp(v6, zero, V6_LEN);
}

/* The option with the link-layer address that belongs to a message of this type. */
static uint8_t option_of(uint8_t type)
{
	return type == ND_SOLICIT ? OPT_SOURCE_LL : OPT_TARGET_LL;
}

/* Finds the link-layer address among the options; returns false for a malformed option. */
static bool read_options(const uint8_t *opt, size_t len, struct nd_view *n)
{
	while (len) {
		size_t opt_len = len < OPT_LL_LEN ? 0 : opt[1] * 8u;

		if (opt_len == 0 || opt_len > len)
			return false;
		if (opt[0] == option_of(n->type) && opt_len == OPT_LL_LEN && !n->has_lladdr) {
			n->has_lladdr = true;
			memcpy(n->lladdr.b, opt + 2, MAC_LEN);
		}
		opt += opt_len;
		len -= opt_len;
	}
	return !mac_is_multicast(n->lladdr);
}

/* Checks the relations of addresses, flags and options (sections 7.1.1 and 7.1.2). */
static bool is_consistent(const uint8_t *ip, const struct nd_view *n)
{
	bool to_group = is_multicast(ip + V6_DST);

	if (is_multicast(n->target.b) || is_unspecified(n->target.b) || is_multicast(n->source.b))
		return false;
	if (n->type == ND_ADVERT)
		return !(to_group && n->solicited) && !is_unspecified(n->source.b);
	return !is_unspecified(n->source.b) || (to_group && !n->has_lladdr);
}

int nd_parse(const void *frame, size_t len, const struct eth_view *v, struct nd_view *n)
{
	const uint8_t *ip = (const uint8_t *)frame + v->l3_offset;
	const uint8_t *icmp = ip + V6_HDR_LEN;
	size_t icmp_len;

	/* Hosts send neighbor discovery without extension headers, and RFC 6980 forbids fragments,
	 * so the message directly follows the IPv6 header. */
	if (v->ip_version != 6 || v->ip_proto != PROTO_ICMPV6 ||
	    v->l4_offset != v->l3_offset + V6_HDR_LEN)
		return -EBADMSG;
	icmp_len = get_u16(ip + 4);
	if (icmp_len < FIXED_LEN || icmp_len > len - v->l4_offset)
		return -EBADMSG;
	if (ip[7] != HOP_LIMIT || (icmp[0] != ND_SOLICIT && icmp[0] != ND_ADVERT) || icmp[1] != 0)
		return -EBADMSG;
	if (checksum_l4(ip, PROTO_ICMPV6, icmp, icmp_len) != 0xffff)
		return -EBADMSG;
	*n = (struct nd_view){ .type = icmp[0], .source.family = 6, .target.family = 6 };
	memcpy(n->source.b, ip + V6_SRC, V6_LEN);
	memcpy(n->target.b, icmp + TARGET, V6_LEN);
	if (n->type == ND_ADVERT) {
		n->router = icmp[4] & FLAG_ROUTER;
		n->solicited = icmp[4] & FLAG_SOLICITED;
		n->override = icmp[4] & FLAG_OVERRIDE;
	}
	if (!read_options(icmp + FIXED_LEN, icmp_len - FIXED_LEN, n))
		return -EBADMSG;
	return is_consistent(ip, n) ? 0 : -EBADMSG;
}

struct nd_message {
	const uint8_t *from, *to, *target;
	uint8_t type, flags;
	struct mac link_layer;
};

/* Returns the length of the frame. */
static size_t put_message(struct wbuf *b, const struct nd_message *n)
{
	uint8_t *ip = b->p, *icmp;

	wbuf_u32(b, 6u << 28);
	wbuf_u16(b, MESSAGE_LEN);
	wbuf_u8(b, PROTO_ICMPV6);
	wbuf_u8(b, HOP_LIMIT);
	wbuf_bytes(b, n->from, V6_LEN);
	wbuf_bytes(b, n->to, V6_LEN);
	icmp = b->p;
	wbuf_u8(b, n->type);
	wbuf_u8(b, 0);
	wbuf_u16(b, 0);
	wbuf_u8(b, n->flags);
	wbuf_u24(b, 0);
	wbuf_bytes(b, n->target, V6_LEN);
	wbuf_u8(b, option_of(n->type));
	wbuf_u8(b, OPT_LL_LEN / 8);
	wbuf_bytes(b, n->link_layer.b, MAC_LEN);
	put_u16(icmp + 2, (uint16_t)~checksum_l4(ip, PROTO_ICMPV6, icmp, MESSAGE_LEN));
	return wbuf_len(b);
}

size_t nd_build_advert(const void *solicit, const struct eth_view *v, const struct nd_view *n,
		       struct mac mac, bool router, void *out, size_t out_len)
{
	/* A duplicate address probe has no source address for an answer. */
	bool probe = is_unspecified(n->source.b);
	struct mac asker = n->has_lladdr ? n->lladdr : v->src;
	const struct nd_message advert = { .from = n->target.b,
					   .to = probe ? all_nodes_ip : n->source.b,
					   .target = n->target.b,
					   .type = ND_ADVERT,
					   .flags = (uint8_t)(FLAG_OVERRIDE |
							      (router ? FLAG_ROUTER : 0) |
							      (probe ? 0 : FLAG_SOLICITED)),
					   .link_layer = mac };
	struct wbuf b = wbuf_of(out, out_len);

	if (n->type != ND_SOLICIT || out_len < v->l3_offset + (size_t)V6_HDR_LEN + MESSAGE_LEN)
		return 0;
	eth_put_answer(&b, solicit, v, probe ? all_nodes_mac : asker, mac);
	return put_message(&b, &advert);
}

size_t nd_build_announcement(uint16_t vlan, struct mac mac, const struct ip_addr *ip, bool router,
			     void *out)
{
	const struct nd_message advert = { .from = ip->b,
					   .to = all_nodes_ip,
					   .target = ip->b,
					   .type = ND_ADVERT,
					   .flags = (uint8_t)(FLAG_OVERRIDE |
							      (router ? FLAG_ROUTER : 0)),
					   .link_layer = mac };
	struct wbuf b = wbuf_of(out, ETH_ANNOUNCE_MAX);

	eth_put_header(&b, all_nodes_mac, mac, vlan, ETHERTYPE_V6);
	return put_message(&b, &advert);
}

/* Destination: the solicited-node address (RFC 4291 section 2.7.1). */
size_t nd_build_question(uint16_t vlan, struct mac src, const struct ip_addr *ip, void *out)
{
	const uint8_t *end = ip->b + V6_LEN - 3;
	const uint8_t group[V6_LEN] = { 0xff, 0x02, [11] = 1, 0xff, end[0], end[1], end[2] };
	const struct mac group_mac = { { 0x33, 0x33, 0xff, end[0], end[1], end[2] } };
	const struct nd_message solicit = { .from = mcast_querier(6)->b,
					    .to = group,
					    .target = ip->b,
					    .type = ND_SOLICIT,
					    .link_layer = eth_nobody() };
	struct wbuf b = wbuf_of(out, ETH_ANNOUNCE_MAX);

	eth_put_header(&b, group_mac, src, vlan, ETHERTYPE_V6);
	return put_message(&b, &solicit);
}
