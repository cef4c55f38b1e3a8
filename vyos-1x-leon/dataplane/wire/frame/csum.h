// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The Internet checksum (RFC 1071) for frames that LEON generates or changes. A sum adds big-endian
 * 16-bit words and is not folded; a uint32_t holds the sum of any IP packet. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/bytes.h"

struct eth_view;

static inline uint32_t csum_add(uint32_t sum, const uint8_t *p, size_t len)
{
	uint64_t words = 0;

	/* Adds two words at a time; folding adds the carry of the upper half. */
	for (; len >= 4; p += 4, len -= 4)
		words += get_u32(p);
	words = (words & UINT32_MAX) + (words >> 32);
	sum += (uint32_t)((words & 0xffff) + (words >> 16));
	for (; len >= 2; p += 2, len -= 2)
		sum += get_u16(p);
	return len ? sum + (uint32_t)(p[0] << 8) : sum;
}

static inline uint16_t csum_fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/*
 * Updates a checksum after a change of the covered bytes. before and after: folded sums of these
 * bytes. odd: the bytes begin at an odd offset, so the sum has swapped bytes. An incorrect checksum
 * stays incorrect. RFC 1624 equation 3: HC' = ~(~HC + ~m + m').
 */
static inline void csum_update(uint8_t *checksum, uint16_t before, uint16_t after, bool odd)
{
	uint32_t sum = (uint16_t)~get_u16(checksum);

	if (odd) {
		before = __builtin_bswap16(before);
		after = __builtin_bswap16(after);
	}
	sum += (uint16_t)~before;
	sum += after;
	put_u16(checksum, (uint16_t)~csum_fold(sum));
}

/* Offset of the TCP or UDP checksum in the frame; 0 if the frame has no complete header. */
size_t checksum_place(const struct eth_view *v, size_t len);
/* Sums all bytes from `start` and writes the checksum at `offset` from there, like virtio's
 * NEEDS_CSUM. Returns false if the position is outside the frame. */
bool checksum_complete(uint8_t *frame, size_t len, size_t start, size_t offset);
/* Folded sum of the pseudo-header for l4_len bytes behind the network header `ip`: the value of a
 * partial checksum field. */
uint16_t checksum_pseudo(const uint8_t *ip, uint8_t ip_version, uint8_t proto, size_t l4_len);
/* Folded sum of the pseudo-header and the `len` bytes at l4; 0xffff for a correct checksum. */
uint16_t checksum_l4(const uint8_t *ip, uint8_t proto, const uint8_t *l4, size_t len);
/* Writes the header checksum of an IPv4 header. */
void checksum_v4_header(uint8_t *ip);
