// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Windows of counters. The control thread creates, frees and resets; workers do the rest.
 *
 * Counters form blocks of 16. Word i of a window serves the blocks whose number is i modulo WORDS.
 * For the newest of these blocks it holds the turn of the window (upper half), and two bits per
 * counter: one for each received copy. A turn is a 32-bit serial number (RFC 1982).
 */
#include "fwd/in/received_tables.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "wire/datagram/parity.h"

#define BLOCK 16
#define WORDS 1024
/* A counter that lags by more turns (a million counters) is no late copy: the source restarted. */
#define TURNS_BACK 64
#define FIRSTS	   0xffffu

static_assert(COPIES_WINDOW == (WORDS - 1) * BLOCK, "whole blocks behind the newest");

struct copy_window {
	_Atomic uint64_t word[WORDS];
};

struct copies {
	uint16_t slots_maximum;
	struct copy_window *window; /* indexed by slot and worker of the source */
};

/* calloc() of this size returns untouched pages, which use no memory until written. */
struct copies *copies_new(uint16_t slots_maximum)
{
	struct copies *c = x_new(struct copies);

	c->slots_maximum = slots_maximum;
	c->window = x_calloc((size_t)slots_maximum * COPY_WORKERS_MAX, sizeof(c->window[0]));
	return c;
}

void copies_free(struct copies *c)
{
	if (!c)
		return;
	free(c->window);
	free(c);
}

static struct copy_window *windows_of(struct copies *c, uint16_t slot)
{
	return &c->window[(size_t)slot * COPY_WORKERS_MAX];
}

void copies_forget(struct copies *c, uint16_t slot)
{
	struct copy_window *win = windows_of(c, slot);

	/* A read does not allocate a page that was never written. */
	for (unsigned i = 0; i < COPY_WORKERS_MAX; i++)
		for (unsigned k = 0; k < WORDS; k++)
			if (load_relaxed(&win[i].word[k]))
				store_relaxed(&win[i].word[k], 0);
}

struct copy_place {
	_Atomic uint64_t *word;
	uint32_t turn, first, second; /* turn and bits of the counter */
	bool single;
};

static struct copy_place place_of(struct copies *c, uint16_t slot, const struct copy_hdr *h)
{
	uint64_t block = h->counter / BLOCK;
	uint32_t bit = 1u << h->counter % BLOCK;

	return (struct copy_place){ &windows_of(c, slot)[h->worker].word[block % WORDS],
				    (uint32_t)(block / WORDS), bit, bit << BLOCK,
				    h->kind & PARITY_MARK };
}

static enum copy_verdict judge(uint64_t word, const struct copy_place *p)
{
	int32_t ahead = (int32_t)(p->turn - (uint32_t)(word >> 32));

	if (!((uint32_t)word & FIRSTS) || ahead > 0 || ahead < -TURNS_BACK)
		return COPY_FIRST;
	if (ahead < 0)
		return COPY_OLD;
	if (!(word & p->first))
		return COPY_FIRST;
	return word & p->second ? COPY_AGAIN : COPY_SECOND;
}

static uint64_t with(uint64_t word, const struct copy_place *p, enum copy_verdict v)
{
	uint64_t fresh = (uint64_t)p->turn << 32 | p->first;

	/* A frame sent once does not count as a frame with a lost copy. */
	if (p->single)
		fresh |= p->second;
	if (v == COPY_SECOND)
		return word | p->second;
	return (uint32_t)(word >> 32) == p->turn ? word | fresh : fresh;
}

/* Frames of a completed block with a single copy. */
static unsigned single(uint64_t word)
{
	uint32_t first = (uint32_t)word & FIRSTS, second = (uint32_t)word >> BLOCK;

	return (unsigned)__builtin_popcount(first & ~second);
}

enum copy_verdict copies_look(struct copies *c, uint16_t slot, const struct copy_hdr *h)
{
	struct copy_place p = place_of(c, slot, h);

	return judge(load_relaxed(p.word), &p);
}

enum copy_verdict copies_take(struct copies *c, uint16_t slot, const struct copy_hdr *h,
			      unsigned *lost_one)
{
	struct copy_place p = place_of(c, slot, h);
	uint64_t word = load_relaxed(p.word), next;
	enum copy_verdict v;

	do {
		v = judge(word, &p);
		if (v == COPY_AGAIN || v == COPY_OLD)
			break;
		next = with(word, &p, v);
	} while (!atomic_compare_exchange_weak_explicit(p.word, &word, next, memory_order_relaxed,
							memory_order_relaxed));
	*lost_one = v == COPY_FIRST && (uint32_t)(word >> 32) != p.turn ? single(word) : 0;
	return v;
}
