// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The state of an overlay and of each of its peers: the states of the modules of proto/, combined.
 * Private to this directory; control thread. Comments name the owner of each member;
 * doc/architecture.md has the floors.
 */
#pragma once

#include "base/bucket.h"
#include "base/siphash.h"
#include "proto/measure/measure_state.h"
#include "proto/overlay_ops.h"
#include "proto/session/session_state.h"
#include "proto/share/share_state.h"
#include "proto/types.h"
#include "state/conf/conf.h"
#include "state/latency/choice.h"
#include "state/latency/gain.h"
#include "state/latency/pair.h"
#include "state/tables/guard_number.h"
#include "state/tables/nodedb.h"
#include "wire/message/msg.h"

/* Functions of higher floors that peer.c calls. */
struct hooks {
	void (*peer_begins)(struct overlay *o, struct peer *p);
	void (*peer_tick)(void *arg, mono_t now); /* arg: the peer; some work is due */
	/* frees the peer's state of higher floors */
	void (*peer_ends)(struct peer *p);
};

/* Work items of a peer's timer. An item belongs to one module; schedule.c schedules all items. */
enum due {
	DUE_HELLO,	/* the next HELLO */
	DUE_SWITCH,	/* data changes to the new keys */
	DUE_DROP,	/* the previous keys are wiped */
	DUE_PATH_PROBE, /* PING along the path in use */
	DUE_PROBE,	/* PING of the direct link */
	DUE_ANSWER,	/* timeout of the first unanswered PING */
	DUE_PMTU,	/* next path MTU probe */
	DUE_RECORD,	/* retransmission of the own record */
	DUE_LAN,	/* deferred change of the LAN behind the peer */
	DUE_LINES,	/* PINGs of unused pairs of lines */
	DUE_GROUPS,	/* retransmission of the announced multicast groups */
	DUE_N,
};

/* pairs.c: last reported state of a node's path pair. */
struct pair_notified {
	bool once;	    /* critical frames are not duplicated */
	mono_t at;	    /* time of the report, or never */
	mono_t other_since; /* time since the state differs from the report; never: it does not */
};

/* lan.c: pending relearning of hosts behind the node and behind others on its LAN. */
struct lan_changes {
	struct lan_share {
		struct bucket bucket;
		uint64_t waits; /* pending segment classes (struct record_lan) */
	} own, others;
	mono_t notified; /* last event about frequent changes */
};

struct peer {
	struct overlay *o;
	node_id_t id;
	uint16_t slot; /* SLOT_NONE: pending */
	mono_t born;
	struct alarm tick;
	mono_t due[DUE_N]; /* never: not due */
	struct peer *next_dropped;

	/* Readable by all modules. Current and previous session (protocol 3.2). */
	struct session *cur, *prev;
	bool cur_received; /* a message arrived in cur: the peer uses cur too */
	bool prev_sends;   /* messages go in prev until then, because the peer may lack cur */
	mono_t established;
	uint8_t cur_public[DH_KEY_LEN]; /* public key offered with our value of cur */
	uint64_t incarnation;		/* incarnation of the peer at the start of cur */
	uint32_t secret;		/* name of the secret of the last handshake */
	uint32_t secrets[SECRETS_MAX];	/* names of the peer's secrets, own secret first */
	mono_t received;
	bool unreceived;	  /* no recent message: the rows of the node do not count */
	struct endpoint ep;	  /* verified endpoint; family 0 unknown */
	struct endpoint backup;	  /* verified endpoint of the other transport, or family 0 */
	struct endpoint observed; /* our endpoint as the peer sees it */
	uint8_t record_tries;	  /* retransmissions of the own record until digests match */
	bool purged;		  /* dependent state of the unreachable peer was dropped */
	struct choice choice;	  /* path in use */
	struct gain gain;	  /* gain of the paths so far */
	struct pairing pair;	  /* pairs.c: paths of critical frames */

	/* Private states of single modules. */
	struct pair_notified pair_notified;
	struct data_keys data;
	struct handshake handshake;
	struct rekey_state rekey;
	struct initiator_state initiator;
	struct hello_state hello;
	struct move_state move;
	struct duplicate_state duplicate;
	struct lan_changes lan;
	struct bucket verify; /* limits verification of forwarded records */
	struct probing probe;
	struct peer_lines lines;
	struct pmtu pmtu;
	struct path_probe path_probe;
	struct loss loss;
	struct segmentation segmentation;
	struct ingress ingress;
	struct guard_statements guard_statements;
	struct sync_peer sync;
	struct rows_peer rows;
	struct multicast_peer multicast;
	struct bucket fetches;
	mono_t notice_at;     /* earliest time of the next path error to the peer */
	mono_t unreadable_at; /* last event about unreadable messages */
};

/* Work that a failure causes: its minimum interval grows during a series of failures. */
struct throttle {
	bool requested;
	mono_t at;	/* the last execution after a request */
	int64_t gap_ms; /* minimum interval to the next one */
};

/* schedule.c: time of the last execution. */
struct schedule_state {
	mono_t row, paths, snapshot;
	bool row_soon; /* an announcement after ROW_SOON is scheduled */
	struct throttle failure_row, failure_paths;
};

struct overlay {
	struct loop *loop;
	const struct conf *conf;
	struct overlay_ops ops;
	void *arg;
	node_id_t self;
	uint32_t vni;
	uint64_t rng;
	struct hash_key hash_key; /* hash key of all tables with keys from the network */
	bool started, leaving;
	/* peer_alive_ms() before a reload with a shorter interval, and the end of its validity. */
	int64_t former_alive_ms;
	mono_t former_until;
	bool synced; /* a complete summary was received: the members are known */
	struct keyring *keys;
	struct {
		uint8_t secret[DH_KEY_LEN], public[DH_KEY_LEN]; /* Ed25519 */
	} identity;
	uint64_t rekey_after; /* limit of datagrams sealed under a session's keys */
	struct nodedb *nodes;
	struct latdb *lat;
	/* addresses of this node known to the host, perhaps more than a record contains */
	struct endpoint *locator;
	unsigned n_locators;
	struct endpoint mapped; /* at a NAT gateway, or family 0 */
	uint8_t n_lines;	/* at least 1 */
	uint32_t limit_kbits;	/* of the line in use, see overlay_limit_line() */
	struct overlay_line line[LINES_MAX];

	/* Peers */
	struct peer **by_slot;
	uint32_t cap_slots;
	struct peer *pending[PENDING_MAX];
	unsigned n_pending;
	uint32_t n_missing;   /* peers with unanswered PINGs of the direct link, see link.c */
	struct peer *dropped; /* freed at the end of the callback */
	struct hooks hooks;

	/* Alarms; overlay.c connects an alarm with a module. */
	struct alarm periodic, looking, seeding, answering, announce, pinging;
	struct alarm announcing_groups;
	struct alarm run;      /* path run */
	struct alarm snapshot; /* call of snapshot_changed */
	struct schedule_state done;

	/* Private states of single modules. */
	struct own_state own;
	struct seeds seeds;
	struct duplicate_state duplicate; /* duplicates of our own node-id */
	struct limit_state limit;
	struct msg_summary_entry claim; /* last claim of our node-id under another key */
	struct sync_state sync;
	struct answers answers;
	struct multicast_state multicast;
	struct paths_state *paths;
	struct pairs_state *pairs;
	struct topology_state *topology;
	struct asymmetries *asymmetry;
	struct ping_job *pings;
	uint64_t guard_number; /* of the latest loop-guard frame, stated in PINGs */
	struct query_limit_state *query_limit;
	struct trust_state *trust;
	struct invitations *invitations; /* redeem.c answers; the host issues and stores */

	/* Event limits and counters. */
	struct bucket secret_event, wire_event, curve_event, stranger_event, full_event,
		duplicate_event, differs_event, unreadable_event, invitation_event;
	struct log_limit log;
	struct overlay_counters count;

	uint8_t buf[DATAGRAM_MAX]; /* buffer of the outgoing message */
};

/* Iterates the peers with a slot: NULL starts the iteration; returns NULL behind the last. The loop
 * drops no peer. */
static inline struct peer *peer_next(const struct overlay *o, const struct peer *p)
{
	for (uint32_t i = p ? p->slot + 1u : 0; i < o->cap_slots; i++)
		if (o->by_slot[i])
			return o->by_slot[i];
	return NULL;
}
