// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads IGMP, MLD, PIM hellos and multicast router advertisements, see mcast.h. The messages of
 * both families have one structure: IGMP with addresses of 4 bytes, MLD with 16. Router Alert and
 * the TTL are not checked: LEON does not route, and a bridge must learn of each listener. Writes
 * queries of IGMPv3 (RFC 3376 section 4.1) and MLDv2 (RFC 3810 section 5.1) for the querier of this
 * node. Hosts with older versions understand the queries, and answer in their version. Pure.
 */
#include <errno.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/frame/csum.h"
#include "wire/frame/ip.h"
#include "wire/frame/mcast.h"

#define PROTO_PIM  103
#define PIM_HELLO  0x20 /* version 2, type 0 */
#define SCOPE_LINK 2
#define MS_PER_S   1000u
#define SUPPRESS   0x08 /* RFC 3376 section 4.1.5: the querier knows listeners of the group */

enum igmp_type {
	IGMP_QUERY = 0x11,
	IGMP_V1_REPORT = 0x12,
	IGMP_DVMRP = 0x13,
	IGMP_V2_REPORT = 0x16,
	IGMP_LEAVE = 0x17,
	IGMP_V3_REPORT = 0x22,
	IGMP_ROUTER = 0x30,
};
enum mld_type {
	MLD_QUERY = 130,
	MLD_V1_REPORT = 131,
	MLD_DONE = 132,
	MLD_V2_REPORT = 143,
	MLD_ROUTER = 151,
};
/* RFC 3376 section 4.2.12, RFC 3810 section 5.2.12. */
enum record_type { IS_INCLUDE = 1, IS_EXCLUDE, TO_INCLUDE, TO_EXCLUDE, ALLOW_NEW, BLOCK_OLD };

/* RFC 3376 section 8.3: the response time of a query of IGMPv1, which states none. */
#define V1_RESPONSE_MS 10000u

static bool is_multicast(const struct ip_addr *ip)
{
	return ip->family == 4 ? ip->b[0] >> 4 == 0xe : ip->b[0] == 0xff;
}

bool mcast_is_link_local(const struct ip_addr *group)
{
	if (group->family == 4)
		return (mcast_low(group) & MCAST_V4_BITS) < 256;
	return (group->b[1] & 0x0f) <= SCOPE_LINK;
}

uint32_t mcast_low(const struct ip_addr *ip)
{
	return get_u32(ip->b + (ip->family == 4 ? 0 : V6_LEN - V4_LEN));
}

uint8_t mcast_group_of(const uint8_t *frame, size_t len, const struct eth_view *v, uint32_t *group)
{
	const uint8_t *mac = v->dst.b, *ip = frame + v->l3_offset;

	*group = get_u32(mac + 2);
	if (eth_has_two_tags(v))
		return 0;
	if (v->ip_version == 4 && mac[0] == 0x01 && mac[1] == 0x00 && mac[2] == 0x5e) {
		*group &= MCAST_V4_BITS;
		return *group < 256 || v->ip_proto == PROTO_IGMP ? 0 : 4;
	}
	if (v->ip_version != 6 || mac[0] != 0x33 || mac[1] != 0x33 ||
	    len < v->l3_offset + (size_t)V6_HDR_LEN)
		return 0;
	if (ip[V6_DST] != 0xff || (ip[V6_DST + 1] & 0x0f) <= SCOPE_LINK ||
	    v->ip_proto == PROTO_ICMPV6)
		return 0;
	return 6;
}

/* --- fields --- */

static struct ip_addr address(uint8_t family, const uint8_t *p)
{
	struct ip_addr ip = { .family = family };

	memcpy(ip.b, p, family == 4 ? V4_LEN : V6_LEN);
	return ip;
}

/* Floating-point codes of times: RFC 3376 sections 4.1.1 and 4.1.7, RFC 3810 section 5.1.3. */
static uint32_t code8(uint8_t c)
{
	return c < 128 ? c : (uint32_t)((c & 0x0f) | 0x10) << (((c >> 4) & 7) + 3);
}

static uint32_t code16(uint16_t c)
{
	return c < 32768 ? c : (uint32_t)((c & 0x0fff) | 0x1000) << (((c >> 12) & 7) + 3);
}

/* b: the fields behind the group of a query of IGMPv3 or MLDv2. */
static void read_v3_query(const uint8_t *b, struct mcast_message *m)
{
	uint32_t robustness = b[0] & 7, interval_s = code8(b[1]);

	m->keeps_timer = get_u16(b + 2) || b[0] & SUPPRESS;
	if (robustness && interval_s)
		m->lifetime_ms = robustness * interval_s * MS_PER_S + m->response_ms;
}

/* --- messages --- */

static int read_group(const uint8_t *b, struct mcast_message *m)
{
	m->group = address(m->family, b);
	if (is_multicast(&m->group))
		return 0;
	for (unsigned i = 0; i < V6_LEN; i++)
		if (m->group.b[i])
			return -EBADMSG;
	m->group.family = 0;
	return m->kind == MCAST_QUERY ? 0 : -EBADMSG;
}

static int read_query(const uint8_t *b, size_t len, struct mcast_message *m)
{
	const bool v4 = m->family == 4;
	const size_t v1_len = v4 ? 4 + V4_LEN : 8 + V6_LEN, group_at = v4 ? 4 : 8;

	m->kind = MCAST_QUERY;
	if (len < v1_len)
		return -EBADMSG;
	if (len == v1_len)
		m->response_ms = v4 ? b[1] * 100u : get_u16(b + 4);
	else if (len >= v1_len + 4)
		m->response_ms = v4 ? code8(b[1]) * 100 : code16(get_u16(b + 4));
	else
		return -EBADMSG;
	if (v4 && len == v1_len && !b[1])
		m->response_ms = V1_RESPONSE_MS;
	if (len > v1_len)
		read_v3_query(b + v1_len, m);
	return read_group(b + group_at, m);
}

static int read_v1_report(const uint8_t *b, size_t len, bool leaves, struct mcast_message *m)
{
	const size_t group_at = m->family == 4 ? 4 : 8;

	m->kind = MCAST_REPORT;
	m->suppresses = !leaves;
	m->single = true;
	m->leaves = leaves;
	if (len < group_at + (m->family == 4 ? V4_LEN : V6_LEN))
		return -EBADMSG;
	return read_group(b + group_at, m);
}

static int read_v3_report(const uint8_t *b, size_t len, struct mcast_message *m)
{
	m->kind = MCAST_REPORT;
	if (len < 8)
		return -EBADMSG;
	m->n_records = get_u16(b + 6);
	m->record = b + 8;
	m->end = b + len;
	return 0;
}

static int read_igmp(const uint8_t *b, size_t len, struct mcast_message *m)
{
	if (len < 4 + V4_LEN || csum_fold(csum_add(0, b, len)) != 0xffff)
		return -EBADMSG;
	switch ((enum igmp_type)b[0]) {
	case IGMP_QUERY:
		return read_query(b, len, m);
	case IGMP_V1_REPORT:
	case IGMP_V2_REPORT:
	case IGMP_LEAVE:
		return read_v1_report(b, len, b[0] == IGMP_LEAVE, m);
	case IGMP_V3_REPORT:
		return read_v3_report(b, len, m);
	case IGMP_DVMRP:
	case IGMP_ROUTER:
		m->kind = MCAST_ROUTER;
		return 0;
	}
	return -ENOMSG;
}

/* RFC 3810 sections 5.1.14 and 5.2.13: from a link-local address; RFC 3590 permits reports from the
 * unspecified address. */
static bool is_mld_source(const uint8_t *ip, uint8_t type)
{
	static const uint8_t zero[V6_LEN];
	const uint8_t *source = ip + V6_SRC;

	if (source[0] == 0xfe && (source[1] & 0xc0) == 0x80)
		return true;
	return type != MLD_QUERY && memcmp(source, zero, V6_LEN) == 0;
}

static int read_mld(const uint8_t *ip, const uint8_t *b, size_t len, struct mcast_message *m)
{
	if (len < 4)
		return -EBADMSG;
	switch ((enum mld_type)b[0]) {
	case MLD_QUERY:
	case MLD_V1_REPORT:
	case MLD_DONE:
	case MLD_V2_REPORT:
	case MLD_ROUTER:
		break;
	default:
		return -ENOMSG;
	}
	if (checksum_l4(ip, PROTO_ICMPV6, b, len) != 0xffff || !is_mld_source(ip, b[0]))
		return -EBADMSG;
	if (b[0] == MLD_QUERY)
		return read_query(b, len, m);
	if (b[0] == MLD_V2_REPORT)
		return read_v3_report(b, len, m);
	if (b[0] != MLD_ROUTER)
		return read_v1_report(b, len, b[0] == MLD_DONE, m);
	m->kind = MCAST_ROUTER;
	return 0;
}

int mcast_parse(const uint8_t *frame, size_t len, const struct eth_view *v, struct mcast_message *m)
{
	const uint8_t *ip = frame + v->l3_offset, *b = frame + v->l4_offset;
	const bool v4 = v->ip_version == 4;
	size_t end;

	if (v->ip_proto != PROTO_PIM && v->ip_proto != (v4 ? PROTO_IGMP : PROTO_ICMPV6))
		return -ENOMSG;
	if (eth_has_two_tags(v))
		return -ENOMSG;
	if (!v->ip_version || !v->l4_offset || v->ip_fragment)
		return -EBADMSG;
	/* The frame may have padding. */
	end = v->l3_offset + (v4 ? (size_t)get_u16(ip + 2) : V6_HDR_LEN + (size_t)get_u16(ip + 4));
	if (end > len || end <= v->l4_offset)
		return -EBADMSG;
	*m = (struct mcast_message){ .family = v->ip_version };
	m->source = address(m->family, ip + (v4 ? V4_SRC : V6_SRC));
	if (v->ip_proto == PROTO_PIM) {
		m->kind = MCAST_ROUTER;
		return b[0] == PIM_HELLO ? 0 : -ENOMSG;
	}
	if (v4)
		return read_igmp(b, end - v->l4_offset, m);
	return read_mld(ip, b, end - v->l4_offset, m);
}

/* --- groups of a report --- */

/* A listener of some sources counts as a listener of the group. */
static bool read_record(struct mcast_message *m, struct ip_addr *group, bool *left)
{
	const size_t ip_len = m->family == 4 ? V4_LEN : V6_LEN;
	size_t space = (size_t)(m->end - m->record), len;
	const uint8_t *r = m->record;
	unsigned sources;

	if (space < 4 + ip_len)
		return false;
	sources = get_u16(r + 2);
	len = 4 + ip_len + sources * ip_len + r[1] * 4u;
	if (len > space)
		return false;
	*group = address(m->family, r + 4);
	/* A host leaves the sources of a group by blocking them. */
	*left = r[0] == BLOCK_OLD || ((r[0] == IS_INCLUDE || r[0] == TO_INCLUDE) && !sources);
	m->record += len;
	return true;
}

bool mcast_next(struct mcast_message *m, struct ip_addr *group, bool *left)
{
	if (m->single) {
		*group = m->group;
		*left = m->leaves;
		m->single = false;
		return true;
	}
	for (; m->n_records; m->n_records--) {
		uint8_t type = m->record < m->end ? m->record[0] : 0;

		if (!read_record(m, group, left))
			break;
		if (type < IS_INCLUDE || type > BLOCK_OLD || !is_multicast(group))
			continue;
		m->n_records--;
		return true;
	}
	m->n_records = 0;
	return false;
}

/* --- queries of this node --- */

#define IGMP_LEN 12
#define MLD_LEN	 28
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
