// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Frames with multicast packets, for tests of wire/frame/mcast and of the snooping step. Included
 * after cmocka.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#include "base/addr.h"
#include "wire/bytes.h"
#include "wire/frame/csum.h"
#include "wire/frame/eth.h"

#define PROTO_IGMP   2
#define PROTO_UDP    17
#define PROTO_ICMPV6 58
#define PROTO_PIM    103

static inline struct ip_addr ip(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_parse(text, &a), 0);
	return a;
}

/* Builds a frame from 10.0.0.1 or fe80::1, IPv6 with a hop-by-hop header. Returns the length. */
static inline size_t mcast_frame(uint8_t *f, const char *to, uint8_t proto, const void *body,
				 size_t body_len)
{
	struct ip_addr group = ip(to);
	uint8_t *p = f + ETH_HDR_LEN;

	memset(f, 0, ETH_HDR_LEN + 48);
	if (group.family == 4) {
		const uint8_t mac[6] = { 1, 0, 0x5e, group.b[1] & 0x7f, group.b[2], group.b[3] };

		memcpy(f, mac, 6);
		put_u16(f + 12, ETHERTYPE_V4);
		p[0] = 0x46; /* with the option Router Alert */
		put_u16(p + 2, (uint16_t)(24 + body_len));
		p[8] = 1;
		p[9] = proto;
		memcpy(p + 12, "\x0a\0\0\1", 4);
		memcpy(p + 16, group.b, 4);
		memcpy(p + 20, "\x94\4\0\0", 4);
		p += 24;
	} else {
		f[0] = f[1] = 0x33;
		memcpy(f + 2, group.b + 12, 4);
		put_u16(f + 12, ETHERTYPE_V6);
		p[0] = 0x60;
		put_u16(p + 4, (uint16_t)(8 + body_len));
		p[7] = 1;
		p[8] = 0xfe;
		p[9] = 0x80;
		p[23] = 1;
		memcpy(p + 24, group.b, 16);
		memcpy(p + 40, "\x3a\0\5\2\0\0\1\0", 8);
		p[40] = proto;
		p += 48;
	}
	f[6] = 2;
	memcpy(p, body, body_len);
	if (proto == PROTO_IGMP)
		put_u16(p + 2, (uint16_t)~csum_fold(csum_add(0, p, body_len)));
	if (proto == PROTO_ICMPV6) {
		uint32_t sum = csum_add((uint32_t)body_len + PROTO_ICMPV6, f + 22, 32);

		put_u16(p + 2, (uint16_t)~csum_fold(csum_add(sum, p, body_len)));
	}
	return (size_t)(p - f) + body_len;
}
