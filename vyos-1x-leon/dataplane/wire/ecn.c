// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Congestion marks in IP headers, see ecn.h.
 */
#include "wire/ecn.h"

#include "wire/bytes.h"

#define IPV4_HDR_MIN 20
#define IPV6_HDR_LEN 40
#define IPV4_SUM_AT  10
#define NOT_ECT	     0
#define CE	     3
/* The traffic class of IPv6 lies between version and flow label. */
#define IPV6_SHIFT 4

bool ecn_takes_marks(const uint8_t *frame, size_t len, const struct eth_view *v)
{
	const uint8_t *ip = frame + v->l3_offset;

	if (v->ip_version == 4 && v->l3_offset + (size_t)IPV4_HDR_MIN <= len)
		return (ip[1] & CE) != NOT_ECT;
	if (v->ip_version == 6 && v->l3_offset + (size_t)IPV6_HDR_LEN <= len)
		return (ip[1] >> IPV6_SHIFT & CE) != NOT_ECT;
	return false;
}

void ecn_mark(uint8_t *frame, const struct eth_view *v)
{
	uint8_t *ip = frame + v->l3_offset;
	uint32_t sum;

	if (v->ip_version == 6) {
		ip[1] |= CE << IPV6_SHIFT;
		return;
	}
	/* RFC 1624: what the header adds up to grows as the field does. */
	sum = (uint16_t)~get_u16(ip + IPV4_SUM_AT) + (uint32_t)(CE - (ip[1] & CE));
	ip[1] |= CE;
	put_u16(ip + IPV4_SUM_AT, (uint16_t) ~((sum & 0xffff) + (sum >> 16)));
}
