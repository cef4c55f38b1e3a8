// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The forwarding database of fdb.h: open addressing with linear probing. One rule makes lock-free
 * readers safe: a slot of the table belongs to one key for the life of the table. A removed entry
 * keeps its key with the value SLOT_NONE, and only the same key may reuse the slot. A reader that
 * finds a value behind a key therefore never sees the value of another key.
 *
 * Removals leave holes. If fdb_wants_copy() returns true, the owner replaces the table by a copy
 * without holes (fdb_copy, base/rcu). The control thread writes; workers read and update times.
 */
#include "state/tables/fdb.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/defs.h"
#include "base/mem.h"
#include "base/vlan_set.h"
#include "crypto/aead.h"
#include "state/tables/mac_damping.h"

#define KEY_USED     (1ULL << 60)	    /* marks a used slot, also for VLAN 0, MAC 0 */
#define VALUE_HOLE   SLOT_NONE		    /* a removed entry */
#define VALUE_FROZEN 0x10000u		    /* above the slot */
#define VALUE_NOBODY (0x20000u | SLOT_NONE) /* an entry without a node */

/* Part of an entry that readers see. */
struct fdb_place {
	_Atomic uint64_t key; /* KEY_USED | vlan << 48 | mac; set once */
	_Atomic uint32_t value;
	_Atomic uint32_t seen_s;
};
static_assert(sizeof(struct fdb_place) == 16, "four places to a cache line");

struct fdb {
	/* Constant after creation. */
	struct fdb_place *place;
	struct mac_damping *damping; /* at the same index; only the writer uses it */
	uint32_t mask;
	uint32_t maximum;
	uint64_t seed; /* random hash seed, so that senders cannot choose colliding MACs */
	/* Written by the control thread only; read by all threads. */
	_Atomic bool refusing;
	_Atomic bool refusing_in[VLAN_IDS]; /* VLANs at vlan_maximum */

	uint32_t count attr_cacheline; /* entries */
	uint32_t n_taken;	       /* entries and holes */
	uint32_t age_at;	       /* next index for fdb_age */
	uint32_t vlan_maximum;	       /* limit of entries per VLAN; 0: none */
	uint32_t in_vlan[VLAN_IDS];
};

struct fdb *fdb_new(uint32_t maximum)
{
	struct fdb *f = x_calloc_aligned(1, sizeof(*f));
	uint64_t size = 16;

	while (size < 2 * (uint64_t)maximum)
		size *= 2;
	f->place = x_calloc_aligned(size, sizeof(struct fdb_place));
	f->damping = x_calloc(size, sizeof(struct mac_damping));
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
	free(f->damping);
	free(f);
}

static uint64_t key_of(uint16_t vlan, struct mac mac)
{
	return KEY_USED | (uint64_t)(vlan & 0xfff) << 48 | mac_to_u64(mac);
}

/* Returns the slot of the key, or the empty slot that ends its search. Terminates because part of
 * the table always stays empty. */
static struct fdb_place *find_place(const struct fdb *f, uint64_t wanted, uint64_t *found)
{
	uint32_t i = (uint32_t)hash_mix64(wanted ^ f->seed) & f->mask;

	for (;;) {
		struct fdb_place *p = &f->place[i];

		/* Acquire: the value was written before the key was. */
		*found = load_acquire(&p->key);
		if (*found == wanted || *found == 0)
			return p;
		i = (i + 1) & f->mask;
	}
}

/* Returns the slot of an entry and its value; NULL if there is none. */
static struct fdb_place *find_entry(const struct fdb *f, uint64_t key, uint32_t *value)
{
	uint64_t found;
	struct fdb_place *p = find_place(f, key, &found);

	if (found != key)
		return NULL;
	*value = load_acquire(&p->value);
	return *value == VALUE_HOLE ? NULL : p;
}

static uint32_t seen_of(const struct fdb_place *p)
{
	return load_relaxed(&p->seen_s);
}

/* Reads before writing: if many workers would write the same second, the read is cheaper than the
 * write. */
static void touch(struct fdb_place *p, uint32_t now_s)
{
	if (seen_of(p) != now_s)
		store_relaxed(&p->seen_s, now_s);
}

/* Seconds since the last frame. Signed, because the clock of the last update may be just ahead of
 * this thread's clock. */
static int32_t silent_s(const struct fdb_place *p, uint32_t now_s)
{
	return (int32_t)(now_s - seen_of(p));
}

/* A freeze at a node ends early with the silence of the node. */
static bool owner_is_silent(const struct fdb_place *p, uint32_t value, uint32_t now_s)
{
	return (uint16_t)value != SLOT_NONE && silent_s(p, now_s) >= MAC_FREEZE_S;
}

uint16_t fdb_lookup(const struct fdb *f, uint16_t vlan, struct mac mac)
{
	uint32_t value;

	return find_entry(f, key_of(vlan, mac), &value) ? (uint16_t)value : SLOT_NONE;
}

enum fdb_seen fdb_seen(struct fdb *f, uint16_t vlan, struct mac mac, uint16_t slot, uint32_t now_s)
{
	uint32_t value;
	struct fdb_place *p = find_entry(f, key_of(vlan, mac), &value);

	if (!p)
		return load_relaxed(&f->refusing) || load_relaxed(&f->refusing_in[vlan % VLAN_IDS])
			       ? FDB_QUIET
			       : FDB_TO_LEARN;
	if ((uint16_t)value == slot) {
		touch(p, now_s);
		return FDB_KNOWN;
	}
	if (!(value & VALUE_FROZEN) || owner_is_silent(p, value, now_s))
		return FDB_TO_LEARN;
	return (uint16_t)value == SLOT_NONE ? FDB_QUIET : FDB_FROZEN;
}

/* --- control thread --- */

static uint32_t value_of(const struct fdb_place *p)
{
	return load_relaxed(&p->value);
}

static struct mac_damping *damping_of(const struct fdb *f, const struct fdb_place *p)
{
	return &f->damping[p - f->place];
}

static uint64_t key_at(const struct fdb_place *p)
{
	return load_relaxed(&p->key);
}

static bool is_entry(const struct fdb_place *p)
{
	return key_at(p) && value_of(p) != VALUE_HOLE;
}

static void set_value(struct fdb_place *p, uint32_t value)
{
	store_release(&p->value, value);
}

/* Above seven eighths the searches grow long and may not terminate. */
static bool has_room(const struct fdb *f, const struct fdb_place *p)
{
	return f->count < f->maximum && (key_at(p) || f->n_taken < f->mask - f->mask / 8);
}

static uint16_t vlan_of(uint64_t key)
{
	return key >> 48 & (VLAN_IDS - 1);
}

static uint32_t *vlan_count(struct fdb *f, uint64_t key)
{
	return &f->in_vlan[vlan_of(key)];
}

/* Makes the place an entry. The key comes last, because readers find the value behind it. */
static void fill(struct fdb *f, struct fdb_place *p, uint64_t key, uint32_t value, uint32_t seen_s)
{
	store_relaxed(&p->seen_s, seen_s);
	set_value(p, value);
	if (!key_at(p)) {
		f->n_taken++;
		store_release(&p->key, key);
	}
	f->count++;
	(*vlan_count(f, key))++;
}

static enum fdb_result add(struct fdb *f, struct fdb_place *p, uint64_t key, uint16_t slot,
			   uint32_t now_s)
{
	if (!has_room(f, p)) {
		store_relaxed(&f->refusing, true);
		return FDB_FULL;
	}
	if (f->vlan_maximum && *vlan_count(f, key) >= f->vlan_maximum) {
		store_relaxed(&f->refusing_in[vlan_of(key)], true);
		return FDB_VLAN_FULL;
	}
	*damping_of(f, p) = (struct mac_damping){ .owner = SLOT_NONE, .since_s = now_s };
	fill(f, p, key, slot, now_s);
	return FDB_ADDED;
}

static void place_at(struct fdb_place *p, uint32_t value, uint32_t now_s)
{
	touch(p, now_s);
	set_value(p, value);
}

static bool thaws(const struct fdb_place *p, const struct mac_damping *d, uint32_t now_s)
{
	return mac_damping_is_over(d, now_s) || owner_is_silent(p, value_of(p), now_s);
}

static void thaw(struct fdb_place *p, struct mac_damping *d, uint32_t now_s)
{
	mac_damping_thaw(d, now_s);
	set_value(p, value_of(p) & ~VALUE_FROZEN);
}

static void freeze(struct fdb_place *p, struct mac_damping *d, uint32_t now_s)
{
	uint16_t slot = mac_damping_freeze(d, now_s);

	place_at(p, VALUE_FROZEN | (slot == SLOT_NONE ? VALUE_NOBODY : slot), now_s);
}

/* The entry belongs to another node or to none. */
static enum fdb_result claim(struct fdb_place *p, struct mac_damping *d, uint16_t slot,
			     uint32_t now_s)
{
	uint16_t had = (uint16_t)value_of(p);

	if (value_of(p) & VALUE_FROZEN) {
		if (!thaws(p, d, now_s))
			return FDB_DAMPED;
		thaw(p, d, now_s);
	}
	if (!mac_damping_move(d, had, slot, now_s)) {
		freeze(p, d, now_s);
		return FDB_FLAP_BEGINS;
	}
	place_at(p, slot, now_s);
	return had == SLOT_NONE ? FDB_ADDED : FDB_MOVED;
}

enum fdb_result fdb_learn(struct fdb *f, uint16_t vlan, struct mac mac, uint16_t slot,
			  uint32_t now_s)
{
	uint64_t key = key_of(vlan, mac), found;
	struct fdb_place *p = find_place(f, key, &found);

	if (found != key || value_of(p) == VALUE_HOLE)
		return add(f, p, key, slot, now_s);
	if ((uint16_t)value_of(p) != slot)
		return claim(p, damping_of(f, p), slot, now_s);
	touch(p, now_s);
	return FDB_SAME;
}

static void remove_at(struct fdb *f, struct fdb_place *p)
{
	uint16_t vlan = vlan_of(key_at(p));

	set_value(p, VALUE_HOLE);
	f->count--;
	f->in_vlan[vlan]--;
	store_relaxed(&f->refusing, false);
	store_relaxed(&f->refusing_in[vlan], false);
}

uint32_t fdb_forget_slots(struct fdb *f, const struct slot_set *gone, const struct vlan_set *vlans,
			  uint32_t now_s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i <= f->mask; i++) {
		struct fdb_place *p = &f->place[i];
		struct mac_damping *d;

		if (!is_entry(p) || (vlans && !vlan_set_has(vlans, vlan_of(key_at(p)))))
			continue;
		d = damping_of(f, p);
		mac_damping_disown(d, gone);
		if (!slot_set_has(gone, (uint16_t)value_of(p)))
			continue;
		if (value_of(p) & VALUE_FROZEN)
			mac_damping_shorten(d, now_s);
		if ((value_of(p) & VALUE_FROZEN) || mac_damping_moved_of_late(d, now_s))
			set_value(p, VALUE_NOBODY | (value_of(p) & VALUE_FROZEN));
		else
			remove_at(f, p);
		n++;
	}
	return n;
}

uint32_t fdb_forget_slot(struct fdb *f, uint16_t slot, const struct vlan_set *vlans, uint32_t now_s)
{
	struct slot_set gone = { 0 };

	if (slot != SLOT_NONE)
		slot_set_add(&gone, slot);
	return fdb_forget_slots(f, &gone, vlans, now_s);
}

uint32_t fdb_flush(struct fdb *f)
{
	uint32_t n = f->count;

	for (uint32_t i = 0; i <= f->mask; i++)
		if (is_entry(&f->place[i]))
			remove_at(f, &f->place[i]);
	return n;
}

uint32_t fdb_age(struct fdb *f, uint32_t now_s, uint32_t aging_s, uint32_t budget)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < budget && i <= f->mask; i++) {
		struct fdb_place *p = &f->place[f->age_at];

		f->age_at = (f->age_at + 1) & f->mask;
		if (!is_entry(p))
			continue;
		if ((value_of(p) & VALUE_FROZEN) && thaws(p, damping_of(f, p), now_s))
			thaw(p, damping_of(f, p), now_s);
		if (!(value_of(p) & VALUE_FROZEN) && silent_s(p, now_s) > (int32_t)aging_s) {
			remove_at(f, p);
			n++;
		}
	}
	return n;
}

void fdb_set_vlan_maximum(struct fdb *f, uint32_t maximum)
{
	f->vlan_maximum = maximum;
	for (unsigned i = 0; i < VLAN_IDS; i++)
		store_relaxed(&f->refusing_in[i], false);
}

uint32_t fdb_count_in(const struct fdb *f, uint16_t vlan)
{
	return f->in_vlan[vlan % VLAN_IDS];
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
	/* Entries alone occupy at most half of the slots. */
	return f->n_taken > f->count && f->n_taken > f->mask / 8 * 5;
}

/* Sort key of fdb_copy; a snapshot of the times, because workers keep updating them. */
struct fdb_age {
	uint32_t seen_s;
	uint32_t place;
};

static int compare_newest_first(const void *a, const void *b)
{
	const struct fdb_age *x = a, *y = b;

	return (x->seen_s < y->seen_s) - (x->seen_s > y->seen_s);
}

static void copy_place(struct fdb *to, const struct fdb *f, const struct fdb_age *a)
{
	const struct fdb_place *from = &f->place[a->place];
	uint64_t key = key_at(from), found;
	struct fdb_place *p = find_place(to, key, &found);

	*damping_of(to, p) = *damping_of(f, from);
	fill(to, p, key, value_of(from), a->seen_s);
}

struct fdb *fdb_copy(const struct fdb *f, uint32_t maximum)
{
	struct fdb_age *c = x_calloc(f->count ? f->count : 1, sizeof(*c));
	struct fdb *copy = fdb_new(maximum);
	uint32_t n = 0;

	copy->vlan_maximum = f->vlan_maximum;
	/* With one seed, the copy is written in sequence. */
	copy->seed = f->seed;
	for (uint32_t i = 0; i <= f->mask; i++)
		if (is_entry(&f->place[i]))
			c[n++] = (struct fdb_age){ seen_of(&f->place[i]), i };
	if (n > maximum)
		qsort(c, n, sizeof(*c), compare_newest_first);
	for (uint32_t i = 0; i < n && i < maximum; i++)
		copy_place(copy, f, &c[i]);
	free(c);
	return copy;
}

static void describe(const struct fdb *f, const struct fdb_place *p, struct fdb_entry *out)
{
	*out = (struct fdb_entry){
		.vlan = vlan_of(key_at(p)),
		.mac = mac_from_u64(key_at(p)),
		.slot = (uint16_t)value_of(p),
		.seen_s = seen_of(p),
		.frozen = value_of(p) & VALUE_FROZEN,
		.n_moves = damping_of(f, p)->n_moves,
		.thaw_s = damping_of(f, p)->thaw_s,
	};
}

bool fdb_get(const struct fdb *f, uint16_t vlan, struct mac mac, struct fdb_entry *out)
{
	uint32_t value;
	const struct fdb_place *p = find_entry(f, key_of(vlan, mac), &value);

	if (p)
		describe(f, p, out);
	return p;
}

bool fdb_next(const struct fdb *f, uint32_t *iter, struct fdb_entry *out)
{
	while (*iter <= f->mask) {
		const struct fdb_place *p = &f->place[(*iter)++];

		if (!is_entry(p))
			continue;
		describe(f, p, out);
		return true;
	}
	return false;
}
