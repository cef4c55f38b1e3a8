// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Frames that say where a host is, on its behalf: a RARP request (RFC 903), as hypervisors send it
 * after a move, a gratuitous ARP (RFC 5227 section 3) and an unsolicited neighbor advertisement
 * (RFC 4861 section 7.2.6); and such that ask it to say so itself. Pure.
 */
#include <string.h>

#include "wire/bytes.h"
#include "wire/csum.h"
#include "wire/eth.h"

#define ETHERTYPE_RARP 0x8035
#define ARP_ETHERNET   1
#define ARP_REQUEST    1
#define RARP_REQUEST   3
#define V4_LEN	       4
#define V6_LEN	       16
#define V6_HDR_LEN     40
#define PROTO_ICMPV6   58
#define ADVERT_LEN     32
#define SOLICIT_LEN    32
#define TAG_LEN	       4

/* Locally administered, and no machine's. */
static const struct mac nobody = { { 0x02, 0x4c, 0x45, 0x4f, 0x4e, 0x01 } };
/* The dummy address (RFC 7600), which nobody has, and the link-local one of that MAC. Not 0: who
 * asks as 0 is about to take the address for himself. */
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

/* Both addresses of ARP are the host's. */
static size_t build_arp(uint16_t vlan, struct mac mac, uint16_t ethertype, uint16_t op,
			const uint8_t ip[V4_LEN], struct mac target, void *out)
{
	size_t len = ETH_MIN_LEN + (vlan ? TAG_LEN : 0u);
	struct wbuf b = wbuf_of(out, len);

	put_header(&b, everybody, mac, vlan, ethertype);
	wbuf_u16(&b, ARP_ETHERNET);
	wbuf_u16(&b, ETHERTYPE_V4);
	wbuf_u8(&b, MAC_LEN);
	wbuf_u8(&b, V4_LEN);
	wbuf_u16(&b, op);
	wbuf_bytes(&b, mac.b, MAC_LEN);
	wbuf_bytes(&b, ip, V4_LEN);
	wbuf_bytes(&b, target.b, MAC_LEN);
	wbuf_bytes(&b, ip, V4_LEN);
	memset(b.p, 0, wbuf_left(&b));
	return len;
}

size_t rarp_build_announcement(uint16_t vlan, struct mac mac, void *out)
{
	static const uint8_t none[V4_LEN];

	return build_arp(vlan, mac, ETHERTYPE_RARP, RARP_REQUEST, none, mac, out);
}

size_t arp_build_announcement(uint16_t vlan, struct mac mac, const struct ip_addr *ip, void *out)
{
	static const struct mac unknown;

	return build_arp(vlan, mac, ETHERTYPE_ARP_, ARP_REQUEST, ip->b, unknown, out);
}

size_t nd_build_announcement(uint16_t vlan, struct mac mac, const struct ip_addr *ip, bool router,
			     void *out)
{
	struct wbuf b = wbuf_of(out, ETH_ANNOUNCE_MAX);
	uint8_t *v6, *icmp;
	uint32_t sum;

	put_header(&b, all_nodes, mac, vlan, ETHERTYPE_V6);
	v6 = b.p;
	wbuf_u32(&b, 6u << 28);
	wbuf_u16(&b, ADVERT_LEN);
	wbuf_u8(&b, PROTO_ICMPV6);
	wbuf_u8(&b, 255);
	wbuf_bytes(&b, ip->b, V6_LEN);
	wbuf_bytes(&b, all_nodes_ip, V6_LEN);
	icmp = b.p;
	wbuf_u8(&b, 136);
	wbuf_u8(&b, 0);
	wbuf_u16(&b, 0);
	wbuf_u8(&b, router ? 0xa0 : 0x20); /* router, override */
	wbuf_u24(&b, 0);
	wbuf_bytes(&b, ip->b, V6_LEN);
	wbuf_u8(&b, 2); /* the host's link-layer address */
	wbuf_u8(&b, 1);
	wbuf_bytes(&b, mac.b, MAC_LEN);
	sum = csum_add(ADVERT_LEN + PROTO_ICMPV6, v6 + 8, 2 * V6_LEN);
	put_u16(icmp + 2, (uint16_t)~csum_fold(csum_add(sum, icmp, ADVERT_LEN)));
	return wbuf_len(&b);
}

size_t arp_build_question(uint16_t vlan, struct mac src, const struct ip_addr *ip, void *out)
{
	static const uint8_t unknown[MAC_LEN];
	size_t len = ETH_MIN_LEN + (vlan ? TAG_LEN : 0u);
	struct wbuf b = wbuf_of(out, len);

	put_header(&b, everybody, src, vlan, ETHERTYPE_ARP_);
	wbuf_u16(&b, ARP_ETHERNET);
	wbuf_u16(&b, ETHERTYPE_V4);
	wbuf_u8(&b, MAC_LEN);
	wbuf_u8(&b, V4_LEN);
	wbuf_u16(&b, ARP_REQUEST);
	wbuf_bytes(&b, nobody.b, MAC_LEN);
	wbuf_bytes(&b, nobody_ip4, V4_LEN);
	wbuf_bytes(&b, unknown, MAC_LEN);
	wbuf_bytes(&b, ip->b, V4_LEN);
	memset(b.p, 0, wbuf_left(&b));
	return len;
}

/* To the solicited-node address (RFC 4291 section 2.7.1). */
size_t nd_build_question(uint16_t vlan, struct mac src, const struct ip_addr *ip, void *out)
{
	const uint8_t *end = ip->b + V6_LEN - 3;
	struct mac dst = { { 0x33, 0x33, 0xff, end[0], end[1], end[2] } };
	uint8_t group[V6_LEN] = { 0xff, 0x02, [11] = 1, 0xff, end[0], end[1], end[2] };
	struct wbuf b = wbuf_of(out, ETH_ANNOUNCE_MAX);
	uint8_t *v6, *icmp;
	uint32_t sum;

	put_header(&b, dst, src, vlan, ETHERTYPE_V6);
	v6 = b.p;
	wbuf_u32(&b, 6u << 28);
	wbuf_u16(&b, SOLICIT_LEN);
	wbuf_u8(&b, PROTO_ICMPV6);
	wbuf_u8(&b, 255);
	wbuf_bytes(&b, nobody_ip6, V6_LEN);
	wbuf_bytes(&b, group, V6_LEN);
	icmp = b.p;
	wbuf_u8(&b, 135);
	wbuf_u8(&b, 0);
	wbuf_u16(&b, 0);
	wbuf_u32(&b, 0);
	wbuf_bytes(&b, ip->b, V6_LEN);
	wbuf_u8(&b, 1); /* source link-layer address, of one unit of 8 bytes */
	wbuf_u8(&b, 1);
	wbuf_bytes(&b, nobody.b, MAC_LEN);
	sum = csum_add(SOLICIT_LEN + PROTO_ICMPV6, v6 + 8, 2 * V6_LEN);
	put_u16(icmp + 2, (uint16_t)~csum_fold(csum_add(sum, icmp, SOLICIT_LEN)));
	return wbuf_len(&b);
}
