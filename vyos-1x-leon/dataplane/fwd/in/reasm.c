// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reassembly. An entry is in one of three lists: free, waiting (oldest first, which is also
 * the order of time-outs) or complete. Waiting entries are in the hash table too.
 */
#include "fwd/in/received_tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"
#include "base/siphash.h"
#include "crypto/aead.h"

struct range {
	uint16_t start, end; /* bytes [start, end) */
};

struct reasm_entry {
	struct reasm_entry *next, *prev; /* circular list with its head */
	struct reasm_entry *chain;	 /* hash chain */
	node_id_t source;
	uint32_t id;
	uint16_t total;
	struct reasm_around around;
	uint8_t n_ranges; /* received ranges: ascending, not adjacent */
	struct range range[REASM_RANGES_MAX];
	mono_t since;
	uint8_t *data;
};

struct reasm {
	/* random hash key, so that senders cannot choose colliding identifications */
	struct hash_key key;
	uint32_t mask;
	struct reasm_entry **bucket;
	struct reasm_entry *entry;
	uint8_t *buffers;
	struct reasm_entry free, waiting, complete; /* list heads */
	unsigned n_waiting;
	size_t bytes;
};

static void list_init(struct reasm_entry *head)
{
	head->next = head->prev = head;
}

static void list_append(struct reasm_entry *head, struct reasm_entry *e)
{
	e->prev = head->prev;
	e->next = head;
	head->prev->next = e;
	head->prev = e;
}

static void list_remove(struct reasm_entry *e)
{
	e->prev->next = e->next;
	e->next->prev = e->prev;
}

struct reasm *reasm_new(size_t bytes)
{
	struct reasm *r = x_new(struct reasm);
	size_t n = max_of(bytes / (FRAGMENT_FRAME_MAX + sizeof(struct reasm_entry)), (size_t)1);
	uint32_t buckets = 16;

	while (buckets < n)
		buckets *= 2;
	r->mask = buckets - 1;
	random_bytes(&r->key, sizeof(r->key));
	r->bucket = x_calloc(buckets, sizeof(struct reasm_entry *));
	r->entry = x_calloc(n, sizeof(*r->entry));
	r->buffers = x_buffer(n, FRAGMENT_FRAME_MAX);
	list_init(&r->free);
	list_init(&r->waiting);
	list_init(&r->complete);
	for (size_t i = 0; i < n; i++) {
		r->entry[i].data = r->buffers + i * FRAGMENT_FRAME_MAX;
		list_append(&r->free, &r->entry[i]);
	}
	return r;
}

void reasm_free(struct reasm *r)
{
	if (!r)
		return;
	free(r->bucket);
	free(r->entry);
	free(r->buffers);
	free(r);
}

static struct reasm_entry **bucket_of(struct reasm *r, node_id_t source, uint32_t id)
{
	return &r->bucket[siphash_u64(&r->key, (uint64_t)source << 32 | id) & r->mask];
}

static struct reasm_entry *find(struct reasm *r, node_id_t source, uint32_t id)
{
	struct reasm_entry *e = *bucket_of(r, source, id);

	while (e && (e->source != source || e->id != id))
		e = e->chain;
	return e;
}

/* Moves an entry from the hash table and the waiting list to another list. */
static void stop_waiting(struct reasm *r, struct reasm_entry *e, struct reasm_entry *list)
{
	struct reasm_entry **p = bucket_of(r, e->source, e->id);

	while (*p != e)
		p = &(*p)->chain;
	*p = e->chain;
	list_remove(e);
	list_append(list, e);
	r->n_waiting--;
	r->bytes -= e->total;
}

/* NULL if all buffers hold complete frames that are still in use. */
static struct reasm_entry *begin(struct reasm *r, node_id_t source, const struct fragment_hdr *h,
				 struct reasm_around around, mono_t now, bool *evicted)
{
	struct reasm_entry **p = bucket_of(r, source, h->id);
	struct reasm_entry *e = r->free.next;

	if (e == &r->free && r->waiting.next != &r->waiting) {
		stop_waiting(r, r->waiting.next, &r->free);
		*evicted = true;
		e = r->free.next;
	}
	if (e == &r->free)
		return NULL;
	e->source = source;
	e->id = h->id;
	e->total = h->total;
	e->around = around;
	e->n_ranges = 0;
	e->since = now;
	list_remove(e);
	list_append(&r->waiting, e);
	e->chain = *p;
	*p = e;
	r->n_waiting++;
	r->bytes += e->total;
	return e;
}

/* Records bytes [start, end) as received. */
static enum reasm_verdict note_range(struct reasm_entry *e, uint16_t start, uint16_t end)
{
	unsigned i = 0;
	struct range *g = e->range;

	/* Finds the first range that does not end before the new range begins. */
	while (i < e->n_ranges && g[i].end < start)
		i++;
	if (i < e->n_ranges && start >= g[i].start && end <= g[i].end)
		return REASM_DUPLICATE;
	/* The new range may touch g[i] in front, g[i] or g[i + 1] behind, and must not overlap
	 * any. */
	if (i < e->n_ranges && g[i].end == start) {
		if (i + 1u < e->n_ranges && g[i + 1].start < end)
			return REASM_BAD;
		g[i].end = end;
		if (i + 1u < e->n_ranges && g[i + 1].start == end) {
			g[i].end = g[i + 1].end;
			e->n_ranges--;
			memmove(&g[i + 1], &g[i + 2], (e->n_ranges - i - 1u) * sizeof(*g));
		}
		return REASM_WAITING;
	}
	if (i < e->n_ranges && g[i].start < end)
		return REASM_BAD;
	if (i < e->n_ranges && g[i].start == end) {
		g[i].start = start;
		return REASM_WAITING;
	}
	if (e->n_ranges == REASM_RANGES_MAX)
		return REASM_BAD;
	memmove(&g[i + 1], &g[i], (e->n_ranges - i) * sizeof(*g));
	g[i] = (struct range){ start, end };
	e->n_ranges++;
	return REASM_WAITING;
}

struct reasm_result reasm_add(struct reasm *r, node_id_t source, const struct fragment_hdr *h,
			      const uint8_t *data, size_t len, struct reasm_around around,
			      mono_t now)
{
	struct reasm_result res = { .verdict = REASM_BAD };
	struct reasm_entry *e = find(r, source, h->id);

	if (!e) {
		e = begin(r, source, h, around, now, &res.evicted);
		if (!e) {
			res.evicted = true;
			res.verdict = REASM_WAITING;
			return res;
		}
	}
	if (e->total == h->total && e->around.flags == around.flags)
		res.verdict = note_range(e, h->offset, (uint16_t)(h->offset + len));
	if (res.verdict == REASM_BAD)
		stop_waiting(r, e, &r->free);
	if (res.verdict != REASM_WAITING)
		return res;
	memcpy(e->data + h->offset, data, len);
	e->around.ecn = ecn_of_both(e->around.ecn, around.ecn);
	if (e->range[0].start == 0 && e->range[0].end == e->total) {
		stop_waiting(r, e, &r->complete);
		res.verdict = REASM_COMPLETE;
		res.data = e->data;
		res.len = e->total;
		res.around = e->around;
	}
	return res;
}

void reasm_forget(struct reasm *r, node_id_t source, uint32_t id)
{
	struct reasm_entry *e = find(r, source, id);

	if (e)
		stop_waiting(r, e, &r->free);
}

void reasm_reap(struct reasm *r, const uint8_t *keep)
{
	struct reasm_entry *e = r->complete.next, *next;

	for (; e != &r->complete; e = next) {
		next = e->next;
		if (unlikely(keep >= e->data && keep < e->data + FRAGMENT_FRAME_MAX))
			continue;
		list_remove(e);
		list_append(&r->free, e);
	}
}

unsigned reasm_expire(struct reasm *r, mono_t now)
{
	unsigned n = 0;

	while (r->waiting.next != &r->waiting &&
	       mono_sub_ns(now, r->waiting.next->since) >= REASM_TIMEOUT_NS) {
		stop_waiting(r, r->waiting.next, &r->free);
		n++;
	}
	return n;
}

unsigned reasm_waiting(const struct reasm *r)
{
	return r->n_waiting;
}

size_t reasm_bytes(const struct reasm *r)
{
	return r->bytes;
}
