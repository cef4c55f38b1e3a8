// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the files of proto/ share: the overlay, its peers, and the functions by which the modules
 * call each other. Private to this directory; everything runs on the control thread.
 *
 *   overlay.c  life cycle, input, configuration, what the daemon looks at
 *   service.c  time, chance, events, token buckets, alarms
 *   peer.c     table of peers, ways to send, what arrives in a session, the timer of each peer
 *   along.c    PINGs along paths through relays
 *   claim.c    who may have a node-id
 *   data.c     keys of data while sessions change
 *   hello.c    handshake, endpoints, clear-mode admission
 *   endpoint.c where peers are, and what addresses are asked that only records name
 *   doubt.c    latencies about which both ends of a link disagree
 *   identity.c signatures, and the key that a node-id is pinned to
 *   trust.c    identities that the configuration lists, and nobody else
 *   rekey.c    new keys for sessions in use, by age and volume, and the end of old ones
 *   rival.c    who else uses a node-id, and telling all that it concerns
 *   room.c     who gets a place in the node table when it is full
 *   seed.c     configured peers, retried for ever
 *   finding.c  why one of them is not reached, as far as that can be known
 *   member.c   own record, leave, forgetting, duplicates, node states that records cause
 *   sync.c     anti-entropy: summaries, fetches and their paced answers
 *   probe.c    probe schedule, matching, loss, link up and down
 *   pmtu.c     path MTU of each link
 *   tally.c    datagrams sent and received, compared
 *   loss.c     links and paths that lose data although PINGs are answered
 *   rtt.c      round-trip times from PINGs that a liar may have answered
 *   share.c    rows: own announcements, those of others
 *   route.c    paths, notices, reachability
 *   ping.c     pings for people
 *
 * A peer belongs to a node of nodedb by its slot. Peers that said HELLO but proved nothing yet
 * are pending: few, short-lived, and without a slot. A peer that is dropped stays allocated until
 * the callback that caused it is over (the graveyard), so no caller holds a dangling pointer.
 */
#pragma once

#include "base/defs.h"
#include "base/siphash.h"
#include "proto/overlay.h"
#include "proto/tally.h"
#include "wire/bytes.h"
#include "wire/leon.h"

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

/* How a datagram gets to its destination. */
struct via {
	struct endpoint to; /* of the first hop */
	uint8_t n_hops;
	node_id_t hop[LEON_HOPS_MAX];
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
	mono_t next_at;	      /* next plain probe */
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
	mono_t next_at;	  /* next test */
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
	mono_t next_at;
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
	mono_t switch_at;		  /* tx becomes rx */
	mono_t drop_at;			  /* rx_before is over */
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

struct peer {
	struct overlay *o;
	node_id_t id;
	uint16_t slot; /* SLOT_NONE: pending */
	mono_t born;
	struct alarm tick;
	struct peer *next_dead;

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
	mono_t hello_at;	      /* never: none due */
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
	uint8_t record_tries; /* own record is sent again until its digest matches */
	mono_t record_at;
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
	mono_t lan_at;	   /* a change that waits for its turn; never: none */
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
	struct peer *dead; /* graveyard */

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
	bool *no_relay, *unheard, *distrusted;
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

/* --- service.c --- */
mono_t overlay_now(const struct overlay *o);
/* The time at this very instant where the host offers it, else that of the loop's iteration. */
mono_t overlay_clock(const struct overlay *o);
uint64_t overlay_random(struct overlay *o);
/* now + lo .. hi ms, uniformly */
mono_t overlay_in(struct overlay *o, int64_t lo_ms, int64_t hi_ms);
/* Periodic work slows down in proportion where there are many members. */
int64_t overlay_stretch(const struct overlay *o, int64_t ms);
void overlay_emit(struct overlay *o, enum overlay_event_kind kind, node_id_t node, node_id_t other,
		  uint64_t value, const char *detail);
bool bucket_pass(struct bucket *b, mono_t now, int64_t cost_ns, int64_t burst_ns);
mono_t earlier(mono_t a, mono_t b); /* never is later than anything */
void alarm_init(struct overlay *o, struct alarm *a, timer_fn fn, void *arg);
void alarm_set(struct alarm *a, mono_t at); /* never: stops */
void alarm_sooner(struct alarm *a, mono_t at);
void alarm_free(struct alarm *a);

/* --- peer.c --- */
struct peer *peer_find(struct overlay *o, node_id_t id);
struct peer *peer_at(const struct overlay *o, uint16_t slot);
/* Finds or makes the peer of a node of nodedb. */
struct peer *peer_of_node(struct overlay *o, const struct node *n);
/* A peer without a node; NULL where too many are pending. */
struct peer *peer_new_pending(struct overlay *o, node_id_t id);
/* Gives a pending peer its node; false where the node table is full. */
bool peer_bind(struct overlay *o, struct peer *p);
void peer_drop(struct overlay *o, struct peer *p);
void peer_bury(struct overlay *o); /* frees the graveyard */
void peer_expire_pending(struct overlay *o);
bool peer_is_alive(const struct overlay *o, const struct peer *p);
int64_t peer_alive_ms(const struct overlay *o);
struct node *peer_node(const struct overlay *o, const struct peer *p); /* NULL while pending */
/* Arms the peer's timer for what is due first. */
void peer_arm(struct peer *p);
void peer_session_input(struct overlay *o, const struct endpoint *from, uint8_t *data, size_t len,
			const struct leon_hdr *h, size_t hdr_len, mono_t rx);
/* A message of it came that nobody else can have made. */
void peer_heard(struct overlay *o, struct peer *p);
/* The peer says to be at `ep`: it is followed there once it has answered there. */
void peer_claims(struct overlay *o, struct peer *p, const struct endpoint *ep);
void peer_upkeep(struct overlay *o);
/* Makes `ep`, where it has shown to be, the peer's endpoint. */
void peer_move(struct overlay *o, struct peer *p, const struct endpoint *ep);

bool via_direct(const struct peer *p, struct via *v);
bool via_best(struct overlay *o, const struct peer *p, struct via *v);
/* Along a path of slots; false where the first hop cannot be sent to. */
bool via_path(struct overlay *o, const struct path *path, struct via *v);
/* Back to where a datagram came from. */
bool via_back(struct overlay *o, const struct endpoint *from, const struct leon_hdr *h,
	      struct via *v);
size_t via_header(struct overlay *o, const struct via *v, uint8_t *out);
void via_transmit(struct overlay *o, const struct via *v, size_t len, uint8_t type);

/* 0 or -errno. size: pad to a UDP payload of so many bytes; 0: none. */
int peer_send_via(struct overlay *o, struct peer *p, const struct via *v, const struct msg *m,
		  uint16_t size);
int peer_send(struct overlay *o, struct peer *p, const struct msg *m);

/* --- along.c --- */
/* A path was chosen, or the direct link failed: is it to be pinged along the path? */
void along_look(struct overlay *o, struct peer *p);
mono_t along_due(const struct peer *p);
void along_tick(struct overlay *o, struct peer *p, mono_t now);
/* True where the answer was to one of these pings. */
bool along_pong(struct overlay *o, struct peer *p, const struct msg_pong *m);

/* --- loss.c --- */
/* Counters for a PONG to the peer. */
void loss_fill(const struct overlay *o, const struct peer *p, struct msg_pong *m);
/* Datagrams with data that were sent straight to it, and to it along any path. */
uint32_t loss_link_tx(const struct overlay *o, const struct peer *p);
uint32_t loss_path_tx(const struct overlay *o, const struct peer *p);
/* A PING is about to be sent, directly or along the path in use. */
uint32_t loss_link_mark(struct overlay *o, struct peer *p);
uint32_t loss_path_mark(struct overlay *o, struct peer *p);
/* These are true where paths are to be computed anew. */
bool loss_link_answer(struct overlay *o, struct peer *p, const struct probe *q,
		      const struct msg_pong *m);
bool loss_path_answer(struct overlay *o, struct peer *p, uint32_t data_tx,
		      const struct msg_pong *m);
/* What was counted while it was down says nothing. */
void loss_link_up(struct peer *p);
void loss_path_changed(struct peer *p);
/* Other relays are to be taken to the peer than those of the path in use. */
bool loss_distrust(struct overlay *o, struct peer *p, uint16_t loss_pm);
bool loss_is_distrusting(const struct overlay *o, const struct peer *p);
/* Marks those that are not to be taken, by slot. */
void loss_mark_relays(const struct overlay *o, const struct peer *p, bool *no_relay);
/* Makes a path through one of them dear. */
void loss_weigh(const struct overlay *o, const struct peer *p, struct path *path);
void loss_forget(struct overlay *o, uint16_t slot);
/* It was avoided for long enough. */
bool loss_link_expire(struct overlay *o, struct peer *p);
bool loss_path_expire(struct overlay *o, struct peer *p);

/* --- data.c --- */
/* p->cur is new. renewed: the peer was alive and is the same run of it. */
void data_established(struct overlay *o, struct peer *p, bool renewed);
/* A message arrived in p->cur. */
void data_heard(struct overlay *o, struct peer *p);
/* p->cur is the session that was in use before. */
void data_went_back(struct overlay *o, struct peer *p);
mono_t data_due(const struct peer *p);
void data_tick(struct overlay *o, struct peer *p, mono_t now);
void data_end(struct overlay *o, struct peer *p); /* there is no session any more */
void data_free(struct peer *p);

/* --- hello.c --- */
void hello_input(struct overlay *o, const struct endpoint *from, uint8_t *data, size_t len,
		 const struct leon_hdr *h, size_t hdr_len);
void hello_tick(struct overlay *o, struct peer *p, mono_t now);
/* Try soon: something about the peer changed. */
void hello_soon(struct overlay *o, struct peer *p, int64_t within_ms);
/* HELLO to an address whose node is not known; returns false where it cannot be sent. */
bool hello_to_address(struct overlay *o, const struct endpoint *ep, uint64_t value,
		      const struct ephemeral *key);
/* The session on offer, which a datagram has named; NULL: there is none. */
struct session *hello_offered(struct overlay *o, struct peer *p);
/* A HELLO that arrived, authentic. */
struct heard_hello {
	const struct msg_hello *m;
	uint32_t secret; /* that it came under */
	node_id_t to;	 /* as it was addressed: ourselves or NODE_ID_ANY */
	const struct endpoint *from;
	const struct endpoint *direct; /* from, where it came straight from the peer; else NULL */
	bool proved;		       /* a message came in the session it stands for */
	bool returned; /* the value was sent to `direct` and nowhere else: the peer receives there */
	struct via back;
};
/* Takes a session into use that the peer has proved. What `h` points to may be on offer. */
void hello_establish(struct overlay *o, struct peer *p, struct session *s,
		     const struct heard_hello *h);
void hello_withdraw(struct offer *f); /* wipes */
/* Has this address had its share of answers? */
bool hello_may_answer(struct overlay *o, const struct endpoint *from);
/* Does who shows the value on offer from there receive there? */
bool hello_returned(const struct offer *f, const struct endpoint *direct);
/* Asks the peer for new keys. */
void hello_rekey(struct overlay *o, struct peer *p);
/* Tells it again of a session in which it was not heard yet. */
void hello_confirm(struct overlay *o, struct peer *p);

/* --- endpoint.c --- */
/* May one datagram go to this address, which the node's record names? */
bool endpoint_may_ask(struct overlay *o, const struct node *n, const struct endpoint *to);
/* The newest message of the peer came from there: is it to be asked there now? */
bool endpoint_claim(struct overlay *o, struct peer *p, const struct endpoint *ep);
/* Once more, where it was asked and did not answer? */
bool endpoint_retry(struct overlay *o, struct peer *p);

/* --- doubt.c --- */
void doubt_upkeep(struct overlay *o, mono_t now);

/* --- identity.c --- */
void identity_set(struct overlay *o, const uint8_t secret[DH_KEY_LEN]);
void identity_sign_hello(const struct overlay *o, struct msg_hello *h, node_id_t to);
void identity_sign_conflict(const struct overlay *o, struct msg_conflict *c, node_id_t to);
/* By the key that it names, whoever has that. */
bool identity_signed_conflict(const struct overlay *o, const struct msg_conflict *c, node_id_t from,
			      node_id_t to);
bool identity_signed_hello(const struct overlay *o, node_id_t from, const struct heard_hello *h);
void identity_sign_own(struct overlay *o); /* after each change of the own record */
/* Is it signed by a key that this node may have? */
bool identity_of_hello(struct overlay *o, const struct peer *p, const struct heard_hello *h);
bool identity_of_record(struct overlay *o, struct peer *from, const struct msg_record *r);
/* The key of the node-id from now on. proven: in a session with this node, which is about to begin. */
void identity_pin(struct overlay *o, struct node *n, const uint8_t key[MSG_KEY_LEN], bool proven);
/* --- claim.c --- */
/* Is the holder of the key that the node-id has here still about, so that nobody else may have it? */
bool claim_is_held(const struct overlay *o, const struct node *n);
/* How a SUMMARY names a record. */
struct msg_summary_entry claim_of(const struct msg_record *r);
/* May the record named so, under another key, come in the place of this node's? */
bool claim_may_replace(const struct overlay *o, const struct node *n,
		       const struct msg_summary_entry *e);
/* Would the record named so be taken over for this node (NULL: unknown)? */
bool claim_would_be_taken(const struct overlay *o, const struct node *n,
			  const struct msg_summary_entry *e);

/* --- room.c --- */
/* What somebody needs in the node table. */
struct room {
	bool place;   /* of a member */
	bool slot;    /* it has none yet */
	node_id_t by; /* who brought its record; NODE_ID_NONE: it comes in session itself */
};
bool room_lacks(const struct overlay *o, const struct room *r);
/* Who has to go next for it; NULL: all that are there are worth more. */
struct node *room_victim(const struct overlay *o, const struct room *r);

/* --- rival.c --- */
/* Another node with the id of a peer in session asks to be it, or a recording does: is somebody there? */
void rival_knocks(struct overlay *o, struct peer *p, const struct heard_hello *h);
/* The same, and it has echoed a value of ours: both are told. */
void rival_proved(struct overlay *o, struct peer *p, const struct heard_hello *h);
/* A HELLO with our own node-id. */
void rival_own_hello(struct overlay *o, const struct heard_hello *h);
/* A CONFLICT outside a session, and in the session with a peer. */
void rival_refused(struct overlay *o, node_id_t source, const struct msg_conflict *c,
		   const struct heard_hello *h);
void rival_told(struct overlay *o, const struct peer *p, const struct msg_conflict *c);
/* Our own record keeps coming back newer than we make it. */
void rival_suspected(struct overlay *o);

/* --- trust.c --- */
/* Is this identity trusted? Where it is not, it is counted and said. */
bool trust_passes(struct overlay *o, node_id_t id, const uint8_t key[MSG_KEY_LEN]);
/* The list may have changed. */
void trust_configure(struct overlay *o);

/* --- rekey.c --- */
void rekey_established(struct overlay *o, struct peer *p);
/* A message arrived in the session in use for the first time. */
void rekey_heard(struct overlay *o, struct peer *p);
/* One arrived in the session before. */
void rekey_heard_before(struct overlay *o, struct peer *p);
/* Ends the session with a peer. */
void rekey_expire(struct overlay *o, struct peer *p);
void rekey_upkeep(struct overlay *o, mono_t now);
/* The peer says which secrets it has now. */
void rekey_secrets(struct overlay *o, struct peer *p, const struct msg_secrets *m);
/* The secrets in the configuration, or what it says of data, may have changed. */
void rekey_configure(struct overlay *o, const struct conf *old);
struct keyring *rekey_keyring(const struct overlay *o);
uint8_t rekey_offer(const struct conf *c); /* of data, seal_offer() */
/* Tells the peer where we see it now, at a limited rate. */
void hello_tell_observed(struct overlay *o, struct peer *p);

/* --- seed.c --- */
void seed_configure(struct overlay *o, const struct conf *old);
void seed_start(struct overlay *o);
void seed_free(struct overlay *o);
/* Nothing is on offer to anybody any more. */
void seed_withdraw(struct overlay *o);
/* The seed and endpoint that a value was offered to; NULL: none. */
struct seed *seed_of_value(struct overlay *o, uint64_t value, unsigned *index);
struct seed *seed_of_address(struct overlay *o, const struct ip_addr *ip);

/* --- finding.c --- */
/* Something of the kind was seen from this address; noted where it is one of a configured peer. */
void finding_note(struct overlay *o, const struct endpoint *from, enum seed_finding what);
void finding_asked(struct overlay *o, struct seed *s, unsigned index);
/* What of it still holds. */
struct finding finding_now(const struct overlay *o, const struct finding *f);
/* A HELLO from there did not open. */
void finding_not_opened(struct overlay *o, const struct endpoint *from, const struct leon_hdr *h);

/* --- member.c --- */
void member_start(struct overlay *o);
void member_upkeep(void *arg, mono_t now);
/* Own record from configuration and locators; announces it where it differs or `force`. */
void member_refresh_own(struct overlay *o, bool force);
void member_announce(struct overlay *o);
void member_session_up(struct overlay *o, struct peer *p);
void member_tick(struct overlay *o, struct peer *p, mono_t now);
void member_record(struct overlay *o, struct peer *p, const struct msg_record *r);
/* Somebody has {incarnation, seq} as this node's own record. */
void member_own_seen(struct overlay *o, uint64_t incarnation, uint32_t seq);
void member_table_full(struct overlay *o, node_id_t id);
/* --- lan.c --- */
/* The record of the peer's node says something else about its LAN than before. peer_arm() after it. */
void lan_flags_changed(struct overlay *o, struct peer *p);
void lan_tick(struct overlay *o, struct peer *p, mono_t now);

/* Drops everything that hangs on a node that is, or becomes, a tombstone. */
void member_bury(struct overlay *o, struct node *n);
/* Makes room in the node table; false where nobody can be sent away for that. */
bool member_make_room(struct overlay *o, const struct room *r);

/* --- sync.c --- */
void sync_start(struct overlay *o);
void sync_upkeep(struct overlay *o, mono_t now);
void sync_ask(struct overlay *o, struct peer *p);
void sync_digest(struct overlay *o, struct peer *p, uint64_t digest);
void sync_summary_request(struct overlay *o, struct peer *p);
void sync_summary(struct overlay *o, struct peer *p, const struct msg_summary *m);
void sync_fetch(struct overlay *o, struct peer *p, const struct msg_fetch *m);
/* Fetches one origin, from itself where it is in session, else from `hint`. */
void sync_want(struct overlay *o, struct peer *origin, struct peer *hint);
/* What was of no use in the summaries of others may be now. */
void sync_forget_answers(struct overlay *o);
void sync_answer_some(void *arg, mono_t now);

/* --- probe.c --- */
void probe_init(struct overlay *o, struct peer *p);
void probe_session_up(struct overlay *o, struct peer *p);
void probe_soon(struct overlay *o, struct peer *p);
void probe_upkeep(struct overlay *o);
void probe_tick(struct overlay *o, struct peer *p, mono_t now);
mono_t probe_due(const struct peer *p);
uint32_t probe_interval_ms(const struct overlay *o, const struct peer *p, mono_t now);
void probe_ping(struct overlay *o, struct peer *p, const struct msg_ping *m, const struct via *back,
		size_t len, mono_t rx);
void probe_pong(struct overlay *o, struct peer *p, const struct msg_pong *m, bool direct,
		mono_t rx);
void probe_send(struct overlay *o, struct peer *p, const struct via *v, uint32_t id, uint16_t size);
/* Awaits the answer to a PING of the link; size 0: a plain one. */
void probe_remember(struct overlay *o, struct peer *p, uint32_t id, uint16_t size);
/* Stages the link's entry in the latency database and sees to what follows from it. */
void probe_store(struct overlay *o, struct peer *p);
void probe_link_lost(struct overlay *o, struct peer *p); /* the peer goes away */

/* --- rtt.c --- */
uint32_t rtt_new_id(void); /* of a PING, never 0 */
/* Round-trip time from send and receive time; 0 where it cannot be one. */
uint32_t rtt_us(const struct overlay *o, mono_t sent, mono_t rx, uint32_t held_ns);
/* The same as a sample for the link's filter; 0: it is none. */
uint32_t rtt_sample_us(const struct overlay *o, struct peer *p, mono_t sent, mono_t rx,
		       uint32_t held_ns);

/* --- pmtu.c --- */
void pmtu_reset(struct overlay *o, struct peer *p);
void pmtu_tick(struct overlay *o, struct peer *p, mono_t now);
/* Data begins to flow: check soon that what passed before still does. */
void pmtu_used(struct overlay *o, struct peer *p);
void pmtu_answer(struct overlay *o, struct peer *p, uint16_t size);
void pmtu_miss(struct overlay *o, struct peer *p, uint16_t size);

/* --- share.c --- */
void share_start(struct overlay *o);
enum share_urgency { SHARE_LATER, SHARE_SOON, SHARE_NOW };
void share_dirty(struct overlay *o, enum share_urgency urgency);
void share_announce(void *arg, mono_t now);
void share_whole(struct overlay *o, struct peer *p);
void share_row(struct overlay *o, struct peer *p, const struct msg_row *m);
void share_row_seq(struct overlay *o, struct peer *p, uint32_t row_seq);

/* --- route.c --- */
void route_later(struct overlay *o);
void route_now(struct overlay *o);
void route_run(void *arg, mono_t now);
void route_changed(struct overlay *o); /* a snapshot would differ: soon */
void route_changed_now(struct overlay *o);
void route_tell(void *arg, mono_t now);
void route_notice(struct overlay *o, struct peer *p, const struct msg_notice *m);
/* Marks those whose rows are not believed any longer, because they were not heard; takes relays again
 * that were avoided for long enough. */
void route_upkeep(struct overlay *o, mono_t now);
/* The way to a node that no path leads to, as far as one of the ends of each link claims it: for
 * asking whether it is there. */
bool route_hearsay(struct overlay *o, const struct peer *p, struct via *v);
void route_forget(struct overlay *o, uint16_t slot);
void route_free(struct overlay *o);

/* --- ping.c --- */
void ping_due(void *arg, mono_t now);
/* True where the answer was to one of these pings. */
bool ping_pong(struct overlay *o, const struct peer *p, const struct msg_pong *m, mono_t rx);
void ping_free(struct overlay *o);
