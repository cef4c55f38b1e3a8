// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Forwarding database: (VLAN, MAC) to node slot. Fixed capacity, one writer (control thread),
 * lock-free readers (workers): open addressing over atomic words. Readers touch the time of an
 * entry; everything else is the writer's. Local hosts are entries with SLOT_SELF.
 * Paper section 4.3 (learning, moving), design.md section 4 "Ethernet" (aging, limit, damping).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "state/nodedb.h"

/* A MAC that moves more often than FDB_FLAP_MOVES within FDB_FLAP_WINDOW_S is frozen where it is
 * for FDB_FREEZE_S (the EVPN rule of RFC 7432 section 15.1 with a shorter window). */
#define FDB_FLAP_MOVES	  5
#define FDB_FLAP_WINDOW_S 30
#define FDB_FREEZE_S	  30

struct fdb;
struct fdb *fdb_new(uint32_t maximum);
void fdb_free(void *f); /* struct fdb *; NULL ok; void * so that rcu_retire can call it */

/* --- any worker --- */
/* Slot of the node behind the MAC, SLOT_NONE where unknown. */
uint16_t fdb_lookup(const struct fdb *f, uint16_t vlan, struct mac mac);
enum fdb_seen {
	FDB_KNOWN, /* entry agrees; its time was touched */
	FDB_NEWS,  /* new or elsewhere: tell the control thread */
	FDB_FROZEN /* elsewhere, but damped, or new, but the table is full and the control thread
		    * knows (FDB_FULL): say nothing */
};
/* A frame with this source came from `slot`. now_s: coarse monotonic seconds. */
enum fdb_seen fdb_seen(struct fdb *f, uint16_t vlan, struct mac mac, uint16_t slot, uint32_t now_s);

/* --- control thread --- */
enum fdb_result { FDB_ADDED, FDB_MOVED, FDB_SAME, FDB_DAMPED, FDB_FLAP_BEGINS, FDB_FULL };
enum fdb_result fdb_learn(struct fdb *f, uint16_t vlan, struct mac mac, uint16_t slot,
			  uint32_t now_s);
uint32_t fdb_forget_slot(struct fdb *f, uint16_t slot); /* returns entries removed */
uint32_t fdb_flush(struct fdb *f);			/* all */
/* The LAN behind the node changed: removes the node's entries, and those of any node that moved a
 * short while ago or are frozen, because the change may be what moved them. Returns their number. */
uint32_t fdb_forget_moved(struct fdb *f, uint16_t slot, uint32_t now_s);
bool fdb_remove(struct fdb *f, uint16_t vlan, struct mac mac);
/* Removes entries not seen for aging_s; thaws frozen ones whose time is over. Incremental: looks at
 * up to `budget` table places from where it stopped last. Returns entries removed. */
uint32_t fdb_age(struct fdb *f, uint32_t now_s, uint32_t aging_s, uint32_t budget);
uint32_t fdb_count(const struct fdb *f);
uint32_t fdb_maximum(const struct fdb *f);
/* True where removals have left so many holes that lookups suffer: make a copy with fdb_copy, publish
 * it, retire the old one. The same when the maximum is to change. A table that is not replaced ends
 * up refusing new entries. */
bool fdb_wants_copy(const struct fdb *f);
struct fdb *fdb_copy(const struct fdb *f, uint32_t maximum); /* keeps the most recently seen */

struct fdb_entry {
	uint16_t vlan;
	struct mac mac;
	uint16_t slot;
	uint32_t seen_s; /* coarse monotonic seconds */
	uint32_t n_moves;
	bool frozen;
};
/* Iterates; *iter starts at 0. */
bool fdb_next(const struct fdb *f, uint32_t *iter, struct fdb_entry *out);
