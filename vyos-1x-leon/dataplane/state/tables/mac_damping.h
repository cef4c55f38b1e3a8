// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Damping of flapping MACs (decisions/029): the owner of each MAC of the FDB, its recent moves and
 * its freezes. Owned and called by fdb.c, with one state for each place of the table. fdb.c keeps
 * the node of a MAC and the mark of a frozen entry, because workers read both. Pure; control
 * thread.
 *
 * A MAC that moves more often than MAC_FLAP_MOVES within MAC_FLAP_WINDOW_S (RFC 7432 section 15.1)
 * is frozen. It is frozen at its owner, if the owner is one of the nodes of the moves. Otherwise
 * the MAC is frozen at no node, and its frames are flooded.
 *
 * The owner is the node that had the MAC without a move for MAC_OWNER_S; another node becomes owner
 * by having it for MAC_HEIR_S. A freeze lasts MAC_FREEZE_S; each successive one doubles, up to
 * eight times MAC_FREEZE_S. It ends early if no frame of the owner arrives for MAC_FREEZE_S. After
 * a freeze the MAC may move once; the next move freezes it again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/slot_set.h"

#define MAC_FLAP_MOVES	  5
#define MAC_FLAP_WINDOW_S 180
#define MAC_FREEZE_S	  30
#define MAC_OWNER_S	  30
#define MAC_HEIR_S	  300

/* State of one MAC. All times are coarse monotonic seconds. */
struct mac_damping {
	uint32_t n_moves;  /* all moves */
	uint32_t since_s;  /* last change of the node */
	uint32_t window_s; /* start of the window in which moves are counted */
	uint32_t thaw_s;   /* end of the last freeze; 0: none yet */
	uint16_t owner;	   /* SLOT_NONE: no node had it for long enough */
	uint8_t window_moves;
	uint8_t n_freezes; /* successive freezes */
	bool owner_claims; /* the owner sent a frame in this window */
};

/* The MAC moves from a node, or from none (SLOT_NONE), to another one. Returns false if it flaps;
 * mac_damping_freeze() follows. */
bool mac_damping_move(struct mac_damping *d, uint16_t from, uint16_t to, uint32_t now_s);
/* Starts a freeze. Returns the slot at which the MAC is frozen; SLOT_NONE: at no node. */
uint16_t mac_damping_freeze(struct mac_damping *d, uint32_t now_s);
bool mac_damping_is_over(const struct mac_damping *d, uint32_t now_s);
/* Ends the freeze. Permits one more move, because the host may really have moved. */
void mac_damping_thaw(struct mac_damping *d, uint32_t now_s);
/* The node of the freeze is gone: ends the freeze after MAC_FREEZE_S, as its silence would. */
void mac_damping_shorten(struct mac_damping *d, uint32_t now_s);
/* The owner loses the MAC if it is one of the nodes. */
void mac_damping_disown(struct mac_damping *d, const struct slot_set *gone);

/* Returns true if the MAC moved within MAC_FLAP_WINDOW_S. */
bool mac_damping_moved_of_late(const struct mac_damping *d, uint32_t now_s);
