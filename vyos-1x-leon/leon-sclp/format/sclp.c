// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SCLP: header, segmentation and first level of reassembly, see sclp.h. Called by leon-sclp. Pure.
 */
#include "format/sclp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/log.h"
#include "base/mem.h"
#include "wire/bytes.h"
#include "wire/frame/csum.h"

#define uthash_fatal(msg) bug("%s", msg)
#include <uthash.h>

#define CHECKSUM_AT 10
#define V4_HDR_MIN  20
#define V4_FRAGMENT 0x3fff /* more fragments, or an offset */

int sclp_decode(const void *segment, size_t len, struct sclp_hdr *h)
{
	const uint8_t *p = segment;
	uint32_t id;

	if (len <= SCLP_HDR_LEN || len > SCLP_HDR_LEN + SCLP_PAYLOAD_MAX)
		return -EBADMSG;
	/* The checksum covers header and payload including its own field, without pseudo-header. It
	 * is mandatory. */
	if (csum_fold(csum_add(0, p, len)) != 0xffff)
		return -EBADMSG;
	id = get_u32(p + 4);
	*h = (struct sclp_hdr){ .source = get_u16(p),
				.dest = get_u16(p + 2),
				.id = id & SCLP_ID_MASK,
				.first = id & ~SCLP_ID_MASK,
				.remaining = get_u16(p + 8) };
	return len - SCLP_HDR_LEN + h->remaining > SCLP_PAYLOAD_MAX ? -EBADMSG : 0;
}

void sclp_encode(const struct sclp_hdr *h, const void *payload, size_t len, void *out)
{
	uint8_t *p = out;

	put_u16(p, h->source);
	put_u16(p + 2, h->dest);
	put_u32(p + 4, (h->id & SCLP_ID_MASK) | h->first);
	put_u16(p + 8, h->remaining);
	put_u16(p + CHECKSUM_AT, 0);
	put_u16(p + CHECKSUM_AT,
		(uint16_t)~csum_fold(csum_add(csum_add(0, p, SCLP_HDR_LEN), payload, len)));
}

const uint8_t *sclp_in_ipv4(const uint8_t *packet, size_t len, size_t *segment_len)
{
	size_t hdr_len, total;

	if (len < V4_HDR_MIN || packet[0] >> 4 != 4)
		return NULL;
	hdr_len = (packet[0] & 0x0fu) * 4;
	total = get_u16(packet + 2);
	if (hdr_len < V4_HDR_MIN || total < hdr_len || total > len ||
	    (get_u16(packet + 6) & V4_FRAGMENT) || packet[9] != SCLP_PROTOCOL)
		return NULL;
	*segment_len = total - hdr_len;
	return packet + hdr_len;
}

bool sclp_cut_next(struct sclp_cut *c, struct sclp_piece *out)
{
	if (c->at >= c->len)
		return false;
	out->offset = c->at;
	out->len = c->len - c->at < c->mss ? c->len - c->at : c->mss;
	out->first = c->at == 0;
	c->at += out->len;
	out->remaining = (uint16_t)(c->len - c->at);
	return true;
}

/* The paper's conditions for a merge: the segment has the same payload and is not longer than the
 * first one. It begins at the end of the run (both count the remaining bytes). */
static bool continues(const struct sclp_segment *seg, const struct sclp_run *run,
		      const struct sclp_segment *s)
{
	const struct sclp_segment *head = &seg[run->head];

	return run->n < SCLP_MERGE_MAX && !s->h.first && s->len <= head->len &&
	       s->h.remaining + s->len == run->remaining && sclp_key(&s->h) == sclp_key(&head->h);
}

static struct sclp_run run_of(const struct sclp_segment *seg, unsigned i)
{
	return (struct sclp_run){
		i, i, 1, (uint32_t)seg[i].len, seg[i].h.first, seg[i].h.remaining
	};
}

unsigned sclp_merge(struct sclp_segment *seg, unsigned n, struct sclp_run *run)
{
	unsigned n_runs = 0, k;

	for (unsigned i = 0; i < n; i++) {
		struct sclp_segment *s = &seg[i];

		/* Searches from the oldest run, so that a duplicate segment does not split a
		 * run. */
		for (k = 0; k < n_runs && !continues(seg, &run[k], s); k++)
			;
		if (k == n_runs) {
			run[n_runs++] = run_of(seg, i);
			continue;
		}
		seg[run[k].tail].next = i;
		run[k].tail = i;
		run[k].n++;
		run[k].len += (uint32_t)s->len;
		run[k].remaining = s->h.remaining;
	}
	return n_runs;
}

/* --- incomplete payloads ---
 * A hash table has the incomplete payloads, in the order of their age. The size of a payload is
 * unknown before its first segment arrives. So the runs of a payload are sorted by their distance
 * from its end. Runs do not overlap.
 */

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
		struct sclp_run alone = run_of(seg, s);

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
