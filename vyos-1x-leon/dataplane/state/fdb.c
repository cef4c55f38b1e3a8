// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The forwarding database of fdb.h: open addressing with linear probing. One rule makes it safe
 * for readers without locks: a place belongs to one key for the life of the table. A removed entry
 * leaves its key behind with SLOT_NONE as its value, and only the same key may use the place
 * again; so whatever value a reader finds behind a key is, or was, that key's value, never another's.
 * The holes that removals leave go away when the owner replaces the table by a copy (fdb_copy,
 * base/rcu), which it does when fdb_wants_copy says so.
 * Written by the control thread; read, and times touched, by workers.
 */
#include "state/fdb.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/defs.h"
#include "base/mem.h"
#include "crypto/aead.h"

#define KEY_USED     (1ULL << 60) /* tells VLAN 0, MAC 0 from a place never used */
#define VALUE_FROZEN 0x10000u	  /* above the slot */

struct place {
	_Atomic uint64_t key; /* KEY_USED | vlan << 48 | mac; set once */
	_Atomic uint32_t value;
	_Atomic uint32_t seen_s;
	/* The writer's: */
	uint32_t n_moves;
	uint32_t window_s; /* start of the time in which moves are counted */
	uint32_t window_moves;
	uint32_t thaw_s;
};
static_assert(sizeof(struct place) == 32, "two places to a cache line");

struct fdb {
	/* Set once. */
	struct place *place;
	uint32_t mask;
	uint32_t maximum;
	uint64_t seed; /* keeps senders from choosing MACs that share a place */
	/* Written by the control thread only, read by all. */
	_Atomic bool refusing;

	uint32_t count attr_cacheline; /* entries */
	uint32_t n_taken;	       /* entries and holes */
	uint32_t age_at;	       /* next place to look at in fdb_age */
};

struct fdb *fdb_new(uint32_t maximum)
{
	struct fdb *f = x_calloc_aligned(1, sizeof(*f));
	uint64_t size = 16;

	while (size < 2 * (uint64_t)maximum)
		size *= 2;
	f->place = x_calloc_aligned(size, sizeof(struct place));
	f->mask = (uint32_t)(size - 1);
	f->maximum = maximum;
	f->seed = random_u64_nonzero();
	return f;
}

void fdb_free(void *p)
{
	struct fdb *f = p;

	if (!f)
		return;
	free(f->place);
	free(f);
}

static uint64_t key_of(uint16_t vlan, struct mac mac)
{
	return KEY_USED | (uint64_t)(vlan & 0xfff) << 48 | mac_to_u64(mac);
}

/* The key's place, or the empty place that ends its search. Terminates because a part of the
 * table always stays empty. */
static struct place *find_place(const struct fdb *f, uint64_t wanted, uint64_t *found)
{
	uint32_t i = (uint32_t)hash_mix64(wanted ^ f->seed) & f->mask;

	for (;;) {
		struct place *p = &f->place[i];

		/* Acquire: the value was written before the key was. */
		*found = atomic_load_explicit(&p->key, memory_order_acquire);
		if (*found == wanted || *found == 0)
			return p;
		i = (i + 1) & f->mask;
	}
}

/* Place of an entry, NULL where there is none; *value is what it holds. */
static struct place *find_entry(const struct fdb *f, uint64_t key, uint32_t *value)
{
	uint64_t found;
	struct place *p = find_place(f, key, &found);

	if (found != key)
		return NULL;
	*value = atomic_load_explicit(&p->value, memory_order_acquire);
	return (uint16_t)*value == SLOT_NONE ? NULL : p;
}

/* A word that many workers would write with the same second costs less when it is read first. */
static void touch(struct place *p, uint32_t now_s)
{
	if (atomic_load_explicit(&p->seen_s, memory_order_relaxed) != now_s)
		atomic_store_explicit(&p->seen_s, now_s, memory_order_relaxed);
}

uint16_t fdb_lookup(const struct fdb *f, uint16_t vlan, struct mac mac)
{
	uint32_t value;

	return find_entry(f, key_of(vlan, mac), &value) ? (uint16_t)value : SLOT_NONE;
}

enum fdb_seen fdb_seen(struct fdb *f, uint16_t vlan, struct mac mac, uint16_t slot, uint32_t now_s)
{
	uint32_t value;
	struct place *p = find_entry(f, key_of(vlan, mac), &value);

	if (!p)
		return atomic_load_explicit(&f->refusing, memory_order_relaxed) ? FDB_FROZEN
										: FDB_NEWS;
	if ((uint16_t)value == slot) {
		touch(p, now_s);
		return FDB_KNOWN;
	}
	return value & VALUE_FROZEN ? FDB_FROZEN : FDB_NEWS;
}

/* --- control thread --- */

static uint32_t value_of(const struct place *p)
{
	return atomic_load_explicit(&p->value, memory_order_relaxed);
}

static bool is_entry(const struct place *p)
{
	return atomic_load_explicit(&p->key, memory_order_relaxed) &&
	       (uint16_t)value_of(p) != SLOT_NONE;
}

static void set_value(struct place *p, uint32_t value)
{
	atomic_store_explicit(&p->value, value, memory_order_release);
}

/* Beyond seven eighths taken, searches grow long and at last would not end. */
static bool has_room(const struct fdb *f, bool takes_place)
{
	return f->count < f->maximum && (!takes_place || f->n_taken < f->mask - f->mask / 8);
}

static enum fdb_result add(struct fdb *f, struct place *p, bool takes_place, uint64_t key,
			   uint16_t slot, uint32_t now_s)
{
	if (!has_room(f, takes_place)) {
		atomic_store_explicit(&f->refusing, true, memory_order_relaxed);
		return FDB_FULL;
	}
	p->n_moves = 0;
	p->window_moves = 0;
	atomic_store_explicit(&p->seen_s, now_s, memory_order_relaxed);
	set_value(p, slot);
	if (takes_place) {
		f->n_taken++;
		atomic_store_explicit(&p->key, key, memory_order_release);
	}
	f->count++;
	return FDB_ADDED;
}

/* True where this move is one too many. */
static bool move_flaps(struct place *p, uint32_t now_s)
{
	if (p->window_moves == 0 || now_s - p->window_s > FDB_FLAP_WINDOW_S) {
		p->window_s = now_s;
		p->window_moves = 0;
	}
	return ++p->window_moves > FDB_FLAP_MOVES;
}

static bool is_over(uint32_t now_s, uint32_t at_s)
{
	return (int32_t)(now_s - at_s) >= 0;
}

static void thaw(struct place *p)
{
	p->window_moves = 0;
	set_value(p, (uint16_t)value_of(p));
}

enum fdb_result fdb_learn(struct fdb *f, uint16_t vlan, struct mac mac, uint16_t slot,
			  uint32_t now_s)
{
	uint64_t key = key_of(vlan, mac), found;
	struct place *p = find_place(f, key, &found);
	uint32_t value;

	if (found != key)
		return add(f, p, true, key, slot, now_s);
	value = value_of(p);
	if ((uint16_t)value == SLOT_NONE)
		return add(f, p, false, key, slot, now_s);
	if ((uint16_t)value == slot) {
		touch(p, now_s);
		return FDB_SAME;
	}
	if (value & VALUE_FROZEN) {
		if (!is_over(now_s, p->thaw_s))
			return FDB_DAMPED;
		thaw(p);
	}
	if (move_flaps(p, now_s)) {
		p->thaw_s = now_s + FDB_FREEZE_S;
		set_value(p, value | VALUE_FROZEN);
		return FDB_FLAP_BEGINS;
	}
	p->n_moves++;
	touch(p, now_s);
	set_value(p, slot);
	return FDB_MOVED;
}

static void remove_at(struct fdb *f, struct place *p)
{
	set_value(p, SLOT_NONE);
	f->count--;
	atomic_store_explicit(&f->refusing, false, memory_order_relaxed);
}

/* Removes the entries of one slot, or of all with SLOT_NONE. */
static uint32_t remove_all(struct fdb *f, uint16_t slot)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i <= f->mask; i++) {
		struct place *p = &f->place[i];

		if (!is_entry(p) || (slot != SLOT_NONE && (uint16_t)value_of(p) != slot))
			continue;
		remove_at(f, p);
		n++;
	}
	return n;
}

uint32_t fdb_forget_slot(struct fdb *f, uint16_t slot)
{
	return slot == SLOT_NONE ? 0 : remove_all(f, slot);
}

uint32_t fdb_flush(struct fdb *f)
{
	return remove_all(f, SLOT_NONE);
}

static bool is_doubtful(const struct place *p, uint32_t now_s)
{
	return (value_of(p) & VALUE_FROZEN) ||
	       (p->window_moves && now_s - p->window_s <= FDB_FLAP_WINDOW_S);
}

uint32_t fdb_forget_moved(struct fdb *f, uint16_t slot, uint32_t now_s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i <= f->mask; i++) {
		struct place *p = &f->place[i];

		if (!is_entry(p) || ((uint16_t)value_of(p) != slot && !is_doubtful(p, now_s)))
			continue;
		remove_at(f, p);
		n++;
	}
	return n;
}

bool fdb_remove(struct fdb *f, uint16_t vlan, struct mac mac)
{
	uint32_t value;
	struct place *p = find_entry(f, key_of(vlan, mac), &value);

	if (!p)
		return false;
	remove_at(f, p);
	return true;
}

uint32_t fdb_age(struct fdb *f, uint32_t now_s, uint32_t aging_s, uint32_t budget)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < budget && i <= f->mask; i++) {
		struct place *p = &f->place[f->age_at];
		uint32_t seen_s = atomic_load_explicit(&p->seen_s, memory_order_relaxed);

		f->age_at = (f->age_at + 1) & f->mask;
		if (!is_entry(p))
			continue;
		/* Signed: a worker's clock may have ticked just before ours. */
		if ((int32_t)(now_s - seen_s) > (int32_t)aging_s) {
			remove_at(f, p);
			n++;
		} else if ((value_of(p) & VALUE_FROZEN) && is_over(now_s, p->thaw_s)) {
			thaw(p);
		}
	}
	return n;
}

uint32_t fdb_count(const struct fdb *f)
{
	return f->count;
}

uint32_t fdb_maximum(const struct fdb *f)
{
	return f->maximum;
}

bool fdb_wants_copy(const struct fdb *f)
{
	/* Entries alone take at most half of the places. */
	return f->n_taken > f->count && f->n_taken > f->mask / 8 * 5;
}

/* What fdb_copy chooses by; a copy of the time, because workers go on touching it. */
struct candidate {
	uint32_t seen_s;
	uint32_t place;
};

static int compare_newest_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return (x->seen_s < y->seen_s) - (x->seen_s > y->seen_s);
}

static void copy_place(struct fdb *to, const struct place *from, uint32_t seen_s)
{
	uint64_t key = atomic_load_explicit(&from->key, memory_order_relaxed), found;
	struct place *p = find_place(to, key, &found);

	p->n_moves = from->n_moves;
	p->window_s = from->window_s;
	p->window_moves = from->window_moves;
	p->thaw_s = from->thaw_s;
	atomic_store_explicit(&p->seen_s, seen_s, memory_order_relaxed);
	set_value(p, value_of(from));
	atomic_store_explicit(&p->key, key, memory_order_release);
	to->count++;
	to->n_taken++;
}

struct fdb *fdb_copy(const struct fdb *f, uint32_t maximum)
{
	struct candidate *c = x_calloc(f->count ? f->count : 1, sizeof(*c));
	struct fdb *copy = fdb_new(maximum);
	uint32_t n = 0;

	for (uint32_t i = 0; i <= f->mask; i++) {
		struct place *p = &f->place[i];

		if (is_entry(p))
			c[n++] = (struct candidate){
				atomic_load_explicit(&p->seen_s, memory_order_relaxed), i
			};
	}
	if (n > maximum)
		qsort(c, n, sizeof(*c), compare_newest_first);
	for (uint32_t i = 0; i < n && i < maximum; i++)
		copy_place(copy, &f->place[c[i].place], c[i].seen_s);
	free(c);
	return copy;
}

bool fdb_next(const struct fdb *f, uint32_t *iter, struct fdb_entry *out)
{
	while (*iter <= f->mask) {
		const struct place *p = &f->place[(*iter)++];
		uint64_t key = atomic_load_explicit(&p->key, memory_order_relaxed);
		uint32_t value = value_of(p);

		if (!is_entry(p))
			continue;
		*out = (struct fdb_entry){
			.vlan = (uint16_t)(key >> 48 & 0xfff),
			.mac = mac_from_u64(key),
			.slot = (uint16_t)value,
			.seen_s = atomic_load_explicit(&p->seen_s, memory_order_relaxed),
			.n_moves = p->n_moves,
			.frozen = value & VALUE_FROZEN,
		};
		return true;
	}
	return false;
}
