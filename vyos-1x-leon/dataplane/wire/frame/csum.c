// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checksums of packets, see csum.h. Pure.
 */
#include "wire/frame/csum.h"

#include "wire/frame/eth.h"
#include "wire/frame/ip.h"

size_t checksum_place(const struct eth_view *v, size_t len)
{
	size_t at;

	if (!v->l4_offset || v->ip_fragment)
		return 0;
	if (v->ip_proto == PROTO_TCP)
		at = v->l4_offset + (size_t)TCP_CHECKSUM;
	else if (v->ip_proto == PROTO_UDP)
		at = v->l4_offset + (size_t)UDP_CHECKSUM;
	else
		return 0;
	return at + 2 <= len ? at : 0;
}

bool checksum_complete(uint8_t *frame, size_t len, size_t start, size_t offset)
{
	uint16_t sum;

	if (start + offset + 2 > len)
		return false;
	sum = (uint16_t)~csum_fold(csum_add(0, frame + start, len - start));
	/* UDP encodes "no checksum" as 0; 0xffff is the other representation of the sum 0. */
	put_u16(frame + start + offset, sum ? sum : 0xffff);
	return true;
}

uint16_t checksum_pseudo(const uint8_t *ip, uint8_t ip_version, uint8_t proto, size_t l4_len)
{
	uint32_t sum = proto + (uint32_t)l4_len;

	if (ip_version == 4)
		sum = csum_add(sum, ip + V4_SRC, 2 * V4_LEN);
	else
		sum = csum_add(sum, ip + V6_SRC, 2 * V6_LEN);
	return csum_fold(sum);
}

uint16_t checksum_l4(const uint8_t *ip, uint8_t proto, const uint8_t *l4, size_t len)
{
	return csum_fold(csum_add(checksum_pseudo(ip, ip[0] >> 4, proto, len), l4, len));
}

void checksum_v4_header(uint8_t *ip)
{
	put_u16(ip + V4_CHECKSUM, 0);
	put_u16(ip + V4_CHECKSUM, (uint16_t)~csum_fold(csum_add(0, ip, (ip[0] & 0x0fu) * 4)));
}
