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
 *   - one node forwards between TAP and overlay, so that nothing is carried twice
 *     (guard_vlan_state): the one of the best rank. Who begins listens first; who gives way says
 *     so, and the other begins when it has heard that, so that the two do not overlap.
 *
 * A node that is silent for three intervals is gone. Before that, after three of the guards that
 * nodes who hear each other send each 100 ms, it has no say in who forwards; it stays on the LAN,
 * though, because a machine that stood still a moment is still there, and still forwards.
 *
 * Time is counted as this node lived it: what it slept through counts as one short step, because
 * frames that came meanwhile have not been read yet. While its workers do not read what the LAN
 * sends, no time passes at all: what was not heard is no silence.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "base/vlan_set.h"
#include "daemon/host/guard_peer.h"
#include "state/guard_number.h"
#include "state/segments.h"
#include "wire/guard.h"

/* Intervals of silence after which the other node is taken to be gone from the LAN. */
#define GUARD_SILENT_INTERVALS GUARD_STALE_INTERVALS
/* Between guards for a node that is heard, in one of the VLANs shared with it, and how many of them
 * may be missed. */
#define GUARD_FAST_MS	  100
#define GUARD_FAST_MISSED 3
/* Beyond one interval, who begins listens for as long as a question and its answer take. */
#define GUARD_ROUND_TRIP_MS 100
/* Between two questions of a doubt, in one VLAN and in all; see guard_doubt(). */
#define GUARD_DOUBT_MS	   20
#define GUARD_ALL_DOUBT_MS 1
/* Ticks in an interval, at least: guards of many VLANs are spread over it. */
#define GUARD_TICKS 10
/* The longest step of the time that counts. */
#define GUARD_STEP_MS 200
/* Others may have given up a node that did nothing for so long; and so long it then asks them. */
#define GUARD_STILL_MS	250
#define GUARD_UNSURE_MS 200

enum guard_state {
	GUARD_OFF,	 /* switched off in the configuration */
	GUARD_LISTENING, /* not long enough on this LAN to know who else is: nothing is forwarded */
	GUARD_CLEAR,	 /* no other node heard */
	GUARD_SHARED,	 /* another node heard, this one forwards */
	GUARD_BLOCKED,	 /* another node heard, this one does not forward */
};
const char *guard_state_name(enum guard_state s); /* "off", "listening", "clear" ... */

/* Why a VLAN is in its state. */
enum guard_reason {
	GUARD_BY_NOTHING,    /* the state says it all */
	GUARD_BY_PREFERENCE, /* of those who could, the forwarder has the highest preference */
	GUARD_BY_RANK,	     /* the same preference; node-id and VLAN decide */
	GUARD_BY_HOLDING,    /* the other would give way, but forwards still */
	GUARD_BY_NO_PATH,    /* this node reaches nobody but those on this LAN */
	GUARD_BY_STANDSTILL, /* this node did nothing for a while, and asks who has taken over */
	GUARD_BY_SILENCE,    /* nobody else says that it could */
};
const char *guard_reason_name(enum guard_reason r); /* "preference", "no-path" ...; "" */

/* What the caller has to report or do after a step. Bits. */
enum guard_outcome {
	GUARD_NOTHING = 0,
	GUARD_CHANGED = 1 << 0,	    /* what the packet path goes by; see guard.changed */
	GUARD_URGENT = 1 << 1,	    /* guard_next_urgent() has frames to send */
	GUARD_LOOP_BEGINS = 1 << 2, /* our own frame came back over the local segment */
	GUARD_LOOP_ENDS = 1 << 3,
	GUARD_REPLAYED = 1 << 4,    /* the frame was heard before: refused */
	GUARD_UNCONFIRMED = 1 << 5, /* nothing shows that the frame is of now and of this LAN */
	GUARD_FORGED = 1 << 6,	    /* a frame in our name that we did not send */
};

/* Who forwards a VLAN: a total order of the nodes on its LAN, another one for each VLAN. */
struct guard_rank {
	uint8_t preference; /* first */
	uint64_t mix;	    /* then this, of node-id and the node's name for the LAN */
	node_id_t node;	    /* the lower one, should two ever be alike */
};
struct guard_rank guard_rank_of(uint8_t preference, node_id_t node, uint32_t segment);
bool guard_outranks(const struct guard_rank *a, const struct guard_rank *b);

/* Another node on the LAN of a VLAN. */
struct guard_heard {
	node_id_t node;
	/* Its name for this LAN: another than ours by mistake, or where a switch changes tags. */
	uint32_t segment;
	uint8_t flags; /* enum guard_flags */
	bool hears_us;
	bool in_session; /* the sequence of the frame is within the bounds of a session */
	uint8_t peer;	 /* place in guard.peer, unless that is another node's by now */
	struct guard_rank rank;
	uint64_t incarnation, sequence;
	mono_t at, confirmed; /* it was heard, and it heard us or was new */
};

struct guard_vlan {
	uint16_t id;
	enum guard_state state, settled; /* now, and when hosts moved last */
	enum guard_reason reason;
	mono_t since;	/* of the state */
	mono_t listen;	/* until then */
	mono_t greeted; /* a newcomer */
	mono_t asked;	/* whether somebody new is there */
	bool urgent;
	struct guard_rank rank; /* ours */
	unsigned n_heard;
	struct guard_heard heard[GUARD_HEARD_MAX]; /* those of the best ranks, in their order */
};

struct guard_conf {
	bool enabled;
	uint8_t preference;
	uint32_t interval_ms;
	const struct segments *segments; /* names of VLANs; NULL: all have their own */
};

struct guard {
	struct guard_conf conf;
	bool lan; /* there is one: without, everything passes and nothing is sent */
	node_id_t self;
	uint64_t incarnation;		   /* ours; set by the caller */
	uint64_t sequence;		   /* of the frame sent last */
	struct guard_vlan *vlan[VLAN_IDS]; /* NULL: not in use */
	uint16_t n_used, used[VLAN_IDS];
	bool carries_known; /* which VLANs the LAN carries: no others are looked at */
	struct vlan_set carries;
	unsigned n_reached; /* nodes to which there is a path, ascending */
	node_id_t *reached;
	uint16_t turn;	/* index in used[] of what was sent last in its turn */
	int64_t due_ns; /* conf.interval_ms of it: one frame is due */
	mono_t now;	/* of the last step */
	mono_t lived;	/* as this node counts time, see above */
	mono_t unsure;	/* until then others may have taken over */
	bool deaf;	/* frames of the LAN wait unread */
	struct guard_peer peer[GUARD_PEERS];
	struct vlan_set changed; /* since the caller cleared it */
	struct vlan_set moved;	 /* and hosts may be behind another node now */
	struct vlan_set begun;	 /* and this node forwards where another did, or may have */
	mono_t own_heard, since, asked;
	bool local_loop;
	uint64_t n_sent, n_heard, n_blocked, n_not_authentic, n_replayed, n_announced, n_asked;
	uint64_t n_silenced, n_standstills, n_unconfirmed, n_forged;
};

void guard_init(struct guard *g, node_id_t self, const struct guard_conf *c, mono_t now);
void guard_free(struct guard *g);
/* All below return enum guard_outcome. */
/* A new configuration; switching off forgets what was heard. */
unsigned guard_configure(struct guard *g, const struct guard_conf *c, mono_t now);
/* The interface was put on a LAN, or on another one; or it is on none. */
unsigned guard_lan(struct guard *g, bool lan, mono_t now);
/* Which VLANs the LAN carries; NULL: nobody can tell, they are found from frames. Those that it
 * does not carry any more are forgotten. */
unsigned guard_carry(struct guard *g, const struct vlan_set *carries, mono_t now);
/* The nodes to which there is a path now, ascending. Who reaches nobody beyond its LAN leaves that
 * to others on it. */
unsigned guard_reach(struct guard *g, const node_id_t *node, unsigned n, mono_t now);
/* A frame of the VLAN was seen. */
unsigned guard_use(struct guard *g, uint16_t vlan, mono_t now);
/* An authentic guard frame of this overlay (which may be our own, of this incarnation) was heard;
 * with the bounds of its node. */
unsigned guard_heard(struct guard *g, const struct guard_frame *f, const struct guard_bounds *b,
		     mono_t now);
/* The node itself says, through the overlay, that it is not on any LAN any more. */
unsigned guard_gone(struct guard *g, node_id_t node, mono_t now);
/* Another link of the LAN came up: who is behind it shall hear of us at once. */
unsigned guard_greet_all(struct guard *g, mono_t now);
/* A host of the VLAN moved between LAN and overlay, or a flooded frame came a second time. It may
 * be that the LAN was joined with another one, where no link of ours says so, and frames come
 * round: who is there shall hear of us now. */
unsigned guard_doubt(struct guard *g, uint16_t vlan, mono_t now);
/* Before guard_tick(): whether what the LAN sent has been read. */
static inline void guard_hears(struct guard *g, bool hears)
{
	g->deaf = !hears;
}
/* Time passed: silence ends what was heard. Call each guard_tick_ms(). */
unsigned guard_tick(struct guard *g, mono_t now);
uint32_t guard_tick_ms(const struct guard *g);
/* What was found holds until then, if there is no further step; never: for ever. */
mono_t guard_valid_until(const struct guard *g);

/* The next VLAN whose frame is due; false: no more. Each is due once an interval, some at once. */
bool guard_next_due(struct guard *g, uint16_t *vlan);
bool guard_next_urgent(struct guard *g, unsigned *i, uint16_t *vlan); /* *i starts at 0 */
/* Those that tell each node heard, each 100 ms, that we are there. */
bool guard_next_fast(struct guard *g, unsigned *i, uint16_t *vlan); /* *i starts at 0 */
/* What the frame of a VLAN says, and with the next sequence number. Not filled: who we are. */
void guard_fill(struct guard *g, uint16_t vlan, struct guard_frame *f);

enum guard_state guard_vlan_state(const struct guard *g, uint16_t vlan);
enum guard_reason guard_vlan_reason(const struct guard *g, uint16_t vlan);
/* In one word, for all VLANs: the state that asks most for attention. */
enum guard_state guard_state(const struct guard *g);
/* VLANs in that state. */
unsigned guard_count(const struct guard *g, enum guard_state state);
/* The node that explains the state, NODE_ID_NONE where there is none. */
node_id_t guard_other(const struct guard *g);
/* The node that moves frames of the VLAN between this LAN and the overlay, as far as is heard here;
 * NODE_ID_NONE: nobody does. */
node_id_t guard_forwarder(const struct guard *g, uint16_t vlan);
/* The node is on this LAN of the VLAN, as far as is heard here. */
static inline bool guard_is_here(const struct guard *g, uint16_t vlan, node_id_t node)
{
	const struct guard_vlan *v = g->vlan[vlan % VLAN_IDS];

	for (unsigned i = 0; v && i < v->n_heard; i++)
		if (v->heard[i].node == node)
			return true;
	return false;
}

/* It has missed its turns: it has no say. */
bool guard_is_silent(const struct guard *g, const struct guard_heard *h);
/* Others on the LAN of any VLAN, in no order; returns how many, at most max. */
unsigned guard_others(struct guard *g, node_id_t *out, unsigned max);
