// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes queries of IGMPv3 (RFC 3376 section 4.1) and MLDv2 (RFC 3810 section 5.1) for the querier
 * of this node. Hosts with older versions understand the queries, and answer in their version.
 * Pure.
 */
#include <string.h>

#include "wire/bytes.h"
#include "wire/frame/csum.h"
#include "wire/frame/ip.h"
#include "wire/frame/mcast.h"

#define IGMP_QUERY 0x11
#define MLD_QUERY  130
#define IGMP_LEN   12
#define MLD_LEN	   28
/* Internetwork control (RFC 3376 section 4). */
#define TOS_CONTROL 0xc0
#define ROBUSTNESS  2

/* The dummy address (RFC 7600), and the link-local address of a MAC that no machine has. */
static const struct ip_addr querier4 = { 4, { 192, 0, 0, 8 } };
static const struct ip_addr querier6 = {
	6, { 0xfe, 0x80, [9] = 0x4c, 0x45, 0xff, 0xfe, 0x4f, 0x4e, 1 }
};

const struct ip_addr *mcast_querier(uint8_t family)
{
	return family == 4 ? &querier4 : &querier6;
}

static void put_header(struct wbuf *b, uint16_t vlan, struct mac src, const struct ip_addr *to)
{
	uint64_t low = mcast_low(to);

	if (to->family == 4)
		eth_put_header(b, mac_from_u64(0x01005e000000ULL | (low & MCAST_V4_BITS)), src,
			       vlan, ETHERTYPE_V4);
	else
		eth_put_header(b, mac_from_u64(0x3333ULL << 32 | low), src, vlan, ETHERTYPE_V6);
}

/* The fields behind the group, equal in both protocols. */
static void put_tail(struct wbuf *b)
{
	wbuf_u8(b, ROBUSTNESS);
	wbuf_u8(b, MCAST_QUERY_INTERVAL_S);
	wbuf_u16(b, 0); /* sources */
}

static void put_v4(struct wbuf *b, const struct ip_addr *to, const struct ip_addr *group,
		   uint32_t response_ms)
{
	uint8_t *ip = b->p, *igmp;

	wbuf_u8(b, 0x46);
	wbuf_u8(b, TOS_CONTROL);
	wbuf_u16(b, 24 + IGMP_LEN);
	wbuf_u32(b, 0);
	wbuf_u8(b, 1);
	wbuf_u8(b, PROTO_IGMP);
	wbuf_u16(b, 0);
	wbuf_bytes(b, querier4.b, V4_LEN);
	wbuf_bytes(b, to->b, V4_LEN);
	wbuf_u32(b, 0x94040000); /* Router Alert (RFC 2113) */
	checksum_v4_header(ip);
	igmp = b->p;
	wbuf_u8(b, IGMP_QUERY);
	wbuf_u8(b, (uint8_t)(response_ms / 100));
	wbuf_u16(b, 0);
	wbuf_bytes(b, group->b, V4_LEN);
	put_tail(b);
	put_u16(igmp + 2, (uint16_t)~csum_fold(csum_add(0, igmp, IGMP_LEN)));
}

static void put_v6(struct wbuf *b, const struct ip_addr *to, const struct ip_addr *group,
		   uint32_t response_ms)
{
	uint8_t *ip = b->p, *mld;

	wbuf_u32(b, 6u << 28);
	wbuf_u16(b, 8 + MLD_LEN);
	wbuf_u8(b, 0);
	wbuf_u8(b, 1);
	wbuf_bytes(b, querier6.b, V6_LEN);
	wbuf_bytes(b, to->b, V6_LEN);
	wbuf_u8(b, PROTO_ICMPV6);
	wbuf_u8(b, 0);
	wbuf_u32(b, 0x05020000); /* Router Alert (RFC 2711), padding */
	wbuf_u16(b, 0x0100);
	mld = b->p;
	wbuf_u8(b, MLD_QUERY);
	wbuf_u8(b, 0);
	wbuf_u16(b, 0);
	wbuf_u16(b, (uint16_t)response_ms);
	wbuf_u16(b, 0);
	wbuf_bytes(b, group->b, V6_LEN);
	put_tail(b);
	put_u16(mld + 2, (uint16_t)~checksum_l4(ip, PROTO_ICMPV6, mld, MLD_LEN));
}

size_t mcast_build_query(uint16_t vlan, struct mac src, uint8_t family, const struct ip_addr *group,
			 uint32_t response_ms, void *out)
{
	static const struct ip_addr all_hosts = { 4, { 224, 0, 0, 1 } },
				    all_nodes = { 6, { 0xff, 0x02, [15] = 1 } }, none;
	const struct ip_addr *to = group ? group : family == 4 ? &all_hosts : &all_nodes;
	struct wbuf b = wbuf_of(out, MCAST_QUERY_MAX);

	memset(out, 0, MCAST_QUERY_MAX);
	put_header(&b, vlan, src, to);
	if (family == 4)
		put_v4(&b, to, group ? group : &none, response_ms);
	else
		put_v6(&b, to, group ? group : &none, response_ms);
	return wbuf_len(&b) < ETH_MIN_LEN ? ETH_MIN_LEN : wbuf_len(&b);
}
