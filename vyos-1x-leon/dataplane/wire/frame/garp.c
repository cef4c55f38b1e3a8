// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Frames that announce a host on its behalf: RARP request (RFC 903) as hypervisors send after a
 * move, gratuitous ARP (RFC 5227 section 3), unsolicited neighbor advertisement (RFC 4861 section
 * 7.2.6). Also queries that make the host answer. Pure.
 */
#include <string.h>

#include "wire/bytes.h"
#include "wire/frame/csum.h"
#include "wire/frame/eth.h"

#define ETHERTYPE_RARP 0x8035
#define ARP_ETHERNET   1
#define ARP_REQUEST    1
#define RARP_REQUEST   3
#define V4_LEN	       4
#define V6_LEN	       16
#define V6_HDR_LEN     40
#define PROTO_ICMPV6   58
/* Neighbor discovery, RFC 4861 section 4. */
#define ND_LEN		  32
#define ND_SOLICIT	  135
#define ND_ADVERT	  136
#define ND_ROUTER	  0x80000000u
#define ND_OVERRIDE	  0x20000000u
#define ND_SOURCE_ADDRESS 1
#define ND_TARGET_ADDRESS 2
#define TAG_LEN		  4

/* Locally administered unicast MAC that no machine has. */
static const struct mac nobody = { { 0x02, 0x4c, 0x45, 0x4f, 0x4e, 0x01 } };
/* Sender address of queries: the dummy address (RFC 7600), or the link-local address of the unused
 * MAC. A query from address 0 would be a probe of a host that is about to claim the address. */
static const uint8_t nobody_ip4[V4_LEN] = { 192, 0, 0, 8 };
static const uint8_t nobody_ip6[V6_LEN] = {
	0xfe, 0x80, [9] = 0x4c, 0x45, 0xff, 0xfe, 0x4f, 0x4e, 1
};
static const struct mac everybody = { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } };
static const struct mac all_nodes = { { 0x33, 0x33, 0, 0, 0, 1 } };
static const uint8_t all_nodes_ip[V6_LEN] = { 0xff, 0x02, [15] = 1 };

static void put_header(struct wbuf *b, struct mac dst, struct mac src, uint16_t vlan,
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

/* Writes a broadcast ARP or RARP frame. */
struct arp_body {
	uint16_t ethertype, op;
	struct mac sender, target;
	const uint8_t *sender_ip, *target_ip;
};

static size_t build_arp(uint16_t vlan, struct mac src, const struct arp_body *a, void *out)
{
	size_t len = ETH_MIN_LEN + (vlan ? TAG_LEN : 0u);
	struct wbuf b = wbuf_of(out, len);

	put_header(&b, everybody, src, vlan, a->ethertype);
	wbuf_u16(&b, ARP_ETHERNET);
	wbuf_u16(&b, ETHERTYPE_V4);
	wbuf_u8(&b, MAC_LEN);
	wbuf_u8(&b, V4_LEN);
	wbuf_u16(&b, a->op);
	wbuf_bytes(&b, a->sender.b, MAC_LEN);
	wbuf_bytes(&b, a->sender_ip, V4_LEN);
	wbuf_bytes(&b, a->target.b, MAC_LEN);
	wbuf_bytes(&b, a->target_ip, V4_LEN);
	memset(b.p, 0, wbuf_left(&b));
	return len;
}

size_t rarp_build_announcement(uint16_t vlan, struct mac mac, void *out)
{
	static const uint8_t none[V4_LEN];

	return build_arp(vlan, mac,
			 &(struct arp_body){ .ethertype = ETHERTYPE_RARP,
					     .op = RARP_REQUEST,
					     .sender = mac,
					     .sender_ip = none,
					     .target = mac,
					     .target_ip = none },
			 out);
}

size_t arp_build_announcement(uint16_t vlan, struct mac mac, const struct ip_addr *ip, void *out)
{
	return build_arp(vlan, mac,
			 &(struct arp_body){ .ethertype = ETHERTYPE_ARP_,
					     .op = ARP_REQUEST,
					     .sender = mac,
					     .sender_ip = ip->b,
					     .target_ip = ip->b },
			 out);
}

size_t arp_build_question(uint16_t vlan, struct mac src, const struct ip_addr *ip, void *out)
{
	return build_arp(vlan, src,
			 &(struct arp_body){ .ethertype = ETHERTYPE_ARP_,
					     .op = ARP_REQUEST,
					     .sender = nobody,
					     .sender_ip = nobody_ip4,
					     .target_ip = ip->b },
			 out);
}

/* Writes a neighbor advertisement or solicitation with one link-layer address. */
struct nd_body {
	struct mac dst;
	const uint8_t *from, *to, *target;
	uint8_t type;
	uint32_t flags;
	uint8_t option;
	struct mac link_layer;
};

static size_t build_nd(uint16_t vlan, struct mac src, const struct nd_body *n, void *out)
{
	struct wbuf b = wbuf_of(out, ETH_ANNOUNCE_MAX);
	uint8_t *v6, *icmp;
	uint32_t sum;

	put_header(&b, n->dst, src, vlan, ETHERTYPE_V6);
	v6 = b.p;
	wbuf_u32(&b, 6u << 28);
	wbuf_u16(&b, ND_LEN);
	wbuf_u8(&b, PROTO_ICMPV6);
	wbuf_u8(&b, 255);
	wbuf_bytes(&b, n->from, V6_LEN);
	wbuf_bytes(&b, n->to, V6_LEN);
	icmp = b.p;
	wbuf_u8(&b, n->type);
	wbuf_u8(&b, 0);
	wbuf_u16(&b, 0);
	wbuf_u32(&b, n->flags);
	wbuf_bytes(&b, n->target, V6_LEN);
	wbuf_u8(&b, n->option);
	wbuf_u8(&b, 1); /* unit of 8 bytes */
	wbuf_bytes(&b, n->link_layer.b, MAC_LEN);
	sum = csum_add(ND_LEN + PROTO_ICMPV6, v6 + 8, 2 * V6_LEN);
	put_u16(icmp + 2, (uint16_t)~csum_fold(csum_add(sum, icmp, ND_LEN)));
	return wbuf_len(&b);
}

size_t nd_build_announcement(uint16_t vlan, struct mac mac, const struct ip_addr *ip, bool router,
			     void *out)
{
	return build_nd(vlan, mac,
			&(struct nd_body){ .dst = all_nodes,
					   .from = ip->b,
					   .to = all_nodes_ip,
					   .type = ND_ADVERT,
					   .flags = ND_OVERRIDE | (router ? ND_ROUTER : 0),
					   .target = ip->b,
					   .option = ND_TARGET_ADDRESS,
					   .link_layer = mac },
			out);
}

/* Destination: the solicited-node address (RFC 4291 section 2.7.1). */
size_t nd_build_question(uint16_t vlan, struct mac src, const struct ip_addr *ip, void *out)
{
	const uint8_t *end = ip->b + V6_LEN - 3;
	uint8_t group[V6_LEN] = { 0xff, 0x02, [11] = 1, 0xff, end[0], end[1], end[2] };

	return build_nd(vlan, src,
			&(struct nd_body){ .dst = { { 0x33, 0x33, 0xff, end[0], end[1], end[2] } },
					   .from = nobody_ip6,
					   .to = group,
					   .type = ND_SOLICIT,
					   .target = ip->b,
					   .option = ND_SOURCE_ADDRESS,
					   .link_layer = nobody },
			out);
}
