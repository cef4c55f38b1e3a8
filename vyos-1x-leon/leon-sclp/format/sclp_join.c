// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Incomplete payloads, see sclp_join.h. All memory is allocated at creation as numbered slots on
 * free lists (untouched pages cost nothing). A hash of its key finds a payload; a list orders
 * payloads by age. Chained blocks of 128 bytes hold the segments. Called by leon-sclp.
 */
#include "format/sclp_join.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"

#define BLOCK	 128
#define N_BLOCKS (SCLP_JOIN_BYTES / BLOCK)
#define NONE	 UINT32_MAX

/* Header of a run in its first block. */
struct held {
	uint32_t next; /* first block of the next run in the list, or NONE */
	uint32_t len;
	uint32_t remaining; /* payload bytes behind the run */
};
#define HELD_LEN sizeof(struct held)

struct list {
	uint32_t head, tail;
};

struct payload {
	struct sclp_key key;
	uint32_t chain; /* next payload with this hash, or next free slot */
	uint32_t older, newer;
	mono_t born;
	uint32_t size;	   /* 0: the first segment has not arrived */
	uint32_t offset;   /* length of the contiguous bytes from the start */
	struct list whole; /* the contiguous bytes */
	struct list ooo;   /* out-of-order runs, sorted */
	uint32_t n_runs;
};

struct sclp_join {
	struct hash_key hash;
	struct sclp_join_counts count;
	struct payload *payload;
	uint8_t (*block)[BLOCK];
	uint32_t *next_block;
	uint32_t *place; /* first payload of each hash chain */
	uint32_t free_payload, free_block, n_free_blocks, n_waiting;
	uint32_t oldest, newest;
	uint8_t out[SCLP_PAYLOAD_MAX];
};
static_assert(sizeof(struct sclp_join) + SCLP_JOIN_MAX * (sizeof(struct payload) + 4) +
			      N_BLOCKS * (BLOCK + 4) <
		      16 << 20,
	      "all tables");

static void chain_up(uint32_t *next, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		next[i] = i + 1 < n ? i + 1 : NONE;
}

struct sclp_join *sclp_join_new(struct hash_key key)
{
	struct sclp_join *j = x_new(struct sclp_join);

	j->hash = key;
	j->payload = x_calloc(SCLP_JOIN_MAX, sizeof(*j->payload));
	j->block = x_buffer(N_BLOCKS, BLOCK);
	j->next_block = x_calloc(N_BLOCKS, sizeof(*j->next_block));
	j->place = x_calloc(SCLP_JOIN_MAX, sizeof(*j->place));
	chain_up(j->next_block, N_BLOCKS);
	for (uint32_t i = 0; i < SCLP_JOIN_MAX; i++) {
		j->payload[i].chain = i + 1 < SCLP_JOIN_MAX ? i + 1 : NONE;
		j->place[i] = NONE;
	}
	j->n_free_blocks = N_BLOCKS;
	j->oldest = j->newest = NONE;
	return j;
}

void sclp_join_free(struct sclp_join *j)
{
	if (!j)
		return;
	free(j->payload);
	free(j->block);
	free(j->next_block);
	free(j->place);
	free(j);
}

unsigned sclp_join_waiting(const struct sclp_join *j)
{
	return j->n_waiting;
}

const struct sclp_join_counts *sclp_join_counts(const struct sclp_join *j)
{
	return &j->count;
}

/* --- runs in blocks --- */

static struct held held_at(const struct sclp_join *j, uint32_t block)
{
	struct held h;

	memcpy(&h, j->block[block], HELD_LEN);
	return h;
}

static void set_next(struct sclp_join *j, uint32_t block, uint32_t next)
{
	struct held h = held_at(j, block);

	h.next = next;
	memcpy(j->block[block], &h, HELD_LEN);
}

static uint32_t blocks_for(uint32_t len)
{
	return ((uint32_t)HELD_LEN + len + BLOCK - 1) / BLOCK;
}

static uint32_t take_block(struct sclp_join *j)
{
	uint32_t b = j->free_block;

	j->free_block = j->next_block[b];
	j->next_block[b] = NONE;
	j->n_free_blocks--;
	return b;
}

/* Appends to the chain that ends at *block, which has *used bytes in use. */
static void append(struct sclp_join *j, uint32_t *block, uint32_t *used, const void *data,
		   size_t len)
{
	const uint8_t *p = data;

	while (len) {
		size_t n;

		if (*used == BLOCK) {
			uint32_t next = take_block(j);

			j->next_block[*block] = next;
			*block = next;
			*used = 0;
		}
		n = min_of(len, (size_t)(BLOCK - *used));
		memcpy(j->block[*block] + *used, p, n);
		*used += (uint32_t)n;
		p += n;
		len -= n;
	}
}

/* The caller has checked the number of free blocks. */
static uint32_t store(struct sclp_join *j, const struct sclp_segment *seg,
		      const struct sclp_run *run)
{
	struct held h = { .next = NONE, .len = run->len, .remaining = run->remaining };
	uint32_t first = take_block(j), block = first, used = 0;
	unsigned s = run->head;

	append(j, &block, &used, &h, HELD_LEN);
	for (unsigned i = 0; i < run->n; i++, s = seg[s].next)
		append(j, &block, &used, seg[s].data, seg[s].len);
	return first;
}

static void give_back(struct sclp_join *j, uint32_t block)
{
	while (block != NONE) {
		uint32_t next = j->next_block[block];

		j->next_block[block] = j->free_block;
		j->free_block = block;
		j->n_free_blocks++;
		block = next;
	}
}

static void give_back_list(struct sclp_join *j, struct list *l)
{
	while (l->head != NONE) {
		uint32_t block = l->head;

		l->head = held_at(j, block).next;
		give_back(j, block);
	}
	l->tail = NONE;
}

/* Inserts behind `before`; NONE: at the head. */
static void insert(struct sclp_join *j, struct list *l, uint32_t before, uint32_t block)
{
	uint32_t behind = before == NONE ? l->head : held_at(j, before).next;

	set_next(j, block, behind);
	if (before == NONE)
		l->head = block;
	else
		set_next(j, before, block);
	if (behind == NONE)
		l->tail = block;
}

/* --- payloads --- */

static uint32_t *place_of(struct sclp_join *j, const struct sclp_key *key)
{
	return &j->place[siphash(&j->hash, key->b, sizeof(key->b)) % SCLP_JOIN_MAX];
}

static struct payload *find(struct sclp_join *j, const struct sclp_key *key)
{
	for (uint32_t i = *place_of(j, key); i != NONE; i = j->payload[i].chain)
		if (memcmp(&j->payload[i].key, key, sizeof(*key)) == 0)
			return &j->payload[i];
	return NULL;
}

static void unlist(struct sclp_join *j, struct payload *p)
{
	uint32_t self = (uint32_t)(p - j->payload), *at = place_of(j, &p->key);

	while (*at != self)
		at = &j->payload[*at].chain;
	*at = p->chain;
	if (p->older == NONE)
		j->oldest = p->newer;
	else
		j->payload[p->older].newer = p->newer;
	if (p->newer == NONE)
		j->newest = p->older;
	else
		j->payload[p->newer].older = p->older;
}

static void drop(struct sclp_join *j, struct payload *p)
{
	give_back_list(j, &p->whole);
	give_back_list(j, &p->ooo);
	unlist(j, p);
	p->chain = j->free_payload;
	j->free_payload = (uint32_t)(p - j->payload);
	j->n_waiting--;
}

static void evict(struct sclp_join *j)
{
	j->count.evicted++;
	drop(j, &j->payload[j->oldest]);
}

static struct payload *begin(struct sclp_join *j, const struct sclp_key *key, mono_t now)
{
	uint32_t self, *at = place_of(j, key);
	struct payload *p;

	if (j->free_payload == NONE)
		evict(j);
	self = j->free_payload;
	p = &j->payload[self];
	j->free_payload = p->chain;
	*p = (struct payload){ .key = *key,
			       .chain = *at,
			       .older = j->newest,
			       .newer = NONE,
			       .born = now,
			       .whole = { NONE, NONE },
			       .ooo = { NONE, NONE } };
	*at = self;
	if (j->newest == NONE)
		j->oldest = self;
	else
		j->payload[j->newest].newer = self;
	j->newest = self;
	j->n_waiting++;
	return p;
}

void sclp_join_age(struct sclp_join *j, mono_t now)
{
	while (j->oldest != NONE &&
	       mono_sub_ns(now, j->payload[j->oldest].born) >= SCLP_JOIN_LIFE_NS) {
		j->count.expired++;
		drop(j, &j->payload[j->oldest]);
	}
}

/* --- adding a run to its payload --- */

enum fit { FITS, IS_DUPLICATE, CONTRADICTS };

/* Bytes from the start of the run to the end of the payload; known before the size. */
static uint32_t reach(const struct held *h)
{
	return h->remaining + h->len;
}

/* Finds the position in the out-of-order list: behind *before. */
static enum fit find_place(const struct sclp_join *j, const struct payload *p,
			   const struct held *run, uint32_t *before)
{
	*before = NONE;
	for (uint32_t i = p->ooo.head; i != NONE;) {
		struct held h = held_at(j, i);

		if (h.remaining <= run->remaining && reach(run) <= reach(&h))
			return IS_DUPLICATE;
		if (reach(run) <= h.remaining) {
			*before = i;
			i = h.next;
			continue;
		}
		return reach(&h) <= run->remaining ? FITS : CONTRADICTS;
	}
	return FITS;
}

static enum fit check_known(const struct payload *p, const struct sclp_run *run)
{
	uint32_t end = p->size - run->remaining, start;

	if ((uint32_t)run->remaining + run->len > p->size)
		return CONTRADICTS;
	start = end - run->len;
	/* The flag F is set if and only if the run begins the payload. */
	if (run->first != (start == 0))
		return CONTRADICTS;
	if (start >= p->offset)
		return FITS;
	return end <= p->offset ? IS_DUPLICATE : CONTRADICTS;
}

/* Moves runs that are now contiguous to the whole part. */
static void close_gap(struct sclp_join *j, struct payload *p)
{
	while (p->ooo.head != NONE) {
		uint32_t block = p->ooo.head;
		struct held h = held_at(j, block);

		if (reach(&h) != p->size - p->offset)
			return;
		p->ooo.head = h.next;
		if (h.next == NONE)
			p->ooo.tail = NONE;
		insert(j, &p->whole, p->whole.tail, block);
		p->offset += h.len;
	}
}

static enum fit add(struct sclp_join *j, struct payload *p, const struct sclp_segment *seg,
		    const struct sclp_run *run)
{
	struct held h = { .len = run->len, .remaining = run->remaining };
	uint32_t before = NONE;
	enum fit fit = p->size ? check_known(p, run) : FITS;

	if (fit == FITS)
		fit = find_place(j, p, &h, &before);
	if (fit != FITS)
		return fit;
	if (p->n_runs == SCLP_JOIN_SEGMENTS)
		return CONTRADICTS;
	if (run->first)
		p->size = reach(&h);
	p->n_runs++;
	/* Equation (3) of the paper, extended to segments that arrive before the first one. */
	if (p->size == 0 || p->size - reach(&h) != p->offset) {
		j->count.out_of_order++;
		insert(j, &p->ooo, before, store(j, seg, run));
		return FITS;
	}
	insert(j, &p->whole, p->whole.tail, store(j, seg, run));
	p->offset += run->len;
	close_gap(j, p);
	return FITS;
}

/* A run may overlap because the network duplicated some of its segments; then each segment is added
 * singly. */
static enum fit add_one_by_one(struct sclp_join *j, struct payload *p,
			       const struct sclp_segment *seg, const struct sclp_run *run)
{
	enum fit fit = FITS;
	unsigned s = run->head;

	for (unsigned i = 0; i < run->n && fit != CONTRADICTS; i++, s = seg[s].next) {
		const struct sclp_segment *one = &seg[s];
		struct sclp_run alone = {
			s, s, 1, (uint32_t)one->len, one->h.first, one->h.remaining
		};

		fit = add(j, p, seg, &alone);
		j->count.duplicate += fit == IS_DUPLICATE;
	}
	return fit == CONTRADICTS ? CONTRADICTS : FITS;
}

static void gather_list(struct sclp_join *j, const struct list *l)
{
	uint8_t *out = j->out;

	for (uint32_t run = l->head; run != NONE;) {
		struct held h = held_at(j, run);
		uint32_t at = HELD_LEN;

		for (uint32_t b = run, left = h.len; left; b = j->next_block[b], at = 0) {
			uint32_t n = min_of(left, (uint32_t)BLOCK - at);

			memcpy(out, j->block[b] + at, n);
			out += n;
			left -= n;
		}
		run = h.next;
	}
}

static void gather_run(struct sclp_join *j, const struct sclp_segment *seg,
		       const struct sclp_run *run)
{
	uint8_t *out = j->out;
	unsigned s = run->head;

	for (unsigned i = 0; i < run->n; i++, s = seg[s].next) {
		memcpy(out, seg[s].data, seg[s].len);
		out += seg[s].len;
	}
}

/* Makes room for the segments of the run, also one by one. Returns false if this evicted the
 * payload itself. */
static bool make_room(struct sclp_join *j, const struct payload *p, const struct sclp_segment *seg,
		      const struct sclp_run *run)
{
	uint32_t needed = 0;
	unsigned s = run->head;

	for (unsigned i = 0; i < run->n; i++, s = seg[s].next)
		needed += blocks_for((uint32_t)seg[s].len);
	while (j->n_free_blocks < needed) {
		bool itself = &j->payload[j->oldest] == p;

		evict(j);
		if (itself)
			return false;
	}
	return true;
}

const uint8_t *sclp_join_add(struct sclp_join *j, const struct sclp_segment *seg,
			     const struct sclp_run *run, mono_t now, size_t *len)
{
	const struct sclp_key *key = &seg[run->head].key;
	struct payload *p;
	enum fit fit;

	sclp_join_age(j, now);
	p = find(j, key);
	if (!p && run->first && run->remaining == 0) {
		/* The first level has already merged all segments. */
		gather_run(j, seg, run);
		j->count.whole++;
		*len = run->len;
		return j->out;
	}
	if (!p)
		p = begin(j, key, now);
	if (!make_room(j, p, seg, run))
		return NULL;
	fit = add(j, p, seg, run);
	if (fit == CONTRADICTS && run->n > 1)
		fit = add_one_by_one(j, p, seg, run);
	j->count.duplicate += fit == IS_DUPLICATE;
	if (fit == CONTRADICTS) {
		j->count.contradictory++;
		drop(j, p);
		return NULL;
	}
	if (!p->size || p->offset != p->size)
		return NULL;
	gather_list(j, &p->whole);
	*len = p->size;
	j->count.whole++;
	drop(j, p);
	return j->out;
}
