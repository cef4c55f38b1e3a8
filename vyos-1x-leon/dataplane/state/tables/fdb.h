// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Forwarding database: (VLAN, MAC) to node slot. Fixed capacity, one writer (control thread),
 * lock-free readers (workers): open addressing over atomic words. Readers touch the time of an
 * entry; everything else is the writer's. Local hosts are entries with SLOT_SELF. MACs that flap
 * are damped (mac_damping.h). Paper section 4.3 (learning, moving), design.md section 4 "Ethernet"
 * (aging, limit, damping).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/slot_set.h"
#include "base/vlan_set.h"
#include "state/tables/nodedb.h"

struct fdb;
struct fdb *fdb_new(uint32_t maximum);
void fdb_free(void *f); /* struct fdb *; NULL ok; void * for rcu_retire */

/* --- any worker --- */
/* Returns the slot of the node behind the MAC; SLOT_NONE: unknown or claimed by several nodes. */
uint16_t fdb_lookup(const struct fdb *f, uint16_t vlan, struct mac mac);
enum fdb_seen {
	FDB_KNOWN,    /* the entry agrees; its time was updated */
	FDB_TO_LEARN, /* new, or behind another node: report to the control thread */
	FDB_QUIET,    /* nothing to report: frozen at no node, or new in a full table or VLAN */
	FDB_FROZEN    /* frozen at another node: drop the frame */
};
/* Enters a frame with this source address from `slot`. now_s: coarse monotonic seconds. */
enum fdb_seen fdb_seen(struct fdb *f, uint16_t vlan, struct mac mac, uint16_t slot, uint32_t now_s);

/* --- control thread --- */
enum fdb_result {
	FDB_ADDED,
	FDB_MOVED,
	FDB_SAME,
	FDB_DAMPED,
	FDB_FLAP_BEGINS,
	FDB_FULL,
	FDB_VLAN_FULL
};
enum fdb_result fdb_learn(struct fdb *f, uint16_t vlan, struct mac mac, uint16_t slot,
			  uint32_t now_s);
/* Forgets the entries behind these nodes, in these VLANs (NULL: all), and their ownerships, because
 * the nodes left or their LANs changed. A MAC that moved recently stays at no node with its move
 * and freeze counts; otherwise a node that hijacks MACs would start afresh. Returns the number of
 * entries that were behind the nodes. Walks the table once. */
uint32_t fdb_forget_slots(struct fdb *f, const struct slot_set *gone, const struct vlan_set *vlans,
			  uint32_t now_s);
/* The same for one node. */
uint32_t fdb_forget_slot(struct fdb *f, uint16_t slot, const struct vlan_set *vlans,
			 uint32_t now_s);
uint32_t fdb_flush(struct fdb *f); /* removes all entries; returns their number */
/* Removes entries not seen for aging_s and thaws expired freezes. Incremental: checks up to
 * `budget` slots from its last position. Returns the number of removed entries. */
uint32_t fdb_age(struct fdb *f, uint32_t now_s, uint32_t aging_s, uint32_t budget);
/* Limit of entries per VLAN; 0: none. Existing entries above the limit stay. */
void fdb_set_vlan_maximum(struct fdb *f, uint32_t maximum);
uint32_t fdb_count_in(const struct fdb *f, uint16_t vlan);
uint32_t fdb_count(const struct fdb *f);
uint32_t fdb_maximum(const struct fdb *f);
/* Returns true if holes of removed entries slow lookups. The owner then publishes a copy by
 * fdb_copy() and retires the old table; likewise for a new maximum. A table that is never replaced
 * finally refuses new entries. */
bool fdb_wants_copy(const struct fdb *f);
/* keeps the most recently seen entries */
struct fdb *fdb_copy(const struct fdb *f, uint32_t maximum);

struct fdb_entry {
	uint16_t vlan;
	struct mac mac;
	uint16_t slot;	 /* SLOT_NONE: at no node, frames are flooded */
	uint32_t seen_s; /* coarse monotonic seconds */
	uint32_t n_moves;
	bool frozen;
	uint32_t thaw_s; /* end of the freeze */
};
/* Returns false if there is no entry. */
bool fdb_get(const struct fdb *f, uint16_t vlan, struct mac mac, struct fdb_entry *out);
/* Iterates; *iter starts at 0. */
bool fdb_next(const struct fdb *f, uint32_t *iter, struct fdb_entry *out);
