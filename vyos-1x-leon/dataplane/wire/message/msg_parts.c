// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fields that several control messages have, see msg_parts.h. Pure.
 */
#include "wire/message/msg_parts.h"

#include <assert.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/message/msg.h"

#define V4_LEN 4
#define V6_LEN 16
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

void read_ip(struct rbuf *b, struct ip_addr *ip)
{
	const uint8_t *p;
	int n;

	ip->family = rbuf_u8(b);
	n = family_len(ip->family);
	if (n < 0) {
		b->ok = false;
		return;
	}
	p = rbuf_take(b, (size_t)n);
	if (p)
		memcpy(ip->b, p, (size_t)n);
}

void write_ip(struct wbuf *b, const struct ip_addr *ip)
{
	wbuf_u8(b, ip->family);
	wbuf_bytes(b, ip->b, (size_t)family_len(ip->family));
}

void read_endpoint(struct rbuf *b, struct endpoint *ep)
{
	read_ip(b, &ep->ip);
	ep->port = ep->ip.family ? rbuf_u16(b) : 0;
}

void write_endpoint(struct wbuf *b, const struct endpoint *ep)
{
	write_ip(b, &ep->ip);
	if (ep->ip.family)
		wbuf_u16(b, ep->port);
}

void read_bytes(struct rbuf *b, uint8_t *out, size_t len)
{
	const uint8_t *p = rbuf_take(b, len);

	if (p)
		memcpy(out, p, len);
}

bool fits(struct rbuf *b, size_t n, size_t max)
{
	b->ok = b->ok && n <= max;
	return b->ok;
}

bool are_parts_valid(uint16_t part, uint16_t parts)
{
	return parts >= 1 && parts <= MSG_PARTS_MAX && part < parts;
}

bool is_unicast(const struct ip_addr *ip)
{
	struct endpoint ep = { .ip = *ip, .port = 1 };

	return endpoint_is_usable(&ep);
}
