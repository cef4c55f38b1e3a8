// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The neighbor cache of neigh.h: buckets with eight slots each. A neighbor is in the bucket of its
 * hash. A full bucket evicts the neighbor with the oldest confirmation. A lost neighbor costs one
 * flooded request, so the table is never full. Only a new maximum needs a copy.
 *
 * A slot is reused for other keys and has a sequence number that is odd during a write. A reader
 * that finds it odd, or changed after reading, treats the neighbor as unknown and does not retry.
 * Data words are stored with release and loaded with acquire, so a reader of a new word also sees
 * the odd sequence before it. The control thread writes. Workers read, and write only `probed_s`
 * and `stale`. If the slot holds another neighbor by then, the next request for it is flooded,
 * which is harmless.
 */
#include "state/tables/neigh.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crypto/aead.h"
#include "state/tables/fdb.h"

#define BUCKET 8

#define META_USED     0x80000000u
#define META_ROLE     29 /* lowest bit of enum neigh_role, which is not part of the key */
#define META_KEY_MASK (~(3u << META_ROLE))

struct neigh_place {
	_Atomic uint32_t seq;
	_Atomic uint32_t meta;	  /* META_*, role, family << 16, VLAN */
	_Atomic uint64_t ip_high; /* first eight bytes of the address */
	_Atomic uint64_t ip_low;  /* last eight bytes of the address */
	_Atomic uint64_t where;	  /* slot << 48 | MAC */
	_Atomic uint32_t confirmed_s;
	_Atomic uint32_t since_s;  /* last change of MAC or location */
	_Atomic uint32_t probed_s; /* time of the last local answer; 0 never */
	/* a unicast request was sent and no frame of the neighbor has arrived since */
	_Atomic uint32_t stale;
};

struct neigh {
	struct neigh_place *place;
	uint32_t bucket_mask;
	uint64_t seed;
	uint32_t maximum;
	uint32_t count;	 /* control thread only */
	uint32_t age_at; /* next index for neigh_age; control thread only */
};

struct key {
	uint32_t meta;
	uint64_t ip_high, ip_low;
};

/* Copy of a slot in a reader. */
struct view {
	uint32_t meta;
	uint64_t where;
	uint32_t confirmed_s;
	uint32_t since_s;
	bool stale;
};

struct neigh *neigh_new(uint32_t maximum)
{
	struct neigh *n = x_new(struct neigh);
	uint64_t buckets = 1;

	/* Twice as many slots as entries, so that few buckets fill before the table does. */
	while (buckets * BUCKET < 2 * (uint64_t)maximum)
		buckets *= 2;
	n->place = x_calloc_aligned(buckets * BUCKET, sizeof(struct neigh_place));
	n->bucket_mask = (uint32_t)(buckets - 1);
	n->seed = random_u64_nonzero();
	n->maximum = maximum;
	return n;
}

void neigh_free(void *p)
{
	struct neigh *n = p;

	if (!n)
		return;
	free(n->place);
	free(n);
}

static struct key key_of(uint16_t vlan, const struct ip_addr *ip)
{
	struct key k = { .meta = META_USED | (uint32_t)ip->family << 16 | (vlan & 0xfff) };

	memcpy(&k.ip_high, ip->b, 8);
	memcpy(&k.ip_low, ip->b + 8, 8);
	return k;
}

static struct neigh_place *bucket_of(const struct neigh *n, const struct key *k)
{
	uint64_t h = hash_mix64(k->ip_high ^ n->seed);

	h = hash_mix64((h + k->ip_low) ^ n->seed);
	h = hash_mix64((h + k->meta) ^ n->seed);
	return &n->place[(h & n->bucket_mask) * BUCKET];
}

static enum neigh_role role_of(uint32_t meta)
{
	return meta >> META_ROLE & 3;
}

static uint64_t where_of(struct mac mac, uint16_t slot)
{
	return (uint64_t)slot << 48 | mac_to_u64(mac);
}

/* --- any worker --- */

/* Returns true if the slot holds the key and did not change during the read. */
static bool read_place(const struct neigh_place *p, const struct key *k, struct view *v)
{
	uint32_t seq = load_acquire(&p->seq);

	v->meta = load_acquire(&p->meta);
	if ((v->meta & META_KEY_MASK) != k->meta || load_acquire(&p->ip_high) != k->ip_high ||
	    load_acquire(&p->ip_low) != k->ip_low)
		return false;
	v->where = load_acquire(&p->where);
	v->confirmed_s = load_acquire(&p->confirmed_s);
	v->since_s = load_acquire(&p->since_s);
	v->stale = load_acquire(&p->stale);
	return !(seq & 1) && load_acquire(&p->seq) == seq;
}

static struct neigh_place *find(const struct neigh *n, const struct key *k, struct view *v)
{
	struct neigh_place *p = bucket_of(n, k);

	for (uint32_t i = 0; i < BUCKET; i++, p++)
		if (read_place(p, k, v))
			return p;
	return NULL;
}

/* Signed, because the writer's clock may be just ahead of the reader's. */
static int32_t age_s(uint32_t now_s, uint32_t then_s)
{
	return (int32_t)(now_s - then_s);
}

bool neigh_answer(struct neigh *n, uint16_t vlan, const struct ip_addr *ip, uint32_t now_s,
		  struct neigh_hit *hit)
{
	struct key k = key_of(vlan, ip);
	struct view v;
	struct neigh_place *p = find(n, &k, &v);
	uint32_t probed_s;

	if (!p || v.stale || age_s(now_s, v.confirmed_s) >= NEIGH_FRESH_S)
		return false;
	hit->mac = mac_from_u64(v.where);
	hit->slot = (uint16_t)(v.where >> 48);
	hit->role = role_of(v.meta);
	if (hit->slot == SLOT_SELF || hit->slot == SLOT_NONE ||
	    (ip->family == 6 && hit->role == NEIGH_ROLE_UNKNOWN))
		return false;
	probed_s = load_relaxed(&p->probed_s);
	if (probed_s && age_s(now_s, probed_s) < NEIGH_PROBE_AGAIN_S)
		return false;
	/* Only one of several workers with the same request answers it. */
	return atomic_compare_exchange_strong_explicit(&p->probed_s, &probed_s, now_s ? now_s : 1,
						       memory_order_relaxed, memory_order_relaxed);
}

bool neigh_is_settled(struct neigh *n, uint16_t vlan, const struct ip_addr *ip, struct mac mac,
		      uint16_t slot, uint32_t now_s)
{
	struct key k = key_of(vlan, ip);
	struct view v;

	return find(n, &k, &v) && v.where == where_of(mac, slot) &&
	       age_s(now_s, v.since_s) >= NEIGH_SETTLE_S;
}

void neigh_mark_stale(struct neigh *n, uint16_t vlan, const struct ip_addr *ip)
{
	struct key k = key_of(vlan, ip);
	struct view v;
	struct neigh_place *p = find(n, &k, &v);

	if (p && !v.stale)
		store_relaxed(&p->stale, 1);
}

bool neigh_differs(struct neigh *n, uint16_t vlan, const struct ip_addr *ip, struct mac mac,
		   uint16_t slot, enum neigh_role role, uint32_t now_s)
{
	struct key k = key_of(vlan, ip);
	struct view v;

	if (!find(n, &k, &v) || v.where != where_of(mac, slot) || v.stale)
		return true;
	if (role != NEIGH_ROLE_UNKNOWN && role != role_of(v.meta))
		return true;
	/* At half the lifetime, so that the entry is confirmed again before its end. */
	return age_s(now_s, v.confirmed_s) >= NEIGH_FRESH_S / 2;
}

/* --- control thread --- */

/* Begins or ends a write. */
static void write_turn(struct neigh_place *p)
{
	store_release(&p->seq, load_relaxed(&p->seq) + 1);
}

static void remove_at(struct neigh *n, struct neigh_place *p)
{
	write_turn(p);
	store_release(&p->meta, 0);
	write_turn(p);
	n->count--;
}

/* Returns an empty slot of the bucket, or the one with the oldest confirmation. */
static struct neigh_place *place_to_use(const struct neigh *n, const struct key *k)
{
	struct neigh_place *p = bucket_of(n, k), *oldest = NULL, *empty = NULL;

	for (uint32_t i = 0; i < BUCKET; i++, p++) {
		if (!(load_acquire(&p->meta) & META_USED))
			empty = p;
		else if (!oldest || age_s(load_acquire(&p->confirmed_s),
					  load_acquire(&oldest->confirmed_s)) < 0)
			oldest = p;
	}
	if (empty && n->count < n->maximum)
		return empty;
	return oldest;
}

void neigh_learn(struct neigh *n, uint16_t vlan, const struct ip_addr *ip, struct mac mac,
		 uint16_t slot, enum neigh_role role, uint32_t now_s)
{
	struct key k = key_of(vlan, ip);
	uint64_t where = where_of(mac, slot);
	struct view v;
	struct neigh_place *p = find(n, &k, &v);
	bool same = p && v.where == where;

	if (same && role == NEIGH_ROLE_UNKNOWN)
		role = role_of(v.meta);
	if (!p)
		p = place_to_use(n, &k);
	/* The table is full and this bucket has nothing to evict. */
	if (!p)
		return;
	if (!(load_acquire(&p->meta) & META_USED))
		n->count++;
	write_turn(p);
	store_release(&p->meta, k.meta | (uint32_t)role << META_ROLE);
	store_release(&p->ip_high, k.ip_high);
	store_release(&p->ip_low, k.ip_low);
	store_release(&p->where, where);
	store_release(&p->confirmed_s, now_s);
	store_release(&p->stale, 0);
	/* No request has been sent to the new location yet. */
	if (!same) {
		store_release(&p->probed_s, 0);
		store_release(&p->since_s, now_s);
	}
	write_turn(p);
}

static uint32_t n_places(const struct neigh *n)
{
	return (n->bucket_mask + 1) * BUCKET;
}

void neigh_forget_slots(struct neigh *n, const struct slot_set *gone, const struct vlan_set *vlans)
{
	for (uint32_t i = 0; i < n_places(n); i++) {
		struct neigh_place *p = &n->place[i];

		if ((load_acquire(&p->meta) & META_USED) &&
		    slot_set_has(gone, (uint16_t)(load_acquire(&p->where) >> 48)) &&
		    (!vlans || vlan_set_has(vlans, load_acquire(&p->meta) % VLAN_IDS)))
			remove_at(n, p);
	}
}

void neigh_forget_slot(struct neigh *n, uint16_t slot, const struct vlan_set *vlans)
{
	struct slot_set gone = { 0 };

	slot_set_add(&gone, slot);
	neigh_forget_slots(n, &gone, vlans);
}

void neigh_forget_moved(struct neigh *n, const struct fdb *fdb, uint64_t moved)
{
	for (uint32_t i = 0; moved && i < n_places(n); i++) {
		struct neigh_place *p = &n->place[i];
		uint64_t where = load_acquire(&p->where);
		struct mac mac = mac_from_u64(where);
		struct fdb_entry e;

		if (!(moved & neigh_moved_bit(where)) || !(load_acquire(&p->meta) & META_USED))
			continue;
		/* The entry of a flapping MAC may have no node. */
		if (!fdb_get(fdb, load_acquire(&p->meta) & 0xfff, mac, &e) || e.slot == where >> 48)
			continue;
		write_turn(p);
		store_release(&p->where, where_of(mac, SLOT_NONE));
		write_turn(p);
	}
}

void neigh_age(struct neigh *n, uint32_t now_s, uint32_t budget)
{
	for (uint32_t i = 0; i < budget && i < n_places(n); i++) {
		struct neigh_place *p = &n->place[n->age_at];

		n->age_at = (n->age_at + 1) & (n_places(n) - 1);
		if ((load_acquire(&p->meta) & META_USED) &&
		    age_s(now_s, load_acquire(&p->confirmed_s)) > 4 * NEIGH_FRESH_S)
			remove_at(n, p);
	}
}

uint32_t neigh_count(const struct neigh *n)
{
	return n->count;
}

static void describe(const struct neigh_place *p, struct neigh_entry *out)
{
	uint32_t meta = load_acquire(&p->meta);
	uint64_t high = load_acquire(&p->ip_high), low = load_acquire(&p->ip_low);

	*out = (struct neigh_entry){
		.vlan = meta & 0xfff,
		.slot = (uint16_t)(load_acquire(&p->where) >> 48),
		.ip.family = meta >> 16 & 0xff,
		.mac = mac_from_u64(load_acquire(&p->where)),
		.role = role_of(meta),
		.confirmed_s = load_acquire(&p->confirmed_s),
		.stale = load_acquire(&p->stale),
	};
	memcpy(out->ip.b, &high, 8);
	memcpy(out->ip.b + 8, &low, 8);
}

bool neigh_next(const struct neigh *n, uint32_t *iter, struct neigh_entry *out)
{
	while (*iter < n_places(n)) {
		const struct neigh_place *p = &n->place[(*iter)++];

		if (!(load_acquire(&p->meta) & META_USED))
			continue;
		describe(p, out);
		return true;
	}
	return false;
}
