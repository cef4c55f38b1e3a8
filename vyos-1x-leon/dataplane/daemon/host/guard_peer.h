// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The other nodes whose guard frames were heard, in whatever VLAN: which of their frames were seen
 * before, and whether they have fallen silent. Part of the loop guard's state machine
 * (loop_guard.h). No I/O, no clock; control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "wire/guard.h"

/* Nodes that are remembered. */
#define GUARD_PEERS 64

/* Sequence numbers below the highest one that the window of a node holds. The window outlives the
 * silence of the node. The bit of a sequence number is its value modulo the window. */
#define GUARD_WINDOW 1024
/* A number farther above the highest one is far ahead: more than a node with 4094 VLANs sends in
 * GUARD_STALE_INTERVALS intervals. */
#define GUARD_STEP 65536
struct guard_peer {
	node_id_t node;
	uint64_t incarnation, top;
	uint64_t seen[GUARD_WINDOW / 64];
	mono_t at;	    /* of the last frame */
	mono_t unconfirmed; /* since then no frame showed that it is on this LAN now */
	mono_t told;	    /* a frame went into a VLAN that is shared with it */
	unsigned n_shared;  /* VLANs in which it is heard */
	unsigned n_mutual;  /* and it hears us */
	unsigned turn;	    /* place in used[] of the VLAN in which it was told last */
	bool silent;	    /* it owes us frames */
};

/* Returns the index in peer[]. A full table forgets the node with the longest silence. */
unsigned guard_peer_of(struct guard_peer peer[GUARD_PEERS], node_id_t node);
/* Is any of them on the LAN of a VLAN? */
bool guard_peer_shares_lan(const struct guard_peer peer[GUARD_PEERS]);
/* Returns false for a repeated frame, for a number below the window, and for a number far ahead of
 * a live window. A window is live for some intervals after a frame of the node. In a session, a
 * number outside the window begins another window: a forged frame can move a window, but not the
 * bounds of the session (state/guard_number.h). */
bool guard_peer_takes(struct guard_peer *p, const struct guard_frame *f, bool in_session,
		      bool is_live);
