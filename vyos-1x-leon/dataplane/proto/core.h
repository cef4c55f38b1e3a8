// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The state of one overlay, and of each peer in it: what the modules of proto/ keep, put together.
 * Private to this directory; everything runs on the control thread. Which module owns what is said
 * beside it, doc/architecture.md has the floors.
 */
#pragma once

#include "base/defs.h"
#include "base/siphash.h"
#include "proto/overlay.h"
#include "proto/tally.h"
#include "wire/bytes.h"
#include "wire/leon.h"

struct overlay;
struct peer;

#define LOG_TOKEN "overlay"

#define DATAGRAM_MAX	9216
#define PENDING_MAX	64	     /* peers that said HELLO and proved nothing yet */
#define PENDING_MS	10000	     /* and how long they are kept; also of a value on offer */
#define REKEY_AFTER	(1ULL << 32) /* datagrams: AES-GCM is good for 2^32 random nonces, ours count */
#define ALIVE_MS	3000	     /* a session that heard nothing for so long may be lost */
#define BACKOFF_MAX_MS	10000u	     /* retries of what does not answer */
#define PROBES_OUT	32	     /* unanswered probes remembered for each link */
#define MTU_BASE	1200 /* datagram that is assumed to pass anywhere (RFC 8899 BASE_PLPMTU) */
#define MTU_MIN		548  /* what is tried below it: 576-byte IPv4 packets */
#define NOTICES_MAX	64
#define STRETCH_MEMBERS 100 /* above so many members, periodic work is spread over more time */

/* A timer with the time it is armed for. */
struct alarm {
	struct timer *timer;
	mono_t at; /* never: not armed */
};

/* Token bucket in units of time: each pass costs `cost_ns` of what has gone by. */
struct bucket {
	mono_t last;
	int64_t credit_ns;
};

/* What one address may do. Whoever else has the place of an address begins anew: nobody uses up
 * what belongs to another. */
struct source {
	uint64_t name; /* hash of it */
	struct bucket bucket;
};

/* What peer.c has the floors above do for it. */
struct hooks {
	void (*peer_begins)(struct overlay *o, struct peer *p);
	void (*peer_tick)(void *arg, mono_t now); /* arg: the peer; something is due */
	void (*peer_ends)(struct peer *p);	  /* frees what they keep of it */
};

/* How a datagram gets to its destination. */
struct via {
	struct endpoint to; /* of the first hop */
	uint8_t n_hops;
	node_id_t hop[LEON_HOPS_MAX];
};

/* A HELLO that arrived, authentic. */
struct rx_hello {
	const struct msg_hello *m;
	uint32_t secret; /* that it came under */
	node_id_t to;	 /* as it was addressed: ourselves or NODE_ID_ANY */
	const struct endpoint *from;
	const struct endpoint *direct; /* from, where it came straight from the peer; else NULL */
	bool proved;		       /* a message came in the session it stands for */
	bool returned; /* the value was sent to `direct` and nowhere else: the peer receives there */
	struct via back;
};

struct probe {
	uint32_t id;	  /* 0: free */
	uint16_t size;	  /* of an MTU probe; 0: plain */
	uint32_t data_tx; /* what its answer's counter is compared with, loss.c */
	bool missed;	  /* counted as lost already; a late answer still counts as an answer */
	mono_t sent, deadline;
};

struct probing {
	struct probe out[PROBES_OUT];
	uint32_t next_out;
	mono_t used_until;    /* data flows: probe fast */
	mono_t sent_at;	      /* last plain probe */
	mono_t missing;	      /* when the first of those now missed in a row was sent */
	mono_t answered_sent; /* when the latest probe that was answered was sent */
	int64_t late_us;      /* > 0: answers are missing, and what the round trip counts as */
	bool silent;	      /* and that is unusual for the link */
	uint32_t misses;      /* in a row */
	uint32_t loss_before; /* smoothed loss before the first of them, 1/1000 */
	uint32_t answers;     /* in a row, while the link is down */
	mono_t held_since; /* it says of all its answers since then that they were held for long */
	uint32_t burst;	   /* fast probes left that settle the filter of a fresh link */
	uint32_t wait_ms;  /* while down */
	bool up, was_up;
	mono_t up_since;
	uint64_t tx, lost, silences;
	struct link_filter filter;
};

struct pmtu {
	uint16_t mtu;	  /* confirmed, or MTU_BASE assumed */
	uint16_t fails;	  /* smallest size that did not pass; 0 none known */
	uint16_t size;	  /* under test; 0 none */
	uint8_t tries;	  /* of `size` that got no answer */
	bool keepalive;	  /* the test is of `mtu` itself: black-hole detection */
	mono_t search_at; /* search upward again */
};

/*
 * A value on offer, with the key that belongs to it, and the HELLO of the peer that it answers.
 * Both go into a session once the peer has shown the value.
 */
struct offer {
	uint64_t value; /* 0: nothing is on offer */
	struct ephemeral key;
	mono_t at;
	struct endpoint sent_to; /* family 0: nowhere yet */
	bool sent_elsewhere;	 /* too, or along relays: whoever shows the value may be anywhere */
	struct msg_hello answers; /* session_mine 0: none */
	uint32_t secret;	  /* that it came under */
	node_id_t to;		  /* and how it was addressed */
	struct session *session;  /* made of the two when a datagram first named the value */
};

/* PINGs along the path in use, where that has relays. */
#define ALONG_OUT 16
struct along {
	struct along_ping {
		uint32_t id; /* 0: free */
		uint32_t data_tx;
		mono_t sent;
	} out[ALONG_OUT];
	uint32_t next_out;
	struct path path; /* that they are about */
	bool start;	  /* it is new: the first one is due whatever flows */
	uint32_t seen_tx; /* data sent to the node until the last look */
	unsigned n_unanswered;
	mono_t unanswered_since;
};

/* Data that is lost, loss.c. */
#define LOSS_RELAYS_MAX 8
struct loss {
	uint32_t epoch; /* names the run of our counters of the peer */
	struct tally link, path;
	uint16_t link_pm;  /* of the direct link while it counts for paths; 0: it does not */
	mono_t link_asked; /* when the PING was sent of which the answer was looked at last */
	struct tally_hold link_hold, path_hold;
	/* Relays that are not taken on the way to the peer while path_hold lasts. */
	uint16_t distrusted[LOSS_RELAYS_MAX];
	unsigned n_distrusted;
};

/* Keys of data to and from a peer, data.c. All NULL in the clear mode. */
struct data_keys {
	struct seal *tx, *rx, *rx_before; /* references */
	bool heard;			  /* a message arrived in the session of rx */
};

/* An address that the peer has yet to show to be at, endpoint.c. */
struct moving {
	struct endpoint to;
	uint32_t id; /* of the PING that was sent there only; 0: none */
	mono_t since, asked;
};

/* Somebody who uses a node-id that is taken. */
struct rival {
	mono_t at; /* last sign of it; never: there is none */
	struct endpoint ep;
	bool same_identity;
	node_id_t by; /* who says so; NODE_ID_NONE: we have seen it ourselves */
};

/* Counts what happened since the first time, for a minute. */
struct minute_count {
	mono_t since;
	uint32_t n;
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

struct peer {
	struct overlay *o;
	node_id_t id;
	uint16_t slot; /* SLOT_NONE: pending */
	mono_t born;
	struct alarm tick;
	mono_t due[DUE_N]; /* never: not due */
	struct peer *next_dropped;

	/* Session (protocol 3.2): in use, the one before it, and the value on offer. */
	struct session *cur, *prev;
	bool cur_heard; /* a message arrived in cur: the peer has it in use too */
	struct data_keys data;
	struct offer offer;
	uint8_t cur_public[DH_KEY_LEN]; /* that went with our value of cur */
	uint32_t secret;		/* name of that which its last handshake came under */
	uint32_t secrets[SECRETS_MAX];	/* names of those that it has, its own first */
	bool estranged;			/* none of them is one of ours: the session will end */
	mono_t ends;			/* and when; never where that is not known */
	mono_t secrets_at;		/* it was told so last */
	struct rival rival;		/* another node that uses its node-id */
	mono_t rival_told;
	uint64_t rival_value; /* that the other one is to echo; 0 none */
	mono_t rival_value_at;
	mono_t prev_until; /* prev receives until then */
	mono_t prev_heard; /* the peer was last heard in prev */
	mono_t rekey_at;   /* new keys are asked for */
	mono_t expires;	   /* cur is not used any longer */
	uint32_t rekey_tries;
	uint64_t incarnation; /* of the peer when cur was made */
	mono_t established, heard, heard_direct;
	bool unheard;		      /* not heard lately: what it said of its links is over */
	struct minute_count restarts; /* another run of it took the session over */
	struct minute_count knocks;   /* another run of it asked while this one was in session */
	mono_t hello_sent;
	uint32_t hello_wait_ms;
	mono_t told_at; /* last HELLO that only says where we see the peer */

	struct endpoint ep;	  /* where it has shown to be; family 0 unknown */
	struct moving moving;	  /* where it says to be now */
	struct bucket moves;	  /* of PINGs to such addresses */
	struct bucket observing;  /* of signatures verified for `observed` */
	uint64_t ep_counter;	  /* counter of the message that ep is taken from */
	struct endpoint observed; /* where it sees us */

	/* Synchronisation */
	uint8_t record_tries;  /* own record is sent again until its digest matches */
	mono_t mismatch_since; /* its digest differs from ours */
	uint64_t digest;       /* as it said last */
	bool summary_news;     /* there was something to fetch in the summary asked for last */
	/* Two digests that differ, and the summary between them brought nothing: until then one of
	 * them changes, or that time has come, there is no need to ask again. */
	uint64_t settled_own, settled_its;
	mono_t settled_until;
	mono_t ask_at;	       /* no summary is asked for before */
	uint64_t summary_mask; /* parts received of the one asked for last */
	mono_t answer_at;      /* no summary is sent before */
	mono_t fetch_at;       /* no fetch of this origin before */
	bool row_due;	       /* our whole row goes to it with the next announcement */
	uint32_t behind_seq;   /* row sequence it told us that we do not have; 0 none */
	mono_t behind_since;
	mono_t notice_at;  /* no notice to it before */
	struct bucket lan; /* changes of the LAN behind it */
	struct bucket fetches;
	struct bucket verify; /* signatures of records that it passes on */

	bool purged; /* what hung on it was dropped since it became unreachable */
	struct probing probe;
	struct pmtu pmtu;
	struct along along;
	struct loss loss;
	struct choice choice;
};

/* Of one address of a configured peer. */
struct finding {
	enum seed_finding what;
	int error; /* errno, with some */
	mono_t at;
	uint64_t asked;
	mono_t asked_at;
};

struct seed {
	struct endpoint ep[SEED_ENDPOINTS];
	struct finding found[SEED_ENDPOINTS];
	uint64_t value[SEED_ENDPOINTS]; /* on offer to whoever answers there; 0 none */
	struct ephemeral key;		/* offered with all of them */
	mono_t value_at;
	unsigned n;
	node_id_t reached; /* node that answered last */
	bool alive;	   /* it is in session now */
	mono_t next_at;
	uint32_t wait_ms;
};

struct notice {
	uint16_t from, to; /* link reported broken; to SLOT_NONE: free */
	uint32_t row_seq;  /* of `from` when it was reported */
	mono_t until;
};

struct answer {
	node_id_t to, origin;
};
#define ANSWERS_MAX 8192 /* queue of origins to be sent, a power of two */

struct fetch_mark {
	node_id_t origin;
	mono_t at;
};
#define FETCH_MARKS 1024

/* Somebody whose identity is not trusted, who was told of. */
struct refusal {
	node_id_t id; /* NODE_ID_NONE: free */
	uint8_t key[MSG_KEY_LEN];
	mono_t at;
};
#define REFUSALS OVERLAY_REFUSALS

/* A link about which its two ends disagree. */
struct doubt {
	uint16_t a, b; /* slots, a > b */
	bool told;
	mono_t since; /* never: unused */
};
#define DOUBTS_MAX 64

#define ASKED_PLACES 1024 /* endpoint.c */

struct ping_job; /* ping.c */

struct overlay {
	struct loop *loop;
	const struct conf *conf;
	struct overlay_ops ops;
	void *arg;
	node_id_t self;
	uint32_t vni;
	uint64_t rng;
	struct hash_key hash_key; /* of all tables below that others' input indexes */
	bool started, leaving;
	struct keyring *keys;
	struct {
		uint8_t secret[DH_KEY_LEN], public[DH_KEY_LEN]; /* Ed25519 */
	} identity;
	uint64_t rekey_after; /* datagrams sealed under one session's keys */
	struct nodedb *nodes;
	struct latdb *lat;

	struct peer **by_slot;
	uint32_t cap_slots;
	struct peer *pending[PENDING_MAX];
	unsigned n_pending;
	struct peer *dropped; /* to be freed when the callback is over */
	struct hooks hooks;

	/* member */
	struct endpoint locator[MSG_LOCATORS_MAX];
	unsigned n_locators;
	bool prefixes_are_given; /* false: those of the configuration are announced */
	uint8_t n_prefixes;
	struct prefix prefix[MSG_PREFIXES_MAX];
	uint16_t lan_flags; /* of the own record, from the loop guard */
	mono_t refresh_at;  /* own record is announced anew */
	uint32_t n_outbids;
	mono_t outbid_since, outbid_at;
	struct alarm upkeep;
	struct msg_summary_entry claim; /* of our node-id under another key, as it came last */
	mono_t claim_at;		/* next look at such a claim */

	/* seeds */
	struct seed *seed;
	unsigned n_seeds;
	struct alarm seeding;

	/* sync */
	bool synced; /* one complete summary received: we know who is here */
	mono_t ask_at;
	mono_t random_ask_at;
	struct answer *answer; /* ring of ANSWERS_MAX */
	uint32_t answer_in, answer_out;
	struct alarm answering;
	struct bucket summary_bucket;
	struct fetch_mark mark[FETCH_MARKS];

	/* share */
	struct alarm announce;
	mono_t announced;

	/* route */
	struct alarm routing;
	mono_t routed;
	mono_t listened; /* last look for who is unheard */
	struct notice notice[NOTICES_MAX];
	bool *no_relay, *unheard; /* by slot, topology.c */
	uint32_t cap_relays;
	bool *distrusted;
	struct path *best, *best_apart; /* results of a run, by slot */
	struct path *lasting;		/* best in the long run, as of lasting_at */
	mono_t lasting_at;
	uint16_t n_lasting;
	uint32_t cap_best;
	struct alarm changed; /* routes_changed is due */
	mono_t told;	      /* last call of it */

	/* doubt */
	struct doubt doubt[DOUBTS_MAX];
	struct bucket doubt_event;
	mono_t doubt_at; /* next look */

	/* ping */
	struct ping_job *pings;
	struct alarm pinging;

	/* rival */
	struct rival rival;   /* uses our own node-id */
	uint64_t rival_value; /* that it is to echo */
	mono_t rival_value_at;
	struct bucket rival_event;

	/* limits */
	struct bucket hello_open, hello_open_known, hello_answer;
	struct bucket asked_by[ASKED_PLACES], asked_host[ASKED_PLACES], asked_net[ASKED_PLACES];
	struct source hello_from[256], hello_open_from[256];
	struct bucket secret_event, full_event, duplicate_event, trust_event, differs_event;
	struct refusal refusal[REFUSALS];
	struct log_limit log;

	struct overlay_counters count;
	uint8_t buf[DATAGRAM_MAX];
};
