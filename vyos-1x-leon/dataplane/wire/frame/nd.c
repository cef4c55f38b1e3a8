// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Neighbor discovery (RFC 4861) for local answers: reads a solicitation or an advertisement, and
 * writes the advertisement for a host at another node. The workers call it for ICMPv6 frames. Pure.
 */
#include <errno.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/frame/csum.h"
#include "wire/frame/eth.h"

#define V6_HDR_LEN     40
#define V6_LEN	       16
#define V6_SRC_OFFSET  8
#define V6_DST_OFFSET  24
#define PROTO_ICMPV6   58
#define ND_HOP_LIMIT   255
#define ND_FIXED_LEN   24 /* type, code, checksum, flags, target */
#define ND_TARGET      8
#define ND_SOLICIT     135
#define ND_ADVERT      136
#define OPT_SOURCE_LL  1
#define OPT_TARGET_LL  2
#define OPT_LL_LEN     8
#define ADVERT_LEN     (ND_FIXED_LEN + OPT_LL_LEN) /* length with the link-layer address option */
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

/* Sums the pseudo-header (RFC 8200 section 8.1) and the ICMPv6 message. */
static uint16_t icmp_sum(const uint8_t *ip, size_t icmp_len)
{
	uint32_t sum = csum_add((uint32_t)icmp_len + PROTO_ICMPV6, ip + V6_SRC_OFFSET, 2 * V6_LEN);

	return csum_fold(csum_add(sum, ip + V6_HDR_LEN, icmp_len));
}

/* Finds the link-layer address among the options; returns false for a malformed option. */
static bool read_options(const uint8_t *opt, size_t len, struct nd_view *n)
{
	uint8_t wanted = n->type == ND_SOLICIT ? OPT_SOURCE_LL : OPT_TARGET_LL;

	while (len) {
		size_t opt_len = len < OPT_LL_LEN ? 0 : opt[1] * 8u;

		if (opt_len == 0 || opt_len > len)
			return false;
		if (opt[0] == wanted && opt_len == OPT_LL_LEN && !n->has_lladdr) {
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
	bool to_group = is_multicast(ip + V6_DST_OFFSET);

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
	if (icmp_len < ND_FIXED_LEN || icmp_len > len - v->l4_offset)
		return -EBADMSG;
	if (ip[7] != ND_HOP_LIMIT || (icmp[0] != ND_SOLICIT && icmp[0] != ND_ADVERT) ||
	    icmp[1] != 0)
		return -EBADMSG;
	if (icmp_sum(ip, icmp_len) != 0xffff)
		return -EBADMSG;
	*n = (struct nd_view){ .type = icmp[0], .source.family = 6, .target.family = 6 };
	memcpy(n->source.b, ip + V6_SRC_OFFSET, V6_LEN);
	memcpy(n->target.b, icmp + ND_TARGET, V6_LEN);
	if (n->type == ND_ADVERT) {
		n->router = icmp[4] & FLAG_ROUTER;
		n->solicited = icmp[4] & FLAG_SOLICITED;
		n->override = icmp[4] & FLAG_OVERRIDE;
	}
	if (!read_options(icmp + ND_FIXED_LEN, icmp_len - ND_FIXED_LEN, n))
		return -EBADMSG;
	return is_consistent(ip, n) ? 0 : -EBADMSG;
}

size_t nd_build_advert(const void *solicit, const struct eth_view *v, const struct nd_view *n,
		       struct mac mac, bool router, void *out, size_t out_len)
{
	/* A duplicate address probe has no source address for an answer. */
	bool probe = is_unspecified(n->source.b);
	struct mac asker = n->has_lladdr ? n->lladdr : v->src;
	uint8_t flags = FLAG_OVERRIDE;
	struct wbuf b = wbuf_of(out, out_len);
	uint8_t *ip;

	if (n->type != ND_SOLICIT || out_len < v->l3_offset + (size_t)V6_HDR_LEN + ADVERT_LEN)
		return 0;
	flags |= router ? FLAG_ROUTER : 0;
	flags |= probe ? 0 : FLAG_SOLICITED;
	wbuf_bytes(&b, probe ? all_nodes_mac.b : asker.b, MAC_LEN);
	wbuf_bytes(&b, mac.b, MAC_LEN);
	/* Copies the VLAN tags, if present, and the EtherType. */
	wbuf_bytes(&b, (const uint8_t *)solicit + 2 * MAC_LEN, v->l3_offset - 2u * MAC_LEN);
	ip = b.p;
	wbuf_u32(&b, 6u << 28);
	wbuf_u16(&b, ADVERT_LEN);
	wbuf_u8(&b, PROTO_ICMPV6);
	wbuf_u8(&b, ND_HOP_LIMIT);
	wbuf_bytes(&b, n->target.b, V6_LEN);
	wbuf_bytes(&b, probe ? all_nodes_ip : n->source.b, V6_LEN);
	wbuf_u8(&b, ND_ADVERT);
	wbuf_u8(&b, 0);
	wbuf_u16(&b, 0);
	wbuf_u8(&b, flags);
	wbuf_u24(&b, 0);
	wbuf_bytes(&b, n->target.b, V6_LEN);
	wbuf_u8(&b, OPT_TARGET_LL);
	wbuf_u8(&b, OPT_LL_LEN / 8);
	wbuf_bytes(&b, mac.b, MAC_LEN);
	put_u16(ip + V6_HDR_LEN + 2, (uint16_t)~icmp_sum(ip, ADVERT_LEN));
	return wbuf_len(&b);
}
