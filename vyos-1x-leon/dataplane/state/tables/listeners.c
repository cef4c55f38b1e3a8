// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Listeners at other nodes, see listeners.h: for each node a hash table with open addressing, at
 * most half full. The control thread writes, workers read.
 */
#include "state/tables/listeners.h"

#include <stdlib.h>

#include "base/addr.h"
#include "base/mem.h"
#include "crypto/aead.h"
#include "wire/frame/mcast.h"

struct listener_set {
	uint32_t n, mask;
	uint64_t seed;	 /* random hash seed, so that hosts cannot choose colliding groups */
	uint64_t *entry; /* as announced */
	uint64_t place[];
};

/* The part of an entry that the MAC address of a frame contains. */
static uint64_t comparable(uint64_t entry)
{
	return listener_family(entry) == 4 ? entry & ~(uint64_t)(UINT32_MAX - MCAST_V4_BITS)
					   : entry;
}

/* Returns the place of the key, or the empty place that ends its search. */
static uint32_t find(const struct listener_set *s, uint64_t key)
{
	uint32_t i = (uint32_t)hash_mix64(key ^ s->seed) & s->mask;

	while (s->place[i] && s->place[i] != key)
		i = (i + 1) & s->mask;
	return i;
}

struct listener_set *listener_set_new(const uint64_t *entry, unsigned n)
{
	struct listener_set *s;
	uint32_t size = 4;

	while (size < 2 * n)
		size *= 2;
	s = x_calloc(1, sizeof(*s) + size * sizeof(s->place[0]));
	s->n = n;
	s->mask = size - 1;
	s->seed = random_u64_nonzero();
	s->entry = x_calloc(n + 1, sizeof(*entry));
	for (unsigned i = 0; i < n; i++) {
		s->entry[i] = entry[i];
		s->place[find(s, comparable(entry[i]))] = comparable(entry[i]);
	}
	return s;
}

void listener_set_free(void *p)
{
	struct listener_set *s = p;

	if (s)
		free(s->entry);
	free(s);
}

struct listeners *listeners_new(uint16_t n_slots)
{
	struct listeners *l = x_calloc(1, sizeof(*l) + n_slots * sizeof(l->set[0]));

	l->n_slots = n_slots;
	return l;
}

void listeners_free(void *p)
{
	struct listeners *l = p;

	for (uint16_t i = 0; l && i < l->n_slots; i++)
		listener_set_free(load_relaxed(&l->set[i]));
	free(l);
}

struct listener_set *listeners_replace(struct listeners *l, uint16_t slot, struct listener_set *s)
{
	return atomic_exchange_explicit(&l->set[slot], s, memory_order_acq_rel);
}

const struct listener_set *listeners_of(const struct listeners *l, uint16_t slot)
{
	return slot < l->n_slots ? load_acquire(&l->set[slot]) : NULL;
}

const uint64_t *listener_set_entries(const struct listener_set *s, unsigned *n)
{
	*n = s->n;
	return s->entry;
}

bool listeners_want(const struct listeners *l, uint16_t slot, uint64_t wanted)
{
	const struct listener_set *s = listeners_of(l, slot);
	uint64_t list = wanted & ~(uint64_t)UINT32_MAX;

	return !s || s->place[find(s, comparable(wanted))] || !s->place[find(s, list)];
}

static _Atomic uint64_t *word_of(struct listeners *l, uint16_t vlan, uint8_t family)
{
	return &l->withholds[family == 6][vlan % VLAN_IDS / 64];
}

void listeners_set_withholds(struct listeners *l, uint16_t vlan, uint8_t family, bool withholds)
{
	uint64_t bit = 1ULL << vlan % 64;

	if (withholds)
		atomic_fetch_or_explicit(word_of(l, vlan, family), bit, memory_order_relaxed);
	else
		atomic_fetch_and_explicit(word_of(l, vlan, family), ~bit, memory_order_relaxed);
}

bool listeners_withholds(const struct listeners *l, uint16_t vlan, uint8_t family)
{
	return load_relaxed(&l->withholds[family == 6][vlan % VLAN_IDS / 64]) >> vlan % 64 & 1;
}
