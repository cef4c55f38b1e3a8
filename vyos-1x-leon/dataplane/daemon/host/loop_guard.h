// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The loop guard as a state machine: what hearing a guard frame on the local segment means. A
 * segment may be a trunk, and each VLAN of it has a LAN of its own behind it: everything is decided
 * for each VLAN alone. No I/O, no clock; control thread. Sending, authenticating and reporting are
 * in loop_guard_io.c.
 *
 * Two nodes of one overlay that share a LAN would forward every broadcast in a circle. Two things
 * are done against it, and the first alone ends every circle:
 *   - what comes from the overlay, from a node that is heard on this LAN, is not delivered to it:
 *     it was there already (struct guard_heard);
 *   - only the node with the lowest node-id forwards between TAP and overlay, so that nothing is
 *     carried twice (guard_vlan_state). Who begins listens first; who gives way says so, and the
 *     other begins when it has heard that, so that the two do not overlap.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "base/vlan_set.h"
#include "wire/guard.h"

/* Intervals of silence after which the other node is taken to be gone from the LAN. */
#define GUARD_SILENT_INTERVALS 3
/* Beyond one interval, who begins listens for as long as a question and its answer take. */
#define GUARD_ROUND_TRIP_MS 100
/* Ticks in an interval: guards of many VLANs are spread over it. */
#define GUARD_TICKS 10
/* Nodes whose sequence numbers are remembered. */
#define GUARD_PEERS 64

enum guard_state {
	GUARD_OFF,	 /* switched off in the configuration */
	GUARD_LISTENING, /* not long enough on this LAN to know who else is: nothing is forwarded */
	GUARD_CLEAR,	 /* no other node heard */
	GUARD_SHARED,	 /* another node heard, this one forwards */
	GUARD_BLOCKED,	 /* another node heard, this one does not forward */
};
const char *guard_state_name(enum guard_state s); /* "off", "listening", "clear" ... */

/* What the caller has to report or do after a step. Bits. */
enum guard_outcome {
	GUARD_NOTHING = 0,
	GUARD_CHANGED = 1 << 0,	    /* what the packet path goes by; see guard.changed */
	GUARD_URGENT = 1 << 1,	    /* guard_next_urgent() has frames to send */
	GUARD_LOOP_BEGINS = 1 << 2, /* our own frame came back over the local segment */
	GUARD_LOOP_ENDS = 1 << 3,
	GUARD_REPLAYED = 1 << 4, /* the frame was heard before: refused */
};

/* Another node on the LAN of a VLAN. */
struct guard_heard {
	node_id_t node;
	uint16_t vlan; /* its name for this LAN: where a switch changes tags, not ours */
	uint8_t flags; /* enum guard_flags */
	bool hears_us;
	uint64_t incarnation, sequence;
	mono_t at;
};

struct guard_vlan {
	uint16_t id;
	enum guard_state state;
	mono_t since;	/* of the state */
	mono_t listen;	/* until then */
	mono_t greeted; /* a newcomer */
	bool urgent;
	unsigned n_heard;
	struct guard_heard heard[GUARD_HEARD_MAX]; /* lowest node-ids, in their order */
};

/* What was accepted of a node's frames, for ever: old frames played again are refused when it is
 * long silent, too. The bit of a sequence number is its value modulo the window. */
#define GUARD_WINDOW 1024
struct guard_peer {
	node_id_t node;
	uint64_t incarnation, top;
	uint64_t seen[GUARD_WINDOW / 64];
	mono_t at;
};

struct guard {
	bool enabled;
	bool lan; /* there is one: without, everything passes and nothing is sent */
	uint32_t interval_ms;
	node_id_t self;
	uint64_t sequence;		   /* of the frame sent last */
	struct guard_vlan *vlan[VLAN_IDS]; /* NULL: not in use */
	uint16_t n_used, used[VLAN_IDS];
	bool carries_known; /* which VLANs the LAN carries: no others are looked at */
	struct vlan_set carries;
	uint16_t turn;	    /* index in used[] of what was sent last in its turn */
	uint32_t turn_part; /* GUARD_TICKS: one frame is due */
	mono_t ticked;
	struct guard_peer peer[GUARD_PEERS];
	struct vlan_set changed; /* since the caller cleared it */
	bool moved;		 /* and hosts may be behind another node now */
	mono_t own_heard, since;
	bool local_loop;
	uint64_t n_sent, n_heard, n_blocked, n_not_authentic, n_replayed;
};

void guard_init(struct guard *g, node_id_t self, bool enabled, uint32_t interval_ms, mono_t now);
void guard_free(struct guard *g);
/* All below return enum guard_outcome. */
/* A new configuration; switching off forgets what was heard. */
unsigned guard_configure(struct guard *g, bool enabled, uint32_t interval_ms, mono_t now);
/* The interface was put on a LAN, or on another one; or it is on none. */
unsigned guard_lan(struct guard *g, bool lan, mono_t now);
/* Which VLANs the LAN carries; NULL: nobody can tell, they are found from frames. Those that it
 * does not carry any more are forgotten. */
unsigned guard_carry(struct guard *g, const struct vlan_set *carries, mono_t now);
/* A frame of the VLAN was seen. */
unsigned guard_use(struct guard *g, uint16_t vlan, mono_t now);
/* An authentic guard frame of this overlay (which may be our own) was heard. */
unsigned guard_heard(struct guard *g, const struct guard_frame *f, mono_t now);
/* Time passed: silence ends what was heard. Call GUARD_TICKS times in an interval. */
unsigned guard_tick(struct guard *g, mono_t now);

/* The next VLAN whose frame is due; false: no more. Each is due once an interval, some at once. */
bool guard_next_due(struct guard *g, uint16_t *vlan);
bool guard_next_urgent(struct guard *g, unsigned *i, uint16_t *vlan); /* *i starts at 0 */
/* What the frame of a VLAN says, and with the next sequence number. Not filled: who we are. */
void guard_fill(struct guard *g, uint16_t vlan, struct guard_frame *f);

enum guard_state guard_vlan_state(const struct guard *g, uint16_t vlan);
/* In one word, for all VLANs: the state that asks most for attention. */
enum guard_state guard_state(const struct guard *g);
/* The node that explains the state, NODE_ID_NONE where there is none. */
node_id_t guard_other(const struct guard *g);
/* The node that moves frames of the VLAN between this LAN and the overlay, as far as is heard here;
 * NODE_ID_NONE: nobody does. */
node_id_t guard_forwarder(const struct guard *g, uint16_t vlan);
