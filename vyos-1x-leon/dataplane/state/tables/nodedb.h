// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The node table: a slot per node, with the record (facts of an origin, newest {incarnation,
 * sequence} wins) and local state. Slot 0 is this node. A node keeps its slot until it is
 * forgotten, so tables indexed by slot need no copying. No I/O, no clock. Control thread. Protocol
 * sections 5.1 to 5.4.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "wire/message/msg.h"

#define SLOT_SELF 0
#define SLOT_NONE 0xffff
/* All slots are below: `maximum` members, as many tombstones, and slots that are not reused yet. */
#define NODEDB_SLOTS(maximum) (2 * (maximum) + 2048)

enum node_state {
	NODE_KNOWN,	  /* has a record, never reached yet */
	NODE_REACHABLE,	  /* a path exists */
	NODE_UNREACHABLE, /* had a path, has none now */
	NODE_LEFT,	  /* has left or was forgotten: a tombstone, not a member */
};
const char *node_state_name(enum node_state s);

struct node {
	uint16_t slot;
	node_id_t id;
	enum node_state state;
	mono_t since;	 /* time of the last state change */
	mono_t received; /* arrival of its last new record or row */
	bool has_record; /* false: known by id only (a seed that answered without a record) */
	struct msg_record rec;
	bool has_key; /* identity key known from its HELLO or its record */
	uint8_t key[MSG_KEY_LEN];
	/* Time at which the node-id got its first key. Never: this key replaced the key of an
	 * unresponsive node, and no session has proved it since. */
	mono_t pinned;
	bool verified; /* this node has had a session with the holder of the key */
	node_id_t by;  /* unverified record: member that supplied it */
};

struct nodedb;
struct nodedb *nodedb_new(node_id_t self, uint32_t maximum);
void nodedb_free(struct nodedb *db); /* NULL ok */

struct node *nodedb_find(struct nodedb *db,
			 node_id_t id); /* NULL if unknown; finds tombstones too */
/* Returns the slot of a node-id, or SLOT_NONE. For many lookups: it touches the index only, and a
 * node has more than a kilobyte. */
uint16_t nodedb_slot(const struct nodedb *db, node_id_t id);
struct node *nodedb_at(struct nodedb *db, uint16_t slot); /* NULL if the slot is free */
/* Iterates the other members (not left) by slot. NULL starts the iteration; returns NULL behind the
 * last. */
struct node *nodedb_next(struct nodedb *db, const struct node *n);
struct node *nodedb_add(struct nodedb *db, node_id_t id,
			mono_t now);		  /* finds or creates; NULL if the table is full */
uint16_t nodedb_slots(const struct nodedb *db);	  /* one above the highest slot in use */
uint32_t nodedb_members(const struct nodedb *db); /* all but tombstones, including self */
/* one more member is permitted, if there is a slot */
bool nodedb_has_place(const struct nodedb *db);
/* one more node, member or tombstone, has a slot */
bool nodedb_has_slot(const struct nodedb *db);
void nodedb_set_maximum(struct nodedb *db, uint32_t maximum); /* limit of members; removes none */

enum record_verdict {
	RECORD_NEW,   /* first record of this node, or its return after leaving */
	RECORD_NEWER, /* replaced an older one */
	RECORD_SAME,
	RECORD_OLDER, /* the stored one is newer */
	RECORD_FULL,  /* the table is full */
	RECORD_OWN,   /* a record with this node as origin: see nodedb_supersede */
};
/* Compares a record with the stored one: > 0 newer, 0 equal, < 0 older. Versions are comparable for
 * one key only. A record with another key counts as newer; the caller decides whether it may
 * replace the stored one. */
int nodedb_compare(const struct node *n, const struct msg_record *r);
/* Stores a newer record (nodedb_compare). Never changes the own record. A record with RECORD_LEFT
 * makes the node a tombstone and is never RECORD_NEW. The tombstone of an unknown node is stored
 * too, so that an older record that arrives later cannot make the node a member. */
enum record_verdict nodedb_put(struct nodedb *db, const struct msg_record *r, mono_t now,
			       struct node **out);

/* Sets the own record: fills origin and incarnation; increments seq. An incarnation below the one
 * of nodedb_supersede() is raised. */
void nodedb_set_own(struct nodedb *db, const struct msg_record *facts, uint64_t incarnation,
		    mono_t now);
/* Handles a version {incarnation, seq} of the own record that other nodes hold from an earlier run.
 * Raises the own version above that version, unless it is higher already, like OSPF for
 * self-originated LSAs (RFC 2328 section 13.4). If this requires a higher incarnation, the caller
 * must use it for its rows too. */
void nodedb_supersede(struct nodedb *db, uint64_t incarnation, uint32_t seq, mono_t now);

void nodedb_set_state(struct nodedb *db, struct node *n, enum node_state s, mono_t now);
/* Turns an unresponsive node into a tombstone that only a newer record revives. */
void nodedb_forget(struct nodedb *db, struct node *n, mono_t now);
/* The node has a new key: forgets the record with the previous key. */
void nodedb_drop_record(struct nodedb *db, struct node *n);
/* Frees the slot of a node. The slot is not reused for a while, because snapshots may still refer
 * to it. */
void nodedb_remove(struct nodedb *db, struct node *n, mono_t now);
/* Frees tombstones older than `keep_ms`; calls fn before each slot is freed. */
void nodedb_expire(struct nodedb *db, mono_t now, int64_t keep_ms,
		   void (*fn)(void *arg, uint16_t slot), void *arg);

/* Order-independent digest of {origin, incarnation, seq, key} of all members that have records. */
uint64_t nodedb_digest(const struct nodedb *db);

/* Compares two versions: > 0 if a is newer, 0 if equal. */
int version_cmp(uint64_t inc_a, uint32_t seq_a, uint64_t inc_b, uint32_t seq_b);
