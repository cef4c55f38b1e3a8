// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Quiescent-state based reclamation. Owns the retired objects until no reader can hold them. The
 * writer (control thread) counts epochs. A reader stores the epoch that it has seen, or zero while
 * offline, into a cache line of its own.
 *
 * Correctness: an object retired at epoch T was unpublished before the epoch became T. A reader
 * that stores T or more has read this epoch (acquire), so every pointer that it loads afterwards is
 * the newer one. Its earlier uses happen before the store (release) that the writer reads.
 *
 * A reader comes online by an atomic exchange, and the writer reads the slot by an atomic
 * read-modify-write, so the two are ordered. If the writer is first and sees zero, the reader's
 * exchange reads the value of the writer and therefore also sees the newer pointer. No fences are
 * used, because ThreadSanitizer does not understand them.
 */
#include "rcu.h"

#include <stdlib.h>

#include "log.h"
#include "mem.h"

struct slot {
	_Atomic uint64_t seen; /* epoch, 0 while offline */
} attr_cacheline;

struct retired {
	struct retired *next;
	uint64_t epoch;
	void *p;
	void (*fn)(void *);
};

struct rcu {
	_Atomic uint64_t epoch attr_cacheline;
	unsigned n_readers;
	unsigned n_waiting;
	struct retired *first; /* oldest; epochs ascend along the list */
	struct retired **last_next;
	struct slot slot[RCU_READERS_MAX];
};

struct rcu *rcu_new(unsigned n_readers)
{
	struct rcu *r;

	if (n_readers < 1 || n_readers > RCU_READERS_MAX)
		bug("rcu with %u readers", n_readers);
	r = x_calloc_aligned(1, sizeof(*r));
	atomic_init(&r->epoch, 1);
	r->n_readers = n_readers;
	r->last_next = &r->first;
	return r;
}

static void free_oldest(struct rcu *r)
{
	struct retired *old = r->first;

	/* Unlinked first: the destructor may retire something itself. */
	r->first = old->next;
	if (!r->first)
		r->last_next = &r->first;
	r->n_waiting--;
	old->fn(old->p);
	free(old);
}

void rcu_free(struct rcu *r)
{
	if (!r)
		return;
	while (r->first)
		free_oldest(r);
	free(r);
}

void rcu_online(struct rcu *r, unsigned reader)
{
	uint64_t now = atomic_load_explicit(&r->epoch, memory_order_acquire);

	atomic_exchange_explicit(&r->slot[reader].seen, now, memory_order_acq_rel);
}

void rcu_offline(struct rcu *r, unsigned reader)
{
	atomic_store_explicit(&r->slot[reader].seen, 0, memory_order_release);
}

void rcu_quiescent(struct rcu *r, unsigned reader)
{
	uint64_t now = atomic_load_explicit(&r->epoch, memory_order_acquire);

	atomic_store_explicit(&r->slot[reader].seen, now, memory_order_release);
}

void rcu_retire(struct rcu *r, void *p, void (*fn)(void *))
{
	struct retired *item = x_new(struct retired);

	item->p = p;
	item->fn = fn;
	item->epoch = atomic_fetch_add_explicit(&r->epoch, 1, memory_order_acq_rel) + 1;
	*r->last_next = item;
	r->last_next = &item->next;
	r->n_waiting++;
}

/* Returns the oldest epoch that a reader may still be in; UINT64_MAX if all are offline. */
static uint64_t oldest_seen(struct rcu *r)
{
	uint64_t oldest = UINT64_MAX;

	for (unsigned i = 0; i < r->n_readers; i++) {
		uint64_t seen =
			atomic_fetch_add_explicit(&r->slot[i].seen, 0, memory_order_acq_rel);

		if (seen != 0)
			oldest = min_of(oldest, seen);
	}
	return oldest;
}

unsigned rcu_reclaim(struct rcu *r)
{
	uint64_t oldest;

	if (!r->first)
		return 0;
	oldest = oldest_seen(r);
	/* The loop ends at the objects retired before it began. Destructors may retire more objects
	 * at later epochs, and the slots read above do not cover these epochs. */
	for (unsigned n = r->n_waiting; n > 0 && r->first->epoch <= oldest; n--)
		free_oldest(r);
	return r->n_waiting;
}
