// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The node table of nodedb.h: an array of slots that own the nodes, and an index from node-id to
 * slot. Each ping needs the number of members and the digest of their versions, so every change
 * updates both figures. Called by proto/ and daemon/ on the control thread.
 */
#include "state/tables/nodedb.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "wire/datagram/leon.h"

#define REST_MS 10000 /* reuse delay of a slot; snapshots change within a second */

struct node_entry {
	struct node node; /* first member: nodes are returned as pointers to it and cast back */
	bool counted;	  /* included in db->n_members */
	uint64_t digest;  /* contribution to db->digest */
};

/* Index entry. An arriving row names every node, so a lookup must touch little memory: entries of
 * eight bytes, load factor at most one half, linear probing. Members choose their node-ids, but a
 * search never exceeds the table of some kilobytes. */
struct id_place {
	node_id_t id;
	uint16_t slot; /* SLOT_NONE: free */
};
#define PLACES_MIN 32

struct nodedb {
	struct node_entry **slot; /* NULL: free */
	mono_t *rests;		  /* indexed by slot: end of the reuse delay */
	uint32_t n_slots;	  /* one above the highest slot in use */
	uint32_t cap_slots;
	uint32_t n_used; /* including tombstones */
	uint32_t n_members;
	uint32_t maximum; /* limit of members */
	uint64_t digest;
	struct id_place *place;
	uint32_t n_places; /* a power of two */
};

const char *node_state_name(enum node_state s)
{
	static const char *const name[] = { [NODE_KNOWN] = "known",
					    [NODE_REACHABLE] = "reachable",
					    [NODE_UNREACHABLE] = "unreachable",
					    [NODE_LEFT] = "left" };

	return name[s];
}

int version_cmp(uint64_t inc_a, uint32_t seq_a, uint64_t inc_b, uint32_t seq_b)
{
	if (inc_a != inc_b)
		return inc_a > inc_b ? 1 : -1;
	if (seq_a != seq_b)
		return seq_a > seq_b ? 1 : -1;
	return 0;
}

/* --- index from node-id to slot --- */

static uint32_t home_of(const struct nodedb *db, node_id_t id)
{
	return (uint32_t)hash_mix64(id) & (db->n_places - 1);
}

static uint32_t next_place(const struct nodedb *db, uint32_t i)
{
	return (i + 1) & (db->n_places - 1);
}

/* Returns the position of the node-id, or its insertion position. */
static struct id_place *place_of(const struct nodedb *db, node_id_t id)
{
	uint32_t i = home_of(db, id);

	while (db->place[i].slot != SLOT_NONE && db->place[i].id != id)
		i = next_place(db, i);
	return &db->place[i];
}

static void make_places(struct nodedb *db, uint32_t n)
{
	free(db->place);
	db->place = x_calloc(n, sizeof(struct id_place));
	db->n_places = n;
	for (uint32_t i = 0; i < n; i++)
		db->place[i].slot = SLOT_NONE;
	for (uint32_t i = 0; i < db->n_slots; i++)
		if (db->slot[i])
			*place_of(db, db->slot[i]->node.id) =
				(struct id_place){ .id = db->slot[i]->node.id,
						   .slot = (uint16_t)i };
}

/* Inserts a node with its slot set. */
static void index_add(struct nodedb *db, const struct node *n)
{
	if (2 * db->n_used > db->n_places)
		make_places(db, max_of(2 * db->n_places, (uint32_t)PLACES_MIN));
	*place_of(db, n->id) = (struct id_place){ .id = n->id, .slot = n->slot };
}

static void index_remove(struct nodedb *db, node_id_t id)
{
	uint32_t hole = (uint32_t)(place_of(db, id) - db->place), i = hole, last = db->n_places - 1;

	/* Moves displaced entries back into the hole. */
	while (db->place[i = next_place(db, i)].slot != SLOT_NONE) {
		if (((i - home_of(db, db->place[i].id)) & last) < ((i - hole) & last))
			continue;
		db->place[hole] = db->place[i];
		hole = i;
	}
	db->place[hole].slot = SLOT_NONE;
}

static struct node_entry *entry_of(struct node *n)
{
	return container_of(n, struct node_entry, node);
}

/* A sum of well-mixed contributions does not depend on the order in which nodes became known. A
 * change of one node costs one subtraction and one addition. */
static uint64_t share_of(const struct node *n)
{
	uint64_t h, key = 0;

	h = hash_mix64(n->rec.origin);
	h = hash_mix64(h + n->rec.incarnation);
	h = hash_mix64(h + n->rec.seq);
	for (unsigned i = 0; i < sizeof(uint64_t); i++)
		key = key << 8 | n->rec.identity[i];
	return hash_mix64(h + key);
}

/* Called after every change of a node's state or record. */
static void account(struct nodedb *db, struct node_entry *e)
{
	bool counts = e->node.state != NODE_LEFT;
	uint64_t share = counts && e->node.has_record ? share_of(&e->node) : 0;

	db->digest += share - e->digest;
	e->digest = share;
	if (counts && !e->counted)
		db->n_members++;
	if (!counts && e->counted)
		db->n_members--;
	e->counted = counts;
}

/* Tombstones may use as many slots as members, so that leaving nodes cannot block new ones and
 * memory stays bounded. */
bool nodedb_has_slot(const struct nodedb *db)
{
	return db->n_used < min_of(2 * (uint64_t)db->maximum, (uint64_t)SLOT_NONE);
}

bool nodedb_has_place(const struct nodedb *db)
{
	return db->n_members < db->maximum;
}

/* Returns cap_slots if no slot is free. */
static uint32_t free_slot(const struct nodedb *db, mono_t now)
{
	uint32_t i = 0;

	while (i < db->cap_slots && (db->slot[i] || mono_before(now, db->rests[i])))
		i++;
	return i;
}

static uint16_t take_slot(struct nodedb *db, mono_t now)
{
	uint32_t i = free_slot(db, now), cap = db->cap_slots;

	db->rests = x_grow(db->rests, &cap, i + 1, sizeof(mono_t));
	db->slot = x_grow(db->slot, &db->cap_slots, i + 1, sizeof(struct node_entry *));
	return (uint16_t)i;
}

static struct node_entry *entry_new(struct nodedb *db, node_id_t id, mono_t now)
{
	struct node_entry *e = x_new(struct node_entry);

	e->node.slot = take_slot(db, now);
	e->node.id = id;
	e->node.state = NODE_KNOWN;
	e->node.since = now;
	e->node.rec.origin = id;
	db->slot[e->node.slot] = e;
	db->n_slots = max_of(db->n_slots, e->node.slot + 1u);
	db->n_used++;
	index_add(db, &e->node);
	account(db, e);
	return e;
}

static void entry_free(struct nodedb *db, struct node_entry *e)
{
	e->node.state = NODE_LEFT;
	account(db, e);
	index_remove(db, e->node.id);
	db->slot[e->node.slot] = NULL;
	db->n_used--;
	while (db->n_slots && !db->slot[db->n_slots - 1])
		db->n_slots--;
	free(e);
}

struct nodedb *nodedb_new(node_id_t self, uint32_t maximum)
{
	struct nodedb *db = x_new(struct nodedb);

	db->maximum = maximum;
	entry_new(db, self, MONO_NEVER);
	return db;
}

void nodedb_free(struct nodedb *db)
{
	if (!db)
		return;
	while (db->n_slots)
		entry_free(db, db->slot[db->n_slots - 1]);
	free(db->slot);
	free(db->place);
	free(db->rests);
	free(db);
}

uint16_t nodedb_slot(const struct nodedb *db, node_id_t id)
{
	return place_of(db, id)->slot;
}

struct node *nodedb_find(struct nodedb *db, node_id_t id)
{
	uint16_t slot = nodedb_slot(db, id);

	return slot == SLOT_NONE ? NULL : &db->slot[slot]->node;
}

struct node *nodedb_at(struct nodedb *db, uint16_t slot)
{
	if (slot >= db->n_slots || !db->slot[slot])
		return NULL;
	return &db->slot[slot]->node;
}

struct node *nodedb_next(struct nodedb *db, const struct node *n)
{
	uint32_t slot = n ? n->slot : SLOT_SELF;

	while (++slot < db->n_slots) {
		struct node *next = nodedb_at(db, (uint16_t)slot);

		if (next && next->state != NODE_LEFT)
			return next;
	}
	return NULL;
}

struct node *nodedb_add(struct nodedb *db, node_id_t id, mono_t now)
{
	struct node *n = nodedb_find(db, id);

	if (n)
		return n;
	if (id == NODE_ID_NONE || id == NODE_ID_ANY || !nodedb_has_place(db) ||
	    !nodedb_has_slot(db) ||
	    free_slot(db, now) >= min_of(NODEDB_SLOTS((uint64_t)db->maximum), (uint64_t)SLOT_NONE))
		return NULL;
	return &entry_new(db, id, now)->node;
}

uint16_t nodedb_slots(const struct nodedb *db)
{
	return (uint16_t)db->n_slots;
}

uint32_t nodedb_members(const struct nodedb *db)
{
	return db->n_members;
}

void nodedb_set_maximum(struct nodedb *db, uint32_t maximum)
{
	db->maximum = maximum;
}

void nodedb_set_state(struct nodedb *db, struct node *n, enum node_state s, mono_t now)
{
	if (n->state != s) {
		n->state = s;
		n->since = now;
	}
	account(db, entry_of(n));
}

int nodedb_compare(const struct node *n, const struct msg_record *r)
{
	if (!n->has_record || memcmp(n->rec.identity, r->identity, MSG_KEY_LEN) != 0)
		return 1;
	return version_cmp(r->incarnation, r->seq, n->rec.incarnation, n->rec.seq);
}

enum record_verdict nodedb_put(struct nodedb *db, const struct msg_record *r, mono_t now,
			       struct node **out)
{
	struct node *n = nodedb_find(db, r->origin);
	bool leaves = r->flags & RECORD_LEFT;
	bool joins = !leaves && (!n || !n->has_record || n->state == NODE_LEFT);
	int cmp;

	*out = n;
	if (n && n->slot == SLOT_SELF)
		return RECORD_OWN;
	cmp = n ? nodedb_compare(n, r) : 1;
	if (cmp <= 0)
		return cmp ? RECORD_OLDER : RECORD_SAME;
	/* A revived tombstone counts as a member, like a new node. */
	if (n && n->state == NODE_LEFT && joins && !nodedb_has_place(db))
		return RECORD_FULL;
	n = nodedb_add(db, r->origin, now);
	*out = n;
	if (!n)
		return RECORD_FULL;
	n->rec = *r;
	n->has_record = true;
	n->received = now;
	nodedb_set_state(db, n,
			 leaves			 ? NODE_LEFT
			 : n->state == NODE_LEFT ? NODE_KNOWN
						 : n->state,
			 now);
	return joins ? RECORD_NEW : RECORD_NEWER;
}

static void own_changed(struct nodedb *db, struct node *self, mono_t now)
{
	self->has_record = true;
	self->received = now;
	account(db, entry_of(self));
}

void nodedb_set_own(struct nodedb *db, const struct msg_record *facts, uint64_t incarnation,
		    mono_t now)
{
	struct node *self = nodedb_at(db, SLOT_SELF);
	uint64_t old_inc = self->rec.incarnation;
	uint32_t old_seq = self->rec.seq;

	self->rec = *facts;
	self->rec.origin = self->id;
	/* nodedb_supersede() may have raised it above the caller's value; it never decreases. */
	if (incarnation > old_inc) {
		self->rec.incarnation = incarnation;
		self->rec.seq = 1;
	} else {
		self->rec.incarnation = old_inc;
		self->rec.seq = old_seq;
		nodedb_supersede(db, old_inc, old_seq, now);
	}
	if (self->state == NODE_KNOWN)
		nodedb_set_state(db, self, NODE_REACHABLE, now);
	own_changed(db, self, now);
}

void nodedb_supersede(struct nodedb *db, uint64_t incarnation, uint32_t seq, mono_t now)
{
	struct node *self = nodedb_at(db, SLOT_SELF);

	if (version_cmp(self->rec.incarnation, self->rec.seq, incarnation, seq) > 0)
		return;
	/* A higher incarnation belongs to an earlier run of this node with a clock ahead of the
	 * current one. Other nodes store rows of that run with unknown sequences, so only a still
	 * higher incarnation is newer than all of them. */
	if ((incarnation > self->rec.incarnation || seq == UINT32_MAX) &&
	    incarnation < MSG_INCARNATION_MAX) {
		self->rec.incarnation = incarnation + 1;
		self->rec.seq = 1;
	} else {
		self->rec.incarnation = incarnation;
		self->rec.seq = seq < UINT32_MAX ? seq + 1 : seq;
	}
	own_changed(db, self, now);
}

void nodedb_forget(struct nodedb *db, struct node *n, mono_t now)
{
	if (n->slot != SLOT_SELF)
		nodedb_set_state(db, n, NODE_LEFT, now);
}

void nodedb_drop_record(struct nodedb *db, struct node *n)
{
	n->rec = (struct msg_record){ .origin = n->id };
	n->has_record = false;
	account(db, entry_of(n));
}

void nodedb_remove(struct nodedb *db, struct node *n, mono_t now)
{
	if (n->slot == SLOT_SELF)
		return;
	db->rests[n->slot] = mono_add_ms(now, REST_MS);
	entry_free(db, entry_of(n));
}

void nodedb_expire(struct nodedb *db, mono_t now, int64_t keep_ms,
		   void (*fn)(void *arg, uint16_t slot), void *arg)
{
	for (uint32_t i = SLOT_SELF + 1; i < db->n_slots; i++) {
		struct node_entry *e = db->slot[i];

		if (!e || e->node.state != NODE_LEFT || mono_sub_ms(now, e->node.since) <= keep_ms)
			continue;
		if (fn)
			fn(arg, (uint16_t)i);
		entry_free(db, e);
	}
}

uint64_t nodedb_digest(const struct nodedb *db)
{
	return db->digest;
}
