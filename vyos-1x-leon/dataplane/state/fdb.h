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
#include "base/vlan_set.h"
#include "state/nodedb.h"

/*
 * A MAC that moves more often than FDB_FLAP_MOVES within FDB_FLAP_WINDOW_S (RFC 7432 section 15.1)
 * is frozen: at its owner, where that is one of the nodes it moves between, or else at none, so
 * that its frames are flooded. The owner is the node that had it without a move for FDB_OWNER_S;
 * another node becomes the owner only by having it for FDB_HEIR_S. A freeze lasts FDB_FREEZE_S,
 * each one soon after another twice as long as that, up to eight times FDB_FREEZE_S; it ends
 * earlier where no frame came from the owner for FDB_FREEZE_S. After it the MAC may move once; the
 * next move freezes it again. (decisions/029)
 */
#define FDB_FLAP_MOVES	  5
#define FDB_FLAP_WINDOW_S 180
#define FDB_FREEZE_S	  30
#define FDB_OWNER_S	  30
#define FDB_HEIR_S	  300

struct fdb;
struct fdb *fdb_new(uint32_t maximum);
void fdb_free(void *f); /* struct fdb *; NULL ok; void * so that rcu_retire can call it */

/* --- any worker --- */
/* Slot of the node behind the MAC, SLOT_NONE where unknown or claimed by several. */
uint16_t fdb_lookup(const struct fdb *f, uint16_t vlan, struct mac mac);
enum fdb_seen {
	FDB_KNOWN,    /* entry agrees; its time was touched */
	FDB_TO_LEARN, /* new, or behind another node: report it to the control thread */
	FDB_QUIET,    /* nothing to report: frozen at no node, or new, but the table is full */
	FDB_FROZEN    /* frozen at another node: drop the frame */
};
/* A frame with this source came from `slot`. now_s: coarse monotonic seconds. */
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
/* The node left, or the LAN behind it changed: forgets what is behind it in these VLANs (NULL:
 * in all), and that it owns anything there. A MAC that moved lately stays, at no
 * node, with its moves and freezes: otherwise a node that takes the MACs of others would start
 * afresh each time. Returns how many entries were behind the node. */
uint32_t fdb_forget_slot(struct fdb *f, uint16_t slot, const struct vlan_set *vlans,
			 uint32_t now_s);
uint32_t fdb_flush(struct fdb *f); /* everything; returns entries removed */
/* Removes entries not seen for aging_s; thaws frozen ones whose time is over. Incremental: looks at
 * up to `budget` table places from where it stopped last. Returns entries removed. */
uint32_t fdb_age(struct fdb *f, uint32_t now_s, uint32_t aging_s, uint32_t budget);
/* Entries that each VLAN may have, 0: any number. Those beyond that there are stay. */
void fdb_set_vlan_maximum(struct fdb *f, uint32_t maximum);
uint32_t fdb_count_in(const struct fdb *f, uint16_t vlan);
uint32_t fdb_count(const struct fdb *f);
uint32_t fdb_maximum(const struct fdb *f);
/* True where removals have left so many holes that lookups suffer: make a copy with fdb_copy,
 * publish it, retire the old one. The same when the maximum is to change. A table that is not
 * replaced ends up refusing new entries. */
bool fdb_wants_copy(const struct fdb *f);
struct fdb *fdb_copy(const struct fdb *f, uint32_t maximum); /* keeps the most recently seen */

struct fdb_entry {
	uint16_t vlan;
	struct mac mac;
	uint16_t slot;	 /* SLOT_NONE: at nobody, its frames go to all */
	uint32_t seen_s; /* coarse monotonic seconds */
	uint32_t n_moves;
	bool frozen;
	uint32_t thaw_s; /* of a frozen one */
};
/* False where there is no entry. */
bool fdb_get(const struct fdb *f, uint16_t vlan, struct mac mac, struct fdb_entry *out);
/* Iterates; *iter starts at 0. */
bool fdb_next(const struct fdb *f, uint32_t *iter, struct fdb_entry *out);
