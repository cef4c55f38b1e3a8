// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Erasure decoding of blocks. The control thread creates and frees; workers do the rest.
 *
 * A parity is a linear equation in the symbols of its block. If as many parities as lost symbols
 * have arrived, the received symbols are subtracted, and Gauss-Jordan elimination solves the rest.
 * The factors of a row precede the bytes in memory, so a single operation changes both. No pivot is
 * 0, because every leading minor of a Cauchy matrix differs from 0.
 */
#include "fwd/in/received_tables.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/gf256.h"
#include "base/mem.h"
#include "wire/datagram/leon.h"

#define FACTORS 32 /* bytes in front of a row */
/* A block that lags by as many is not late: its source restarted with an earlier clock. */
#define LATE_COUNTERS (4ULL * RECOVERY_BLOCKS << PARITY_INDEX_BITS)

static_assert(FACTORS >= PARITY_ROWS && FACTORS % GF256_UNIT == 0, "the factors are a vector");

/* A set of symbols of a block. */
struct set {
	uint64_t word[2];
};

struct recovery_block {
	atomic_bool held;
	bool used, done;
	node_id_t source;
	uint8_t worker;
	uint64_t base;
	uint8_t symbols; /* number in the block; 0: no parity has arrived */
	uint8_t n_data, n_rows;
	size_t row_len;
	struct set have, restored, frames; /* frames: first symbols of frames with restored ones */
	uint8_t number[PARITY_ROWS];	   /* of each row */
	uint8_t lost[PARITY_ROWS];	   /* index of the symbol that each row restores */
	uint8_t row[PARITY_ROWS][FACTORS + PARITY_SYMBOL_MAX];
	uint8_t data[PARITY_FRAMES][PARITY_SYMBOL_MAX];
};

struct recovery {
	struct recovery_block block[RECOVERY_BLOCKS];
};

static bool has(const struct set *s, unsigned i)
{
	return s->word[i / 64] >> i % 64 & 1;
}

static void put(struct set *s, unsigned i)
{
	s->word[i / 64] |= 1ULL << i % 64;
}

/* calloc() of this size returns untouched pages, which use no memory until written. */
struct recovery *recovery_new(void)
{
	return x_new(struct recovery);
}

void recovery_free(struct recovery *r)
{
	free(r);
}

/* Blocks of a source and worker follow each other, so recent blocks never collide. */
static struct recovery_block *place_of(struct recovery *r, node_id_t source,
				       const struct parity_hdr *h)
{
	uint64_t sources = (source * 0x9e3779b1u >> 16) + h->worker * 7u;

	return &r->block[(sources + (h->block >> PARITY_INDEX_BITS)) % RECOVERY_BLOCKS];
}

static bool hold(struct recovery_block *b)
{
	return !atomic_exchange_explicit(&b->held, true, memory_order_acquire);
}

void recovery_end(struct recovery_block *b)
{
	store_release(&b->held, false);
}

static bool is_same(const struct recovery_block *b, node_id_t source, const struct parity_hdr *h)
{
	return b->used && b->source == source && b->worker == h->worker && b->base == h->block;
}

/* A late symbol does not replace a newer block of its worker. */
static bool is_late(const struct recovery_block *b, node_id_t source, const struct parity_hdr *h)
{
	return b->used && b->source == source && b->worker == h->worker && b->base > h->block &&
	       b->base - h->block < LATE_COUNTERS;
}

/* Number of symbols that have not arrived, as far as a parity has stated their number. */
static unsigned missing(const struct recovery_block *b)
{
	return b->symbols > b->n_data ? (unsigned)(b->symbols - b->n_data) : 0;
}

static unsigned lost_for_good(const struct recovery_block *b)
{
	return b->used && !b->done ? missing(b) : 0;
}

static void begin(struct recovery_block *b, node_id_t source, const struct parity_hdr *h)
{
	b->used = true;
	b->done = false;
	b->source = source;
	b->worker = h->worker;
	b->base = h->block;
	b->symbols = b->n_data = b->n_rows = 0;
	b->row_len = 0;
	b->have = b->restored = b->frames = (struct set){ { 0 } };
}

/* Holds the block of a symbol, or says why it is not needed. */
static struct recovery_block *enter(struct recovery *r, node_id_t source,
				    const struct parity_hdr *h, struct recovery_result *res)
{
	struct recovery_block *b = place_of(r, source, h);

	if (!hold(b)) {
		res->verdict = RECOVERY_BUSY;
		return NULL;
	}
	res->verdict = RECOVERY_UNNEEDED;
	if (is_same(b, source, h) ? !b->done : !is_late(b, source, h)) {
		if (!is_same(b, source, h)) {
			res->unrecoverable = lost_for_good(b);
			begin(b, source, h);
		}
		return b;
	}
	recovery_end(b);
	return NULL;
}

/* --- solving --- */

static size_t symbol_len(const uint8_t *symbol)
{
	struct parity_symbol s;

	if (parity_symbol_decode(symbol, PARITY_SYMBOL_MAX, &s) < 0)
		return 0;
	return PARITY_SYMBOL_HDR + (size_t)s.len;
}

/* Returns false if a received symbol is longer than the parities, or beyond their number. */
static bool subtract_received(struct recovery_block *b, unsigned n)
{
	uint8_t *out[PARITY_ROWS], factor[PARITY_ROWS];

	for (unsigned k = 0; k < n; k++)
		out[k] = b->row[k] + FACTORS;
	for (unsigned i = 0; i < PARITY_FRAMES; i++) {
		size_t len;

		if (!has(&b->have, i))
			continue;
		len = symbol_len(b->data[i]);
		if (i >= b->symbols || len > b->row_len)
			return false;
		for (unsigned k = 0; k < n; k++)
			factor[k] = parity_factor(b->number[k], i);
		gf256_add(out, factor, n, b->data[i], gf256_padded(len));
	}
	return true;
}

/* Finds the lost symbols and writes the factors of each row. */
static void write_factors(struct recovery_block *b, unsigned n)
{
	unsigned found = 0;

	for (unsigned i = 0; i < b->symbols && found < n; i++)
		if (!has(&b->have, i))
			b->lost[found++] = (uint8_t)i;
	for (unsigned k = 0; k < n; k++) {
		memset(b->row[k], 0, FACTORS);
		for (unsigned i = 0; i < n; i++)
			b->row[k][i] = parity_factor(b->number[k], b->lost[i]);
	}
}

static void eliminate(struct recovery_block *b, unsigned n)
{
	size_t len = FACTORS + gf256_padded(b->row_len);
	uint8_t *out[PARITY_ROWS], factor[PARITY_ROWS];

	for (unsigned pivot = 0; pivot < n; pivot++) {
		unsigned others = 0;

		gf256_scale(b->row[pivot], gf256_inv(b->row[pivot][pivot]), len);
		for (unsigned k = 0; k < n; k++) {
			if (k == pivot)
				continue;
			out[others] = b->row[k];
			factor[others++] = b->row[k][pivot];
		}
		gf256_add(out, factor, others, b->row[pivot], len);
	}
}

/* Notes the restored symbols, and the frames of which the worker needs all fragments. */
static void note_restored(struct recovery_block *b, unsigned n)
{
	struct parity_symbol s;

	for (unsigned k = 0; k < n; k++) {
		put(&b->restored, b->lost[k]);
		if (parity_symbol_decode(b->row[k] + FACTORS, b->row_len, &s) == 0 &&
		    s.kind == LEON_FRAGMENT && s.first < PARITY_FRAMES)
			put(&b->frames, s.first);
	}
}

/* Solves the block if possible. Keeps a solved block held, and releases any other. */
static struct recovery_result settle(struct recovery_block *b, struct recovery_result res)
{
	unsigned n = missing(b);

	if (b->symbols && !n)
		b->done = true; /* complete */
	if (n && n <= b->n_rows) {
		b->done = true;
		if (subtract_received(b, n)) {
			write_factors(b, n);
			eliminate(b, n);
			note_restored(b, n);
			res.restored = b;
			return res;
		}
		res.verdict = RECOVERY_BAD;
	}
	recovery_end(b);
	return res;
}

/* --- input --- */

struct recovery_result recovery_add(struct recovery *r, node_id_t source,
				    const struct parity_hdr *h, uint8_t flags,
				    const uint8_t *payload, size_t len)
{
	struct parity_symbol s = { h->kind, h->first, flags, (uint16_t)len };
	struct recovery_result res = { .verdict = RECOVERY_BAD };
	struct recovery_block *b;
	size_t total = PARITY_SYMBOL_HDR + len;

	if (!len || len > PARITY_PAYLOAD_MAX)
		return res;
	b = enter(r, source, h, &res);
	if (!b)
		return res;
	if (has(&b->have, h->index)) {
		recovery_end(b);
		return res;
	}
	parity_symbol_encode(&s, b->data[h->index]);
	memcpy(b->data[h->index] + PARITY_SYMBOL_HDR, payload, len);
	memset(b->data[h->index] + total, 0, gf256_padded(total) - total);
	put(&b->have, h->index);
	b->n_data++;
	res.verdict = RECOVERY_KEPT;
	return settle(b, res);
}

static enum recovery_verdict keep_row(struct recovery_block *b, const struct parity_hdr *h,
				      const uint8_t *parity, size_t len)
{
	uint8_t *row;

	if (b->n_rows && (b->symbols != h->symbols || b->row_len != len))
		return RECOVERY_BAD;
	for (unsigned i = 0; i < b->n_rows; i++)
		if (b->number[i] == h->index)
			return RECOVERY_UNNEEDED;
	b->symbols = h->symbols;
	b->row_len = len;
	b->number[b->n_rows] = h->index;
	row = b->row[b->n_rows++] + FACTORS;
	memcpy(row, parity, len);
	memset(row + len, 0, gf256_padded(len) - len);
	return RECOVERY_KEPT;
}

struct recovery_result recovery_add_parity(struct recovery *r, node_id_t source,
					   const struct parity_hdr *h, const uint8_t *parity,
					   size_t len)
{
	struct recovery_result res = { .verdict = RECOVERY_BAD };
	struct recovery_block *b;

	if (len <= PARITY_SYMBOL_HDR || len > PARITY_SYMBOL_MAX)
		return res;
	b = enter(r, source, h, &res);
	if (!b)
		return res;
	res.verdict = keep_row(b, h, parity, len);
	if (res.verdict == RECOVERY_KEPT)
		return settle(b, res);
	recovery_end(b);
	return res;
}

/* --- output --- */

static uint8_t *symbol_at(struct recovery_block *b, unsigned index)
{
	if (has(&b->have, index))
		return b->data[index];
	for (unsigned k = 0; k < PARITY_ROWS; k++)
		if (b->lost[k] == index)
			return b->row[k] + FACTORS;
	return NULL;
}

static bool is_due(const struct recovery_block *b, unsigned index, const struct parity_symbol *s)
{
	return has(&b->restored, index) || (s->kind == LEON_FRAGMENT && has(&b->frames, s->first));
}

bool recovery_next(struct recovery_block *b, unsigned *at, struct recovery_symbol *out)
{
	while (*at < b->symbols) {
		unsigned i = (*at)++;
		uint8_t *symbol = symbol_at(b, i);
		struct parity_symbol s = { 0 };
		bool good = parity_symbol_decode(symbol, PARITY_SYMBOL_MAX, &s) == 0;

		*out = (struct recovery_symbol){ .restored = has(&b->restored, i) };
		if (!(good ? is_due(b, i, &s) : out->restored))
			continue;
		/* The lengths and the frame of a forged symbol are impossible. */
		good &= s.len <= b->row_len - PARITY_SYMBOL_HDR && s.first <= i &&
			(s.kind == LEON_FRAGMENT || s.first == i);
		out->h = (struct parity_hdr){ .worker = b->worker,
					      .block = b->base,
					      .kind = s.kind,
					      .first = s.first,
					      .index = (uint8_t)i };
		out->flags = s.flags;
		out->payload = symbol + PARITY_SYMBOL_HDR;
		out->len = good ? s.len : 0;
		return true;
	}
	return false;
}
