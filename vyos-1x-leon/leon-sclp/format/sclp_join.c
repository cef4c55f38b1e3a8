// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Incomplete payloads, see sclp_join.h: a hash table, which also has the order of their age. The
 * size of a payload is unknown before its first segment arrives. So the runs of a payload are
 * sorted by their distance from its end. Runs do not overlap. Called by leon-sclp.
 */
#include "format/sclp_join.h"

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/log.h"
#include "base/mem.h"

#define uthash_fatal(msg) bug("%s", msg)
#include <uthash.h>

struct held {
	struct held *next;
	uint32_t len, remaining;
	uint8_t data[];
};

struct payload {
	uint64_t key; /* sclp_key() */
	mono_t born;
	uint32_t size;	 /* 0: the first segment has not arrived */
	uint32_t stored; /* bytes of all runs */
	uint32_t n_runs;
	struct held *runs; /* the start of the payload first */
	UT_hash_handle hh;
};

struct sclp_join {
	struct hash_key hash;
	struct sclp_join_counts count;
	struct payload *payloads; /* the oldest first */
	size_t bytes;		  /* of all runs, with their headers */
	uint8_t out[SCLP_PAYLOAD_MAX];
};

struct sclp_join *sclp_join_new(struct hash_key key)
{
	struct sclp_join *j = x_new(struct sclp_join);

	j->hash = key;
	return j;
}

unsigned sclp_join_waiting(const struct sclp_join *j)
{
	return HASH_COUNT(j->payloads);
}

const struct sclp_join_counts *sclp_join_counts(const struct sclp_join *j)
{
	return &j->count;
}

/* --- payloads --- */

static struct payload *find(struct sclp_join *j, uint64_t key)
{
	unsigned hash = (unsigned)siphash_u64(&j->hash, key);
	struct payload *p;

	HASH_FIND_BYHASHVALUE(hh, j->payloads, &key, sizeof(key), hash, p);
	return p;
}

static void drop(struct sclp_join *j, struct payload *p)
{
	struct held *next;

	for (struct held *h = p->runs; h; h = next) {
		next = h->next;
		j->bytes -= sizeof(*h) + h->len;
		free(h);
	}
	HASH_DEL(j->payloads, p);
	free(p);
}

static void evict_oldest(struct sclp_join *j)
{
	j->count.evicted++;
	drop(j, j->payloads);
}

static struct payload *begin(struct sclp_join *j, uint64_t key, mono_t now)
{
	unsigned hash = (unsigned)siphash_u64(&j->hash, key);
	struct payload *p;

	if (HASH_COUNT(j->payloads) == SCLP_JOIN_MAX)
		evict_oldest(j);
	p = x_new(struct payload);
	p->key = key;
	p->born = now;
	HASH_ADD_BYHASHVALUE(hh, j->payloads, key, sizeof(p->key), hash, p);
	return p;
}

void sclp_join_age(struct sclp_join *j, mono_t now)
{
	while (j->payloads && mono_sub_ns(now, j->payloads->born) >= SCLP_JOIN_LIFE_NS) {
		j->count.expired++;
		drop(j, j->payloads);
	}
}

void sclp_join_free(struct sclp_join *j)
{
	if (!j)
		return;
	while (j->payloads)
		drop(j, j->payloads);
	free(j);
}

/* Makes room for the segments of the run, also one by one. Returns false if this evicted the
 * payload itself. */
static bool make_room(struct sclp_join *j, const struct payload *p, const struct sclp_run *run)
{
	while (j->bytes + run->n * sizeof(struct held) + run->len > SCLP_JOIN_BYTES) {
		bool itself = j->payloads == p;

		evict_oldest(j);
		if (itself)
			return false;
	}
	return true;
}

/* --- adding a run to its payload --- */

enum fit { FITS, IS_DUPLICATE, CONTRADICTS };

/* Bytes from the start of the run to the end of the payload; known before the size. */
static uint32_t reach(const struct held *h)
{
	return h->remaining + h->len;
}

static void copy_run(uint8_t *out, const struct sclp_segment *seg, const struct sclp_run *run)
{
	unsigned s = run->head;

	for (unsigned i = 0; i < run->n; i++, s = seg[s].next) {
		memcpy(out, seg[s].data, seg[s].len);
		out += seg[s].len;
	}
}

/* Bytes of the run that are also in `h` or in runs behind it. */
static uint32_t overlap(const struct held *h, const struct held *run)
{
	uint32_t n = 0;

	for (; h && reach(h) > run->remaining; h = h->next)
		n += min_of(reach(h), reach(run)) - max_of(h->remaining, run->remaining);
	return n;
}

static enum fit add(struct sclp_join *j, struct payload *p, const struct sclp_segment *seg,
		    const struct sclp_run *run)
{
	const struct held is = { .len = run->len, .remaining = run->remaining };
	struct held **at = &p->runs, *h;
	uint32_t edge = p->size; /* end of the contiguous bytes from the start, in `remaining` */
	uint32_t known;

	for (; *at && (*at)->remaining >= reach(&is); at = &(*at)->next)
		if (reach(*at) == edge)
			edge = (*at)->remaining;
	known = overlap(*at, &is);
	/* The flag F is set if and only if the run begins the payload. */
	if (p->size ? reach(&is) > p->size || run->first != (reach(&is) == p->size)
		    : run->first && at != &p->runs)
		return CONTRADICTS;
	if (known)
		return known == run->len ? IS_DUPLICATE : CONTRADICTS;
	if (p->n_runs == SCLP_JOIN_SEGMENTS)
		return CONTRADICTS;
	if (run->first)
		p->size = edge = reach(&is);
	/* Equation (3) of the paper, extended to segments that arrive before the first one. */
	j->count.out_of_order += reach(&is) != edge;
	h = x_calloc(1, sizeof(*h) + run->len);
	*h = (struct held){ .next = *at, .len = run->len, .remaining = run->remaining };
	copy_run(h->data, seg, run);
	*at = h;
	p->n_runs++;
	p->stored += run->len;
	j->bytes += sizeof(*h) + run->len;
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

const uint8_t *sclp_join_add(struct sclp_join *j, const struct sclp_segment *seg,
			     const struct sclp_run *run, mono_t now, size_t *len)
{
	uint64_t key = sclp_key(&seg[run->head].h);
	uint8_t *out = j->out;
	struct payload *p;
	enum fit fit;

	sclp_join_age(j, now);
	p = find(j, key);
	if (!p && run->first && run->remaining == 0) {
		/* The first level has already merged all segments. */
		copy_run(out, seg, run);
		j->count.whole++;
		*len = run->len;
		return out;
	}
	if (!p)
		p = begin(j, key, now);
	if (!make_room(j, p, run))
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
	if (!p->size || p->stored != p->size)
		return NULL;
	*len = p->size;
	for (const struct held *h = p->runs; h; out += h->len, h = h->next)
		memcpy(out, h->data, h->len);
	j->count.whole++;
	drop(j, p);
	return j->out;
}
