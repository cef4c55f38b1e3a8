// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The other nodes with guard frames here, in any VLAN: the numbers of received frames, and the
 * silence of each node. Part of the state machine of the loop guard (loop_guard.h). No I/O, no
 * clock; control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "wire/frame/guard.h"

/* Maximum number of nodes. */
#define GUARD_PEERS 64

/* Number of sequence numbers in the window of a node, below the highest number. The window outlives
 * the silence of the node. The bit of a sequence number is its value modulo the window. */
#define GUARD_WINDOW 1024
/* A number farther above the highest one is far ahead: more than a node with 4094 VLANs sends in
 * GUARD_STALE_INTERVALS intervals. */
#define GUARD_STEP 65536
struct guard_peer {
	node_id_t node;
	uint64_t incarnation, top;
	uint64_t seen[GUARD_WINDOW / 64];
	mono_t at; /* Time of the last frame. */
	/* Time since which no frame shows the node on this LAN. */
	mono_t unconfirmed;
	/* Last time at which a frame was sent in a VLAN that is shared with the node. */
	mono_t notified;
	unsigned n_shared; /* Number of VLANs in which frames of the node are received. */
	/* Number of shared VLANs in which the node also receives the frames of this node. */
	unsigned n_mutual;
	unsigned turn; /* Index in used[] of the VLAN of the last frame for the node. */
	bool silent;   /* Expected frames of the node are missing. */
};

/* Returns the index in peer[]. A full table forgets the node with the longest silence. */
unsigned guard_peer_of(struct guard_peer peer[GUARD_PEERS], node_id_t node);
/* Reports whether any of the nodes is on the LAN of a VLAN. */
bool guard_peer_shares_lan(const struct guard_peer peer[GUARD_PEERS]);
/* Returns false for a repeated frame, for a number below the window, and for a number far ahead of
 * a live window. A window is live for some intervals after a frame of the node. In a session, a
 * number outside the window begins another window. A forged frame can move a window, but not the
 * bounds of the session (state/tables/guard_number.h). */
bool guard_peer_takes(struct guard_peer *p, const struct guard_frame *f, bool in_session,
		      bool is_live);
