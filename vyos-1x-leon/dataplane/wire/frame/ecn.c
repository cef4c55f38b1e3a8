// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Traffic class and ECN field of IP headers, see ecn.h.
 */
#include "wire/frame/ecn.h"

#include "wire/frame/csum.h"
#include "wire/frame/ip.h"

/* The traffic class of IPv6 lies between version and flow label. */
#define IPV6_SHIFT 4

bool ip_class(const uint8_t *frame, size_t len, const struct eth_view *v, uint8_t *class)
{
	const uint8_t *ip = frame + v->l3_offset;

	if (v->ip_version == 4 && v->l3_offset + (size_t)V4_HDR_LEN <= len)
		*class = ip[1];
	else if (v->ip_version == 6 && v->l3_offset + (size_t)V6_HDR_LEN <= len)
		*class = (uint8_t)(get_u16(ip) >> IPV6_SHIFT);
	else
		return false;
	return true;
}

bool ecn_takes_marks(const uint8_t *frame, size_t len, const struct eth_view *v)
{
	uint8_t class;

	return ip_class(frame, len, v, &class) && (class & ECN_MASK) != ECN_NOT_ECT;
}

/* Reads the ECN field of a frame that ip_class() has accepted. */
static void ecn_set(uint8_t *frame, const struct eth_view *v, enum ecn ecn)
{
	uint8_t *ip = frame + v->l3_offset;
	uint8_t before = ip[1];

	if (v->ip_version == 6) {
		ip[1] = (uint8_t)((ip[1] & ~(unsigned)(ECN_MASK << IPV6_SHIFT)) |
				  (unsigned)ecn << IPV6_SHIFT);
		return;
	}
	ip[1] = (uint8_t)((ip[1] & ~(unsigned)ECN_MASK) | (unsigned)ecn);
	csum_update(ip + V4_CHECKSUM, before, ip[1], false);
}

void ecn_mark(uint8_t *frame, const struct eth_view *v)
{
	ecn_set(frame, v, ECN_CE);
}

int ecn_leaves_tunnel(enum ecn inner, enum ecn outer)
{
	if (outer == ECN_CE)
		return inner == ECN_NOT_ECT ? -1 : ECN_CE;
	/* Keeps ECT(1), which may be a weaker congestion mark (RFC 6660). */
	return inner == ECN_ECT0 && outer == ECN_ECT1 ? ECN_ECT1 : (int)inner;
}

bool ecn_decapsulate(uint8_t *frame, size_t len, const struct eth_view *v, enum ecn outer,
		     bool *marked)
{
	enum ecn inner;
	uint8_t class;
	int becomes;

	*marked = false;
	if (!ip_class(frame, len, v, &class))
		return true;
	inner = (enum ecn)(class & ECN_MASK);
	becomes = ecn_leaves_tunnel(inner, outer);
	if (becomes < 0)
		return false;
	if (becomes == (int)inner)
		return true;
	ecn_set(frame, v, (enum ecn)becomes);
	*marked = becomes == ECN_CE;
	return true;
}
