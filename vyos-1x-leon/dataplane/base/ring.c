// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The single-producer single-consumer ring. Owns its memory. One thread produces, one consumes.
 * Positions count bytes and never wrap to zero; the mask turns them into offsets. A record is
 * contiguous: if it does not fit before the end, a padding record fills the remainder.
 */
#include "ring.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "defs.h"
#include "log.h"
#include "mem.h"

#define RING_MIN ((size_t)4096)
#define RING_MAX ((size_t)16 << 20)

struct record {
	uint32_t len; /* bytes of data, without this header and without alignment */
	uint16_t type;
	uint16_t padding; /* 1: padding, skip len bytes */
};

struct ring {
	size_t size;
	uint8_t *data;
	/* Producer. */
	struct {
		_Atomic size_t head; /* end of the committed records */
		size_t tail_seen;
		size_t next_head; /* equals head if nothing is reserved */
	} prod attr_cacheline;
	/* Consumer. */
	struct {
		_Atomic size_t tail; /* start of the oldest record */
		size_t head_seen;
		size_t next_tail; /* equals tail if nothing is peeked */
	} cons attr_cacheline;
};

static size_t record_size(size_t len)
{
	return sizeof(struct record) + ((len + 7) & ~(size_t)7);
}

static struct record *record_at(struct ring *r, size_t pos)
{
	return (struct record *)(void *)(r->data + (pos & (r->size - 1)));
}

struct ring *ring_new(size_t bytes)
{
	struct ring *r;

	if (bytes < RING_MIN || bytes > RING_MAX || (bytes & (bytes - 1)))
		bug("ring of %zu bytes", bytes);
	r = x_calloc_aligned(1, sizeof(*r));
	r->size = bytes;
	r->data = x_buffer(bytes, 1);
	return r;
}

void ring_free(struct ring *r)
{
	if (!r)
		return;
	free(r->data);
	free(r);
}

/* Returns true if `need` bytes are free behind `head`. Reads the consumer's position only if its
 * cached value is too old. */
static bool has_room(struct ring *r, size_t head, size_t need)
{
	if (r->size - (head - r->prod.tail_seen) >= need)
		return true;
	r->prod.tail_seen = atomic_load_explicit(&r->cons.tail, memory_order_acquire);
	return r->size - (head - r->prod.tail_seen) >= need;
}

void *ring_reserve(struct ring *r, uint16_t type, size_t len)
{
	size_t head = atomic_load_explicit(&r->prod.head, memory_order_relaxed);
	size_t to_end = r->size - (head & (r->size - 1));
	size_t pad, need;
	struct record *rec;

	/* For a larger record, an empty ring would have room at some positions only. */
	if (len > r->size / 2 - sizeof(*rec))
		return NULL;
	need = record_size(len);
	pad = to_end < need ? to_end : 0;
	if (!has_room(r, head, pad + need))
		return NULL;
	if (pad) {
		*record_at(r, head) =
			(struct record){ .len = (uint32_t)(pad - sizeof(*rec)), .padding = 1 };
		head += pad;
	}
	rec = record_at(r, head);
	*rec = (struct record){ .len = (uint32_t)len, .type = type };
	r->prod.next_head = head + need;
	return rec + 1;
}

void ring_commit(struct ring *r)
{
	if (r->prod.next_head == atomic_load_explicit(&r->prod.head, memory_order_relaxed))
		bug("ring_commit without ring_reserve");
	atomic_store_explicit(&r->prod.head, r->prod.next_head, memory_order_release);
}

bool ring_has_room(struct ring *r, size_t bytes)
{
	return has_room(r, atomic_load_explicit(&r->prod.head, memory_order_relaxed), bytes);
}

static bool has_record(struct ring *r, size_t tail)
{
	if (r->cons.head_seen == tail)
		r->cons.head_seen = atomic_load_explicit(&r->prod.head, memory_order_acquire);
	return r->cons.head_seen != tail;
}

const void *ring_peek(struct ring *r, uint16_t *type, size_t *len)
{
	size_t tail = atomic_load_explicit(&r->cons.tail, memory_order_relaxed);
	struct record *rec;

	if (!has_record(r, tail))
		return NULL;
	rec = record_at(r, tail);
	if (rec->padding) {
		/* The padding is committed together with the record behind it. */
		tail += record_size(rec->len);
		rec = record_at(r, tail);
	}
	r->cons.next_tail = tail + record_size(rec->len);
	*type = rec->type;
	*len = rec->len;
	return rec + 1;
}

void ring_release(struct ring *r)
{
	if (r->cons.next_tail == atomic_load_explicit(&r->cons.tail, memory_order_relaxed))
		bug("ring_release without ring_peek");
	atomic_store_explicit(&r->cons.tail, r->cons.next_tail, memory_order_release);
}
