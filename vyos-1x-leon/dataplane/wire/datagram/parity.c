// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Headers and factors of blocks with parity, see parity.h. Pure.
 */
#include "wire/datagram/parity.h"

#include <assert.h>
#include <errno.h>

#include "base/gf256.h"
#include "wire/bytes.h"
#include "wire/datagram/leon.h"

#define INDEX_MASK   ((1ULL << PARITY_INDEX_BITS) - 1)
#define FIRST_ROW    0x80 /* the factors of rows and symbols differ, so their sum has an inverse */
#define FRAGMENT_BIT 0x80
#define SHARE	     5
#define SMALL	     15

static_assert(PARITY_FRAMES <= 1 << PARITY_INDEX_BITS, "an index fits its bits");
static_assert(PARITY_ROWS == PARITY_FRAMES / SHARE, "the largest block has all parities");

bool parity_is(const void *data, size_t len)
{
	const uint8_t *p = data;

	return len >= COPY_HDR_LEN && p[COPY_HDR_LEN - 1] & PARITY_MARK;
}

static int decode_parity(const uint8_t *p, size_t len, struct parity_hdr *h)
{
	if (len <= PARITY_HDR_LEN || h->first)
		return -EBADMSG;
	h->symbols = p[COPY_HDR_LEN + 1];
	if (!h->symbols || h->symbols > PARITY_FRAMES || h->index >= PARITY_ROWS)
		return -EBADMSG;
	return PARITY_HDR_LEN;
}

int parity_decode(const void *data, size_t len, struct parity_hdr *h)
{
	const uint8_t *p = data;
	uint64_t counter;

	*h = (struct parity_hdr){ 0 };
	if (!parity_is(data, len) || len <= PARITY_FRAME_HDR_LEN)
		return -EBADMSG;
	counter = get_u64(p) & COPY_COUNTER_MASK;
	h->worker = p[0];
	h->block = counter & ~INDEX_MASK;
	h->first = (uint8_t)(counter & INDEX_MASK);
	h->kind = p[COPY_HDR_LEN - 1] & (uint8_t)~PARITY_MARK;
	h->index = p[COPY_HDR_LEN];
	if (h->worker >= COPY_WORKERS_MAX)
		return -EBADMSG;
	if (!h->kind)
		return decode_parity(p, len, h);
	if (h->index >= PARITY_FRAMES || h->first > h->index)
		return -EBADMSG;
	if (h->kind == LEON_FRAME ? h->first != h->index : h->kind != LEON_FRAGMENT)
		return -EBADMSG;
	return PARITY_FRAME_HDR_LEN;
}

struct copy_hdr parity_frame(const struct parity_hdr *h)
{
	return (struct copy_hdr){ h->worker, h->block | h->first, h->kind | PARITY_MARK };
}

void parity_encode(const struct parity_hdr *h, void *out)
{
	struct copy_hdr c = parity_frame(h);
	uint8_t *p = out;

	copy_encode(&c, p);
	p[COPY_HDR_LEN] = h->index;
	if (!h->kind)
		p[COPY_HDR_LEN + 1] = h->symbols;
}

void parity_symbol_encode(const struct parity_symbol *s, void *out)
{
	uint8_t *p = out;

	put_u16(p, s->len);
	p[2] = (uint8_t)(s->first | (s->kind == LEON_FRAGMENT ? FRAGMENT_BIT : 0));
	p[3] = s->flags;
}

int parity_symbol_decode(const void *data, size_t len, struct parity_symbol *s)
{
	const uint8_t *p = data;

	if (len <= PARITY_SYMBOL_HDR)
		return -EBADMSG;
	s->len = get_u16(p);
	s->kind = p[2] & FRAGMENT_BIT ? LEON_FRAGMENT : LEON_FRAME;
	s->first = p[2] & (uint8_t)~FRAGMENT_BIT;
	s->flags = p[3];
	if (!s->len || s->len > len - PARITY_SYMBOL_HDR || s->flags & ~LEON_FLAGS_FRAME)
		return -EBADMSG;
	return 0;
}

uint8_t parity_factor(unsigned row, unsigned index)
{
	return gf256_inv((uint8_t)((FIRST_ROW + row) ^ index));
}

unsigned parity_rows(unsigned symbols)
{
	return (symbols + SHARE - 1) / SHARE + (symbols > 1 && symbols <= SMALL);
}
