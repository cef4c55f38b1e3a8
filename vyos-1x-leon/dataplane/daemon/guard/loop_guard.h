// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The loop guard as a state machine, driven by guard frames of the local segment. A segment may be
 * a trunk. Each VLAN of a trunk has a separate LAN, so every decision is made for a single VLAN. No
 * I/O, no clock; control thread. loop_guard_io.c sends, authenticates and reports.
 *
 * Two nodes of one overlay that share a LAN would forward every broadcast in a loop. Two measures
 * prevent such loops, and the first one alone ends every loop.
 *   - A frame from the overlay is not delivered to the LAN if its sender is on the same LAN. The
 *     LAN already had the frame (struct guard_neighbor).
 *   - One node forwards between TAP and overlay, so that no frame is sent twice (guard_vlan_state):
 *     the node with the best rank. A new node listens first. A node reports the end of its
 *     forwarding, and the successor starts after that report, so the two do not overlap.
 *
 * A node is gone after a silence of three intervals. Nodes with mutual reception send a guard each
 * 100 ms. A node with three missing guards takes no part in the election. The node stays on the
 * LAN, though, because a stalled machine is still there and still forwards.
 *
 * Time is the running time of the node. A stall counts as a short step, because frames from the
 * time of the stall are still unread. While the workers do not read the LAN, no time passes:
 * missing input is not silence.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "base/vlan_set.h"
#include "state/tables/guard_number.h"
#include "state/tables/segments.h"
#include "wire/frame/guard.h"

/* --- guard_peer.c: the other nodes with guard frames here, in any VLAN --- */
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

/* --- loop_guard.c --- */
/* Intervals of silence after which another node counts as gone from the LAN. */
#define GUARD_SILENT_INTERVALS GUARD_STALE_INTERVALS
/* Interval of guards for a node on this LAN, in one of the shared VLANs, and the tolerated number
 * of missing guards. */
#define GUARD_FAST_MS	  100
#define GUARD_FAST_MISSED 3
/* Listening time of a new node beyond one interval: the duration of a query and the answer. */
#define GUARD_ROUND_TRIP_MS 100
/* Minimum time between two queries of guard_probe(), in one VLAN and in all. */
#define GUARD_PROBE_MS	   20
#define GUARD_ALL_PROBE_MS 1
/* Minimum number of ticks in an interval. The guards of many VLANs are spread over the ticks. */
#define GUARD_TICKS 10
/* Time without a host and another node after which a VLAN is forgotten, if only frames have named
 * the VLAN. */
#define GUARD_UNUSED_MS 3600000
/* The longest step of the running time. */
#define GUARD_STEP_MS 200
/* Duration of a stall after which other nodes may have removed this node, and duration of the query
 * after a stall. */
#define GUARD_STILL_MS	250
#define GUARD_UNSURE_MS 200

enum guard_state {
	GUARD_OFF, /* Disabled in the configuration. */
	/* Not long enough on this LAN to know the other nodes. No frame is forwarded. */
	GUARD_LISTENING,
	GUARD_CLEAR,   /* No other node is on the LAN. */
	GUARD_SHARED,  /* Another node is on the LAN. The local node forwards. */
	GUARD_BLOCKED, /* Another node is on the LAN. The local node does not forward. */
};
const char *guard_state_name(enum guard_state s); /* "off", "listening", "clear" ... */

/* The reason for the state of a VLAN. */
enum guard_reason {
	GUARD_BY_NOTHING,    /* The state needs no reason. */
	GUARD_BY_PREFERENCE, /* The forwarder has the highest preference of the ready nodes. */
	GUARD_BY_RANK,	     /* Equal preference: node-id and VLAN decide. */
	GUARD_BY_HOLDING,    /* The other node would stop, but still forwards. */
	GUARD_BY_NO_PATH,    /* The local node has no path to a node outside the LAN. */
	GUARD_BY_STALL,	     /* The local node was stalled, and queries for another forwarder. */
	GUARD_BY_SILENCE,    /* No other node is ready to forward. */
};
const char *guard_reason_name(enum guard_reason r); /* "preference", "no-path" ...; "" */

/* Results of a step that the caller has to report or act on. Bits. */
enum guard_outcome {
	GUARD_NOTHING = 0,
	GUARD_CHANGED = 1 << 0,	    /* The forwarding state has changed, see guard.changed. */
	GUARD_URGENT = 1 << 1,	    /* guard_next_urgent() has frames to send. */
	GUARD_LOOP_BEGINS = 1 << 2, /* A frame of this node came back over the local segment. */
	GUARD_LOOP_ENDS = 1 << 3,
	GUARD_REPLAYED = 1 << 4, /* The frame was received before, and was refused. */
	/* Nothing proves that the frame is new and from the LAN. */
	GUARD_UNCONFIRMED = 1 << 5,
	/* A forged frame with the node-id of the local node. */
	GUARD_FORGED = 1 << 6,
};

/* A total order of the nodes on the LAN of a VLAN, which selects the forwarder. Each VLAN has
 * another order. */
struct guard_rank {
	uint8_t preference; /* First criterion. */
	/* Second criterion: a hash of the node-id and the node's name of the LAN. */
	uint64_t mix;
	node_id_t node; /* Last criterion: the lower node-id. */
};
struct guard_rank guard_rank_of(uint8_t preference, node_id_t node, uint32_t segment);
bool guard_outranks(const struct guard_rank *a, const struct guard_rank *b);

/* Another node on the LAN of a VLAN. */
struct guard_neighbor {
	node_id_t node;
	/* The other node's name of the LAN. A different name is a mistake, or an effect of changed
	 * tags in a switch. */
	uint32_t segment;
	uint8_t flags; /* enum guard_flags. */
	bool hears_us;
	bool in_session; /* The sequence number of the frame is within the bounds of a session. */
	uint8_t peer;	 /* Index in guard.peer, unless another node has that place now. */
	struct guard_rank rank;
	uint64_t incarnation, sequence;
	/* Time of the last frame, and of the last frame that proved a mutual or new neighbor. */
	mono_t at, confirmed;
};

struct guard_vlan {
	uint16_t id;
	/* Present state, and the state at the last move of hosts. */
	enum guard_state state, settled;
	enum guard_reason reason;
	mono_t since;	   /* Start of the state. */
	mono_t used;	   /* Last time with a reason to keep the VLAN. */
	mono_t listen;	   /* End of listening. */
	mono_t hello_sent; /* Last answer to a new node. */
	mono_t asked;	   /* Last query for new nodes. */
	bool urgent;
	struct guard_rank rank; /* Rank of the local node. */
	unsigned n_received;
	struct guard_neighbor
		received[GUARD_RECEIVED_MAX]; /* The nodes with the best ranks, in order. */
};

struct guard_conf {
	bool enabled;
	uint8_t preference;
	uint32_t interval_ms;
	const struct segments *segments; /* Names of the VLANs. NULL: each has its own. */
};

struct guard {
	struct guard_conf conf;
	bool lan; /* There is a LAN. Without one, all frames pass and no guard is sent. */
	node_id_t self;
	uint64_t incarnation;		   /* Incarnation of the local node, set by the caller. */
	uint64_t sequence;		   /* Sequence number of the last sent frame. */
	struct guard_vlan *vlan[VLAN_IDS]; /* NULL: not in use. */
	uint16_t n_used, used[VLAN_IDS];
	bool carries_known; /* The VLANs of the LAN are known, and other VLANs are ignored. */
	struct vlan_set carries;
	unsigned n_reached; /* Number of reachable nodes. `reached` is ascending. */
	node_id_t *reached;
	uint16_t turn;	  /* Index in used[] of the last regular guard. */
	int64_t due_ns;	  /* Accumulated time. A frame is due for each conf.interval_ms. */
	mono_t now;	  /* Time of the last step. */
	mono_t effective; /* Running time of the local node, see above. */
	mono_t unsure;	  /* Until then another node may have become the forwarder. */
	/* The workers have not read all frames of the LAN. Set before guard_tick(). */
	bool input_stalled;
	struct guard_peer peer[GUARD_PEERS];
	struct vlan_set changed; /* VLANs with a changed state, cleared by the caller. */
	struct vlan_set moved;	 /* VLANs with hosts possibly behind another node now. */
	/* VLANs with a possible change of the forwarder to the local node. */
	struct vlan_set begun;
	mono_t own_received_at, since, asked;
	bool local_loop;
	uint64_t n_sent, n_received, n_blocked, n_not_authentic, n_replayed, n_announced,
		n_requested;
	uint64_t n_silenced, n_stalls, n_unconfirmed, n_forged;
};

void guard_init(struct guard *g, node_id_t self, const struct guard_conf *c, mono_t now);
void guard_free(struct guard *g);
/* The functions below return enum guard_outcome. */
/* Applies a new configuration. Disabling discards the state. */
unsigned guard_configure(struct guard *g, const struct guard_conf *c, mono_t now);
/* The interface has been attached to a LAN, moved to another LAN, or detached. */
unsigned guard_lan(struct guard *g, bool lan, mono_t now);
/* Sets the VLANs of the LAN. NULL: unknown, and derived from frames. Other VLANs are forgotten. */
unsigned guard_carry(struct guard *g, const struct vlan_set *carries, mono_t now);
/* Sets the reachable nodes, in ascending order. A node without a path beyond the LAN leaves the
 * forwarding to other nodes of the LAN. */
unsigned guard_reach(struct guard *g, const node_id_t *node, unsigned n, mono_t now);
/* A frame of the VLAN was received, or the VLAN has hosts. */
unsigned guard_use(struct guard *g, uint16_t vlan, mono_t now);
/* The VLAN has no host. After GUARD_UNUSED_MS without a host and another node, the VLAN ends until
 * its next frame. Otherwise one host could bring all VLANs into use at all sites for ever. */
unsigned guard_disuse(struct guard *g, uint16_t vlan, mono_t now);
/* An authentic guard frame of the overlay was received, with the bounds of the sender. The sender
 * may be the local node in the same incarnation. */
unsigned guard_receive(struct guard *g, const struct guard_frame *f, const struct guard_bounds *b,
		       mono_t now);
/* The node reports through the overlay the departure from every LAN. */
unsigned guard_gone(struct guard *g, node_id_t node, mono_t now);
/* Another link of the LAN came up. A guard is sent at once to the nodes behind it. */
unsigned guard_hello_all(struct guard *g, mono_t now);
/* A host of the VLAN moved between LAN and overlay, or a flooded frame arrived twice. The LAN may
 * have been connected with another one behind a switch, and frames may loop. A guard is sent at
 * once. */
unsigned guard_probe(struct guard *g, uint16_t vlan, mono_t now);
/* Advances the time, and removes silent nodes. Called each guard_tick_ms(). */
unsigned guard_tick(struct guard *g, mono_t now);
uint32_t guard_tick_ms(const struct guard *g);
/* Time until which the state is valid without a further step. never: without limit. */
mono_t guard_valid_until(const struct guard *g);

/* Returns the next VLAN with a due frame, or false. Each VLAN is due once in an interval. Urgent
 * ones are due at once. */
bool guard_next_due(struct guard *g, uint16_t *vlan);
bool guard_next_urgent(struct guard *g, unsigned *i, uint16_t *vlan); /* *i starts at 0 */
/* The frames that are sent to each node on the LAN each 100 ms. */
bool guard_next_fast(struct guard *g, unsigned *i, uint16_t *vlan); /* *i starts at 0 */
/* Fills the guard of a VLAN with the next sequence number, except for the identity of this node. */
void guard_fill(struct guard *g, uint16_t vlan, struct guard_frame *f);

enum guard_state guard_vlan_state(const struct guard *g, uint16_t vlan);
enum guard_reason guard_vlan_reason(const struct guard *g, uint16_t vlan);
/* The most severe state of all VLANs. */
enum guard_state guard_state(const struct guard *g);
/* Number of VLANs in the state. */
unsigned guard_count(const struct guard *g, enum guard_state state);
/* The node that explains the state, or NODE_ID_NONE. */
node_id_t guard_other(const struct guard *g);
/* The forwarder of the VLAN between LAN and overlay, according to the received guards.
 * NODE_ID_NONE: no node. */
node_id_t guard_forwarder(const struct guard *g, uint16_t vlan);
/* Reports whether the node is on this LAN of the VLAN, according to the received guards. */
static inline bool guard_is_on_lan(const struct guard *g, uint16_t vlan, node_id_t node)
{
	const struct guard_vlan *v = g->vlan[vlan % VLAN_IDS];

	for (unsigned i = 0; v && i < v->n_received; i++)
		if (v->received[i].node == node)
			return true;
	return false;
}

/* Reports whether the node has missed guards, and so takes no part in the election. */
bool guard_is_silent(const struct guard *g, const struct guard_neighbor *h);
/* Lists the other nodes on the LAN of any VLAN, unordered. Returns their number, at most max. */
unsigned guard_others(struct guard *g, node_id_t *out, unsigned max);
