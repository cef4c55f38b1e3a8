// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums of the parities. Workers. */
#include "fwd/send/send_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/gf256.h"
#include "base/mem.h"

void coding_init(struct coding *c)
{
	c->block = x_calloc(CODING_BLOCKS, sizeof(c->block[0]));
	c->symbol = x_calloc(PARITY_SYMBOL_MAX, 1);
}

void coding_fini(struct coding *c)
{
	free(c->block);
	free(c->symbol);
}

void coding_open(struct coding *c, struct coding_block *b, uint64_t base, mono_t now)
{
	for (unsigned i = 0; i < PARITY_ROWS; i++)
		memset(b->row[i], 0, b->used);
	b->open = true;
	b->base = base;
	b->since = now;
	b->symbols = b->first = 0;
	b->longest = b->used = 0;
	c->n_open++;
}

struct parity_hdr coding_header(const struct coding_block *b, unsigned worker, uint8_t kind)
{
	return (struct parity_hdr){ .worker = (uint8_t)worker,
				    .block = b->base,
				    .kind = kind,
				    .first = b->first,
				    .index = b->symbols };
}

void coding_add(struct coding *c, struct coding_block *b, uint8_t kind, uint8_t flags,
		const struct coding_payload *p)
{
	size_t payload = p->head_len + p->body_len, len = PARITY_SYMBOL_HDR + payload;
	struct parity_symbol s = { kind, b->first, flags, (uint16_t)payload };
	uint8_t *out[PARITY_ROWS], factor[PARITY_ROWS];

	parity_symbol_encode(&s, c->symbol);
	if (p->head_len)
		memcpy(c->symbol + PARITY_SYMBOL_HDR, p->head, p->head_len);
	if (p->body_len)
		memcpy(c->symbol + PARITY_SYMBOL_HDR + p->head_len, p->body, p->body_len);
	memset(c->symbol + len, 0, gf256_padded(len) - len);
	for (unsigned i = 0; i < PARITY_ROWS; i++) {
		out[i] = b->row[i];
		factor[i] = parity_factor(i, b->symbols);
	}
	gf256_add(out, factor, PARITY_ROWS, c->symbol, gf256_padded(len));
	b->symbols++;
	b->longest = len > b->longest ? len : b->longest;
	b->used = gf256_padded(b->longest);
}
