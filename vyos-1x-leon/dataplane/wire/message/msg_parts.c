// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fields that several control messages have, see msg_parts.h. Pure.
 */
#include "wire/message/msg_parts.h"

#include <assert.h>

#include "wire/bytes.h"
#include "wire/frame/ip.h"
#include "wire/message/msg.h"

static_assert(IP_WIRE_MAX == 1 + V6_LEN, "family, address");

int family_len(uint8_t family)
{
	switch (family) {
	case 0:
		return 0;
	case 4:
		return V4_LEN;
	case 6:
		return V6_LEN;
	default:
		return -1;
	}
}

void code_ip(struct codec *b, struct ip_addr *ip)
{
	int n;

	code_u8(b, &ip->family);
	n = family_len(ip->family);
	if (n >= 0)
		code_bytes(b, ip->b, (size_t)n);
	else if (b->in)
		b->in->ok = false;
}

void code_endpoint(struct codec *b, struct endpoint *ep)
{
	code_ip(b, &ep->ip);
	if (ep->ip.family)
		code_u16(b, &ep->port);
}

bool are_parts_valid(uint16_t part, uint16_t parts)
{
	return parts >= 1 && parts <= MSG_PARTS_MAX && part < parts;
}
