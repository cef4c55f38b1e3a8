// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The node table: one slot per node, its record (facts of one origin, newest {incarnation,
 * sequence} wins) and what we think of it. Slot 0 is this node. A slot number stays with its node
 * until it is forgotten, so tables indexed by slot need no copying. No I/O, no clock.
 * Control thread. Protocol sections 5.1 to 5.4.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "wire/msg.h"

#define SLOT_SELF 0
#define SLOT_NONE 0xffff

enum node_state {
	NODE_KNOWN,	  /* has a record, never reached yet */
	NODE_REACHABLE,	  /* a path leads to it */
	NODE_UNREACHABLE, /* had a path, has none now */
	NODE_LEFT,	  /* said leave, or was forgotten: a tombstone, not a member */
};
const char *node_state_name(enum node_state s);

struct node {
	uint16_t slot;
	node_id_t id;
	enum node_state state;
	mono_t since;	 /* of the state */
	mono_t heard;	 /* when its last new record or row came */
	bool has_record; /* false: known by id only (a seed that answered, no record yet) */
	struct msg_record rec;
	bool has_key; /* its identity key is known: from its HELLO or its record */
	uint8_t key[MSG_KEY_LEN];
	mono_t pinned; /* when the node-id got its first key; never: this key replaced one whose
			* node was silent, and no session has proved it since */
	bool proven;   /* this node had a session with the holder of the key */
	node_id_t by;  /* not proven: the member from which its record came */
};

struct nodedb;
struct nodedb *nodedb_new(node_id_t self, uint32_t maximum);
void nodedb_free(struct nodedb *db); /* NULL ok */

struct node *nodedb_find(struct nodedb *db,
			 node_id_t id); /* NULL where unknown; tombstones are found */
/* Its slot alone, SLOT_NONE where unknown: for whoever looks up many and needs no more, as a node
 * is more than a kilobyte, and far from its neighbours. */
uint16_t nodedb_slot(const struct nodedb *db, node_id_t id);
struct node *nodedb_at(struct nodedb *db, uint16_t slot); /* NULL where the slot is free */
/* The other members one after the other, by slot: those that have not left. NULL: the first of all,
 * and after the last. */
struct node *nodedb_next(struct nodedb *db, const struct node *n);
struct node *nodedb_add(struct nodedb *db, node_id_t id,
			mono_t now);		  /* finds or makes; NULL where full */
uint16_t nodedb_slots(const struct nodedb *db);	  /* one past the highest slot in use */
uint32_t nodedb_members(const struct nodedb *db); /* all but tombstones, with self */
bool nodedb_has_place(const struct nodedb *db);	  /* for one member more, where there is a slot */
bool nodedb_has_slot(const struct nodedb *db);	  /* for one node more, member or tombstone */
void nodedb_set_maximum(struct nodedb *db, uint32_t maximum); /* of members; drops nobody */

enum record_verdict {
	RECORD_NEW,   /* first record of this node, or a return after leaving */
	RECORD_NEWER, /* replaced an older one */
	RECORD_SAME,
	RECORD_OLDER, /* ours is newer */
	RECORD_FULL,  /* the table is full */
	RECORD_OWN,   /* a version of this node's own record: see nodedb_outbid */
};
/* Is the record newer than what is known of the node? > 0 newer, 0 the same, < 0 older. Versions
 * are compared within one key; a record under another key than the known one always counts as
 * newer, and whether it may replace that one is for the caller to decide. */
int nodedb_compare(const struct node *n, const struct msg_record *r);
/* Stores a record that is newer (nodedb_compare). Never changes this node's own. One with
 * RECORD_LEFT makes the node a tombstone and is never RECORD_NEW. Of a node that is not known
 * the tombstone is stored too, so that an older copy of its record, still on its way, cannot
 * make it a member. */
enum record_verdict nodedb_put(struct nodedb *db, const struct msg_record *r, mono_t now,
			       struct node **out);

/* Sets this node's own record: fills origin, incarnation; raises seq. An incarnation below one that
 * nodedb_outbid has reached is raised to that. */
void nodedb_set_own(struct nodedb *db, const struct msg_record *facts, uint64_t incarnation,
		    mono_t now);
/* Others have our record in the version {incarnation, seq}, from an earlier run: raises ours
 * above it, as OSPF does with self-originated LSAs (RFC 2328 section 13.4), or does nothing
 * where it is above already. Where that takes a higher incarnation, the caller has to use it for
 * its rows too. */
void nodedb_outbid(struct nodedb *db, uint64_t incarnation, uint32_t seq, mono_t now);

void nodedb_set_state(struct nodedb *db, struct node *n, enum node_state s, mono_t now);
/* Turns a silent node into a tombstone that only a newer record revives. */
void nodedb_forget(struct nodedb *db, struct node *n, mono_t now);
/* The node has another key now: forgets the record that was made with the one before. */
void nodedb_drop_record(struct nodedb *db, struct node *n);
/* Frees its slot. Nobody gets the slot for a while, as snapshots that name it are still in use. */
void nodedb_remove(struct nodedb *db, struct node *n, mono_t now);
/* Frees tombstones older than `keep_ms`; calls fn before each slot is freed. */
void nodedb_expire(struct nodedb *db, mono_t now, int64_t keep_ms,
		   void (*fn)(void *arg, uint16_t slot), void *arg);

/* Order-independent digest of {origin, incarnation, seq, key} of all members that have records. */
uint64_t nodedb_digest(const struct nodedb *db);

/* Newer of two versions: > 0 where a is newer, 0 same. */
int version_cmp(uint64_t inc_a, uint32_t seq_a, uint64_t inc_b, uint32_t seq_b);
