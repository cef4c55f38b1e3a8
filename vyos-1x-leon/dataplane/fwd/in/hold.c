// SPDX-License-Identifier: GPL-2.0-or-later
/* Streams of distributed datagrams. Workers. */
#include "fwd/in/received_tables.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/defs.h"
#include "base/mem.h"

#define NO_OWNER UINT8_MAX
#define NONE	 0	    /* the counter did not arrive */
#define PASSED	 UINT16_MAX /* it arrived and does not wait */
/* A counter consists of epoch and worker of the sender, and a number. */
#define NUMBER_BITS 52
/* Yields for a lock before the first pause (about 100 us, while a running holder needs 1 us), and
 * the length of a pause. */
#define LOCK_YIELDS   200
#define LOCK_PAUSE_NS 20000

struct hold_buffer {
	struct hold_datagram d;
	mono_t since;
	uint16_t next; /* index plus 1 in a list */
	uint8_t bytes[HOLD_BYTES];
};

struct hold_stream {
	uint8_t owner;	  /* worker that delivers its datagrams, or NO_OWNER */
	mono_t owned_at;  /* last datagram for the owner */
	node_id_t id;	  /* source */
	uint64_t series;  /* upper bits of the counters */
	uint64_t next;	  /* the lowest counter that is neither delivered nor given up */
	uint64_t give_up; /* missing counters below are given up */
	uint64_t last[LINE_PAIRS];
	unsigned waiting;
	int64_t wait_us;
	mono_t marked_at;
	/* By counter modulo the window: NONE, PASSED, or index of a buffer plus 1. */
	uint16_t at[HOLD_WINDOW];
};

struct hold {
	atomic_flag lock;
	mono_t now;		/* of the latest batch of any worker */
	_Atomic uint64_t open;	/* bits: streams in use */
	_Atomic int64_t due_ns; /* 0: never */
	uint16_t free;		/* lists of buffers, index plus 1 */
	uint16_t delivered[UINT8_MAX];
	unsigned n_free;
	struct hold_stream stream[HOLD_STREAMS];
	struct hold_buffer *buffer;
};

static void put_free(struct hold *h, uint16_t at)
{
	h->buffer[at - 1].next = h->free;
	h->free = at;
	h->n_free++;
}

struct hold *hold_new(void)
{
	struct hold *h = x_new(struct hold);

	h->buffer = x_calloc(HOLD_BUFFERS, sizeof(h->buffer[0]));
	atomic_flag_clear(&h->lock);
	for (unsigned i = HOLD_BUFFERS; i; i--)
		put_free(h, (uint16_t)i);
	return h;
}

void hold_free(struct hold *h)
{
	if (!h)
		return;
	free(h->buffer);
	free(h);
}

/* A holder of the same scheduling class runs after a yield. A holder with normal scheduling does
 * not run on the processor of a worker with real-time priority before this worker sleeps. */
static void lock(struct hold *h)
{
	const struct timespec pause = { 0, LOCK_PAUSE_NS };

	for (unsigned n = 1; atomic_flag_test_and_set_explicit(&h->lock, memory_order_acquire); n++)
		if (n < LOCK_YIELDS)
			sched_yield();
		else
			nanosleep(&pause, NULL);
}

static void unlock(struct hold *h)
{
	atomic_flag_clear_explicit(&h->lock, memory_order_release);
}

static uint64_t open_streams(const struct hold *h)
{
	return load_relaxed(&h->open);
}

/* Removes a stream from the bits, and returns its number. */
static unsigned next_stream(uint64_t *bits)
{
	unsigned i = (unsigned)__builtin_ctzll(*bits);

	*bits &= *bits - 1;
	return i;
}

bool hold_in_use(const struct hold *h)
{
	return open_streams(h) != 0;
}

mono_t hold_due(const struct hold *h)
{
	return (mono_t){ load_relaxed(&h->due_ns) };
}

/* --- streams --- */

static uint16_t *place(struct hold_stream *s, uint64_t counter)
{
	return &s->at[counter % HOLD_WINDOW];
}

static uint64_t number(const struct hold_datagram *d)
{
	return d->counter & ((1ULL << NUMBER_BITS) - 1);
}

static bool is_stream_of(const struct hold_stream *s, const struct hold_datagram *d)
{
	return s->id == d->h.source && s->series == d->counter >> NUMBER_BITS;
}

/* Another worker may be preempted. It then delivers its own batch late. Time counts from the last
 * datagram of the owner, because a batch may be long. */
static bool may_own(const struct hold *h, const struct hold_stream *s, unsigned worker)
{
	return s->owner == NO_OWNER || s->owner == worker ||
	       mono_sub_us(h->now, s->owned_at) > s->wait_us;
}

static void own(const struct hold *h, struct hold_stream *s, unsigned worker)
{
	s->owner = (uint8_t)worker;
	s->owned_at = h->now;
}

static void see_time(struct hold *h, mono_t now)
{
	if (mono_before(h->now, now))
		h->now = now;
}

static bool is_idle(const struct hold_stream *s, mono_t now)
{
	return !s->waiting && s->owner == NO_OWNER &&
	       mono_sub_ms(now, s->marked_at) >= HOLD_IDLE_MS;
}

static void close_idle(struct hold *h, mono_t now)
{
	for (uint64_t bits = open_streams(h); bits;) {
		unsigned i = next_stream(&bits);

		if (is_idle(&h->stream[i], now))
			atomic_fetch_and_explicit(&h->open, ~(1ULL << i), memory_order_relaxed);
	}
}

/*
 * A source may use as many streams and buffers as are free (dynamic thresholds: Choudhury and
 * Hahne, IEEE/ACM ToN 1998). A single source gets half, and the next source half of the rest.
 */
static bool may_open(struct hold *h, node_id_t id)
{
	unsigned used = 0, streams = 0;

	for (uint64_t bits = open_streams(h); bits; streams++)
		used += h->stream[next_stream(&bits)].id == id;
	return used < HOLD_STREAMS - streams;
}

static bool may_keep(struct hold *h, node_id_t id)
{
	unsigned used = 0;

	for (uint64_t bits = open_streams(h); bits;) {
		const struct hold_stream *s = &h->stream[next_stream(&bits)];

		used += s->id == id ? s->waiting : 0;
	}
	return used < h->n_free;
}

/* A stream begins with the first datagram with the mark. */
static struct hold_stream *open_stream(struct hold *h, const struct hold_datagram *d, mono_t now)
{
	uint64_t unused;
	unsigned i;

	close_idle(h, now);
	if (!may_open(h, d->h.source))
		return NULL;
	unused = ~open_streams(h);
	i = next_stream(&unused);
	h->stream[i] = (struct hold_stream){ .owner = NO_OWNER,
					     .id = d->h.source,
					     .series = d->counter >> NUMBER_BITS,
					     .next = number(d) };
	atomic_fetch_or_explicit(&h->open, 1ULL << i, memory_order_relaxed);
	return &h->stream[i];
}

/* An idle stream that no worker has closed yet does not count. */
static struct hold_stream *find(struct hold *h, const struct hold_datagram *d, mono_t now)
{
	for (uint64_t bits = open_streams(h); bits;) {
		struct hold_stream *s = &h->stream[next_stream(&bits)];

		if (is_stream_of(s, d) && !is_idle(s, now))
			return s;
	}
	return d->marked ? open_stream(h, d, now) : NULL;
}

/* --- order --- */

/* Two lines carried later datagrams, and each line keeps its order. */
static bool is_lost(const struct hold_stream *s, uint64_t counter)
{
	unsigned later = 0;

	for (unsigned i = 0; i < LINE_PAIRS; i++)
		later += s->last[i] > counter;
	return later > 1;
}

/* The lowest counter that waits; something waits. */
static uint64_t first_waiting(struct hold_stream *s)
{
	uint64_t counter = s->next;

	while (*place(s, counter) == NONE || *place(s, counter) == PASSED)
		counter++;
	return counter;
}

static void pass(struct hold_stream *s)
{
	*place(s, s->next) = NONE;
	s->next++;
}

/* End of the wait for the gap in front of the stream. */
static mono_t due(struct hold *h, struct hold_stream *s)
{
	const struct hold_buffer *b = &h->buffer[*place(s, first_waiting(s)) - 1];

	return mono_add_us(b->since, s->wait_us);
}

/* Counters below are given up: the wait of the first datagram behind the gap is over. */
static uint64_t waited_until(struct hold *h, struct hold_stream *s, mono_t now)
{
	return s->waiting && !mono_before(now, due(h, s)) ? first_waiting(s) : 0;
}

/* Returns true if the missing next counter is not waited for any longer. */
static bool is_given_up(struct hold *h, struct hold_stream *s, mono_t now)
{
	if (s->next >= s->give_up && !is_lost(s, s->next))
		s->give_up = max_of(s->give_up, waited_until(h, s, now));
	return s->next < s->give_up || is_lost(s, s->next);
}

/* Moves over counters that arrived or are given up. Returns true if the next one waits here and is
 * to be delivered. */
static bool advance(struct hold *h, struct hold_stream *s, mono_t now)
{
	for (;;) {
		uint16_t at = *place(s, s->next);

		if (at != NONE && at != PASSED)
			return true;
		if (at == NONE && !is_given_up(h, s, now))
			return false;
		pass(s);
	}
}

static bool keep(struct hold *h, struct hold_stream *s, const struct hold_datagram *d, mono_t now)
{
	struct hold_buffer *b;
	uint16_t at = h->free;

	if (d->len > HOLD_BYTES || !may_keep(h, s->id))
		return false;
	b = &h->buffer[at - 1];
	h->free = b->next;
	h->n_free--;
	b->d = *d;
	b->d.payload = b->bytes;
	b->since = now;
	memcpy(b->bytes, d->payload, d->len);
	*place(s, number(d)) = at;
	s->waiting++;
	return true;
}

static void saw(struct hold_stream *s, const struct hold_datagram *d, int64_t wait_us, mono_t now)
{
	if (d->line < LINE_PAIRS)
		s->last[d->line] = max_of(s->last[d->line], number(d));
	if (!d->marked)
		return;
	s->marked_at = now;
	s->wait_us = wait_us;
}

static enum hold_verdict enter(struct hold *h, struct hold_stream *s, unsigned worker,
			       const struct hold_datagram *d, mono_t now)
{
	uint64_t counter = number(d);

	if (counter < s->next)
		return HOLD_LATE;
	if (counter - s->next >= HOLD_WINDOW) {
		/* The datagrams in between are still on the lines. */
		if (d->line == HOLD_RELAYED)
			return HOLD_NOW;
		s->give_up = counter - HOLD_WINDOW + 1;
		if (s->waiting)
			return HOLD_LATE;
		/* Nothing waits: the stream continues here. */
		memset(s->at, 0, sizeof(s->at));
		s->next = counter;
	}
	if (!d->marked) {
		*place(s, counter) = PASSED;
		return HOLD_NOW;
	}
	if (counter == s->next && may_own(h, s, worker)) {
		own(h, s, worker);
		s->next++;
		return HOLD_NOW;
	}
	if (keep(h, s, d, now))
		return HOLD_KEPT;
	*place(s, counter) = PASSED;
	return HOLD_FULL;
}

enum hold_verdict hold_take(struct hold *h, unsigned worker, const struct hold_datagram *d,
			    int64_t wait_us, mono_t now)
{
	enum hold_verdict v = d->marked ? HOLD_FULL : HOLD_NOW;
	struct hold_stream *s;

	lock(h);
	see_time(h, now);
	s = find(h, d, now);
	if (s) {
		saw(s, d, wait_us, now);
		v = enter(h, s, worker, d, now);
	}
	unlock(h);
	return v;
}

static struct hold_buffer *take_ready(struct hold *h, struct hold_stream *s, unsigned worker,
				      mono_t now)
{
	struct hold_buffer *b;
	uint16_t at;

	if (!may_own(h, s, worker) || !advance(h, s, now))
		return NULL;
	at = *place(s, s->next);
	b = &h->buffer[at - 1];
	own(h, s, worker);
	s->waiting--;
	pass(s);
	b->next = h->delivered[worker];
	h->delivered[worker] = at;
	return b;
}

const struct hold_datagram *hold_next(struct hold *h, unsigned worker, mono_t now)
{
	struct hold_buffer *b = NULL;

	lock(h);
	see_time(h, now);
	for (uint64_t bits = open_streams(h); bits && !b;)
		b = take_ready(h, &h->stream[next_stream(&bits)], worker, now);
	unlock(h);
	return b ? &b->d : NULL;
}

static void give_back(struct hold *h, unsigned worker)
{
	while (h->delivered[worker]) {
		uint16_t at = h->delivered[worker];

		h->delivered[worker] = h->buffer[at - 1].next;
		put_free(h, at);
	}
}

bool hold_end(struct hold *h, unsigned worker, mono_t now)
{
	mono_t first = MONO_NEVER;
	bool more = false;

	lock(h);
	give_back(h, worker);
	for (uint64_t bits = open_streams(h); bits;) {
		struct hold_stream *s = &h->stream[next_stream(&bits)];
		mono_t look;

		if (may_own(h, s, worker)) {
			s->owner = NO_OWNER;
			if (advance(h, s, now)) {
				own(h, s, worker);
				more = true;
			}
		}
		if (!s->waiting)
			continue;
		/* A waiting datagram may be ready then. No worker wakes up an owner that does not
		 * run. */
		look = may_own(h, s, worker) ? due(h, s) : mono_add_us(s->owned_at, s->wait_us + 1);
		first = mono_earlier(first, look);
	}
	close_idle(h, now);
	store_relaxed(&h->due_ns, first.ns);
	unlock(h);
	return !more;
}
