// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The state of one overlay, and of each peer in it: what the modules of proto/ keep, put together.
 * Private to this directory; everything runs on the control thread. Which module owns what is said
 * beside it, doc/architecture.md has the floors.
 */
#pragma once

#include "base/siphash.h"
#include "proto/measure/measure_state.h"
#include "proto/overlay.h"
#include "proto/session/session_state.h"
#include "proto/share/share_state.h"
#include "proto/types.h"
#include "state/guard_number.h"

/* What peer.c has the floors above do for it. */
struct hooks {
	void (*peer_begins)(struct overlay *o, struct peer *p);
	void (*peer_tick)(void *arg, mono_t now); /* arg: the peer; something is due */
	void (*peer_ends)(struct peer *p);	  /* frees what they keep of it */
};

/* What the timer of a peer is for; each belongs to one module, and agenda.c to all. */
enum due {
	DUE_HELLO,  /* the next HELLO */
	DUE_SWITCH, /* data is sealed with the new keys */
	DUE_DROP,   /* the keys of before are wiped */
	DUE_ALONG,  /* a PING along the path in use */
	DUE_PROBE,  /* a PING of the direct link */
	DUE_ANSWER, /* the first unanswered one counts as lost */
	DUE_PMTU,   /* the next test of the path MTU */
	DUE_RECORD, /* the own record once more */
	DUE_LAN,    /* a change of the LAN behind it that had to wait */
	DUE_N,
};

/* pairs.c: what people were told of a node's pair last. */
struct pair_told {
	bool once;	    /* that critical frames travel once */
	mono_t at;	    /* never: nothing yet */
	mono_t other_since; /* it is otherwise now; never: it is not */
};

/* lan.c: hosts that are to be learned anew, behind the node itself and behind others on its LAN. */
struct lan_news {
	struct lan_share {
		struct bucket bucket;
		uint64_t waits; /* classes of segments (struct record_lan) not acted on yet */
	} own, others;
	mono_t told; /* people, that it changes all the time */
};

struct peer {
	struct overlay *o;
	node_id_t id;
	uint16_t slot; /* SLOT_NONE: pending */
	mono_t born;
	struct alarm tick;
	mono_t due[DUE_N]; /* never: not due */
	struct peer *next_dropped;

	/* What all may look at. Session (protocol 3.2): in use, and the one before it. */
	struct session *cur, *prev;
	bool cur_heard; /* a message arrived in cur: the peer has it in use too */
	mono_t established;
	uint8_t cur_public[DH_KEY_LEN]; /* that went with our value of cur */
	uint64_t incarnation;		/* of the peer when cur was made */
	uint32_t secret;		/* name of that which its last handshake came under */
	uint32_t secrets[SECRETS_MAX];	/* names of those that it has, its own first */
	mono_t heard;
	bool unheard;		  /* not heard lately: what it said of its links is over */
	struct endpoint ep;	  /* where it has shown to be; family 0 unknown */
	struct endpoint observed; /* where it sees us */
	uint8_t record_tries;	  /* own record is sent again until its digest matches */
	bool purged;		  /* what hung on it was dropped since it became unreachable */
	struct choice choice;	  /* the path in use */
	struct gain gain;	  /* what it was worth so far */
	struct pairing pair;	  /* pairs.c: those of critical frames */

	/* What is one module's. */
	struct pair_told pair_told;
	struct data_keys data;
	struct offer offer;
	struct rekey_state rekey;
	struct greet_state greet;
	struct hello_state hello;
	struct move_state move;
	struct rival_state rival;
	struct lan_news lan;
	struct bucket verify; /* signatures of records that it passes on */
	struct probing probe;
	struct pmtu pmtu;
	struct along along;
	struct loss loss;
	struct inward inward;
	struct guard_statements guard_statements;
	struct sync_peer sync;
	struct rows_peer rows;
	struct bucket fetches;
	mono_t notice_at;     /* no notice to it before */
	mono_t unreadable_at; /* people were told that it sends what cannot be read */
};

struct notice {
	uint16_t from, to; /* link reported broken; to SLOT_NONE: free */
	uint32_t row_seq;  /* of `from` when it was reported */
	mono_t until;
};

/* topology.c: which links relays said are broken, and what a run of the paths is to heed. */
struct topology_state {
	struct notice notice[NOTICES_MAX];
	bool *no_relay, *unheard; /* by slot */
	uint32_t cap;
};

/* paths.c: results of a run, by slot. */
struct paths_state {
	bool *no_relay; /* for one destination */
	struct path *best, *best_apart;
	uint32_t cap;
	struct path *lasting; /* best in the long run, as of lasting_at */
	mono_t lasting_at;
	uint16_t n_lasting;
	mono_t listened; /* last look for who is unheard */
};

/* pairs.c */
struct pairs_state {
	bool *no_copies; /* by slot: who does not relay copies */
	uint32_t cap;
	bool any;      /* there was a policy when it looked last */
	mono_t looked; /* at all nodes */
};

/* agenda.c: when it was done last. */
struct agenda_state {
	mono_t row, paths, snapshot;
};

/* endpoint.c: addresses that only records name, by who named them, host and network. */
#define ASKED_PLACES 1024
struct asked_state {
	struct bucket by[ASKED_PLACES], host[ASKED_PLACES], net[ASKED_PLACES];
};

/* Somebody whose identity is not trusted, who was told of. */
struct refusal {
	node_id_t id; /* NODE_ID_NONE: free */
	uint8_t key[MSG_KEY_LEN];
	mono_t at;
};
#define REFUSALS OVERLAY_REFUSALS

/* trust.c */
struct trust_state {
	struct refusal refusal[REFUSALS];
	struct bucket event;
};

struct overlay {
	struct loop *loop;
	const struct conf *conf;
	struct overlay_ops ops;
	void *arg;
	node_id_t self;
	uint32_t vni;
	uint64_t rng;
	struct hash_key hash_key; /* of all tables that others' input indexes */
	bool started, leaving;
	bool synced; /* one complete summary received: we know who is here */
	struct keyring *keys;
	struct {
		uint8_t secret[DH_KEY_LEN], public[DH_KEY_LEN]; /* Ed25519 */
	} identity;
	uint64_t rekey_after; /* datagrams sealed under one session's keys */
	struct nodedb *nodes;
	struct latdb *lat;
	struct endpoint locator[MSG_LOCATORS_MAX]; /* of this node, as the host knows them */
	unsigned n_locators;

	/* Peers */
	struct peer **by_slot;
	uint32_t cap_slots;
	struct peer *pending[PENDING_MAX];
	unsigned n_pending;
	struct peer *dropped; /* to be freed when the callback is over */
	struct hooks hooks;

	/* What is to be done; overlay.c connects each with who does it. */
	struct alarm upkeep, seeding, answering, announce, pinging;
	struct alarm run;      /* of the paths */
	struct alarm snapshot; /* snapshot_changed is due */
	struct agenda_state done;

	/* What is one module's. */
	struct own_state own;
	struct seeds seeds;
	struct rival_state rival; /* of our own node-id */
	struct limit_state limit;
	struct msg_summary_entry claim; /* of our node-id under another key, as it came last */
	struct sync_state sync;
	struct answers answers;
	struct paths_state paths;
	struct pairs_state pairs;
	struct topology_state topology;
	struct doubts doubt;
	struct ping_job *pings;
	uint64_t guard_number; /* of the latest loop-guard frame, stated in PINGs */
	struct asked_state asked;
	struct trust_state trust;

	/* Limits of events, and what is counted */
	struct bucket secret_event, full_event, duplicate_event, differs_event, unreadable_event;
	struct log_limit log;
	struct overlay_counters count;

	uint8_t buf[DATAGRAM_MAX]; /* of the message that is being sent */
};
