// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The state of an overlay and of each of its peers: the states of the modules of proto/, combined.
 * Comments name the owner of each member. Then the functions of the lower floors, for all modules
 * above; doc/architecture.md has the floors. Private to this directory; control thread.
 */
#pragma once

#include "base/bucket.h"
#include "base/loop.h"
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
	mono_t queued_until;  /* until then, own data may keep a queue on a link, load.c */
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

/* --- service.c: services without knowledge of the protocol --- */

mono_t overlay_now(const struct overlay *o);
/* Returns the current time if the host provides it, else the time of the loop iteration. */
mono_t overlay_clock(const struct overlay *o);
uint64_t overlay_random(struct overlay *o);
/* now plus a uniform random time of lo..hi ms */
mono_t overlay_in(struct overlay *o, int64_t lo_ms, int64_t hi_ms);
/* Scales the interval of periodic work with the number of members. */
int64_t overlay_stretch(const struct overlay *o, int64_t ms);
/* Scales the interval of PINGs with the number of links or paths that miss answers: all share the
 * PINGs of 16. If many miss some, the line or the machine is at fault, and more PINGs would add to
 * its load. */
int64_t overlay_spread(int64_t ms, uint32_t n_missing);
void overlay_emit(struct overlay *o, enum event_kind kind, node_id_t node, node_id_t other,
		  uint64_t value, const char *detail);
/* Returns true at most once a minute, for events that a remote host can cause. */
bool overlay_once_a_minute(const struct overlay *o, struct bucket *b);
/* Counts an event that an earlier run of a node explains once or twice. Returns true for the fourth
 * and later ones of a minute, which indicate a duplicate node-id. */
bool overlay_many_a_minute(const struct overlay *o, struct minute_count *c);
/* Counters of the data to and from a node; zero if the host has no data. */
struct overlay_traffic overlay_traffic_of(const struct overlay *o, uint16_t slot);

void alarm_init(struct overlay *o, struct alarm *a, timer_fn fn, void *arg);
void alarm_set(struct alarm *a, mono_t at); /* never: stops the alarm */
void alarm_sooner(struct alarm *a, mono_t at);
void alarm_free(struct alarm *a);

/* --- schedule.c: requests for work of another module, without knowledge of the module --- */

/* Sets times and arms timers; periodic.c and overlay.c connect the timers with the modules that do
 * the work. */

/* Arms the peer's timer for the earliest of p->due. Called once after changes of these times, at
 * the entry point from the loop or a datagram. */
void schedule_arm(struct peer *p);
/* Returns true if the work is due, and removes it from the schedule. */
bool schedule_take(struct peer *p, enum due what, mono_t now);
/* Requests a HELLO to the peer within this number of milliseconds. */
void schedule_hello(struct overlay *o, struct peer *p, int64_t within_ms);
/* Requests a PING of the direct link as soon as the minimum interval permits. */
void schedule_probe(struct overlay *o, struct peer *p);

/* Requests an announcement of the own row to all members. */
enum row_urgency { ROW_LATER, ROW_SOON, ROW_NOW };
void schedule_row(struct overlay *o, enum row_urgency urgency);
/* Records the time of an announcement. */
void schedule_row_done(struct overlay *o, mono_t at);

/* Requests a path run: because traffic is being lost, after another failure, or after another
 * change. */
void schedule_paths_urgent(struct overlay *o);
void schedule_paths_now(struct overlay *o);
void schedule_paths_later(struct overlay *o);
/* Records the time of a run. */
void schedule_paths_done(struct overlay *o, mono_t at);

/* Requests a new snapshot from the host: after a change, or after a failure. */
void schedule_snapshot(struct overlay *o);
void schedule_snapshot_now(struct overlay *o);

/* --- peer.c: the table of peers --- */

/*
 * A peer belongs to a node of nodedb by the slot. A peer that has sent a HELLO but proved nothing
 * is pending: few, short-lived, without a slot. A dropped peer stays allocated until the end of the
 * callback, so no caller holds a dangling pointer.
 */

struct peer *peer_find(struct overlay *o, node_id_t id);
struct peer *peer_at(const struct overlay *o, uint16_t slot);
/* Finds or creates the peer of a node of nodedb. */
struct peer *peer_of_node(struct overlay *o, const struct node *n);
/* Creates a peer without a node; NULL if too many are pending. */
struct peer *peer_new_pending(struct overlay *o, node_id_t id);
void peer_drop(struct overlay *o, struct peer *p);
void peer_free_dropped(struct overlay *o);
void peer_free_all(struct overlay *o);
void peer_expire_pending(struct overlay *o);
bool peer_is_alive(const struct overlay *o, const struct peer *p);
int64_t peer_alive_ms(const struct overlay *o);
/* The same without the former time after a reload, for the next HELLO. */
int64_t peer_usual_alive_ms(const struct overlay *o);
struct node *peer_node(const struct overlay *o, const struct peer *p); /* NULL while pending */
/* Returns true if the record of the peer has this flag (RECORD_...). */
bool peer_announces(const struct overlay *o, const struct peer *p, uint16_t flag);
/* An authentic message of the peer arrived. */
void peer_received(struct overlay *o, struct peer *p);

/* --- pairs.c: nodes to which critical frames use two paths --- */

/* The nodes are selected slowly, and abandoned at once when one of the two paths breaks
 * (state/latency/pair.h). Idle without a policy. Called by paths.c with each run. */

void pairs_init(struct overlay *o);
/* Returns true if a snapshot is due. */
bool pairs_run(struct overlay *o, const struct path_params *pp, uint16_t n_slots, mono_t now);
/* Returns the time of the next periodic run; never without a policy. */
mono_t pairs_next(const struct overlay *o);
/* The policy changed: the next run evaluates all nodes. */
void pairs_apply_conf(struct overlay *o);
void pairs_free(struct overlay *o);

/* --- topology.c: permitted relays, links reported broken, routes to nodes without a path --- */

/* Sends nothing; defines overlay_path_params(). */

void topology_init(struct overlay *o);
/* Enters a path error of a relay. Returns false if it is known or there is no room. */
bool topology_link_broken(struct overlay *o, uint16_t from, uint16_t to);
/* Removes expired path errors; returns the next expiry. */
mono_t topology_sweep(struct overlay *o, mono_t now);
/* Returns a route to a node without a path, over links that at least one end reports, to test
 * whether the node is reachable. */
bool topology_claimed(struct overlay *o, const struct peer *p, struct path *best);
void topology_forget(struct overlay *o, uint16_t slot);
void topology_free(struct overlay *o);

/* --- send.c: routes to a peer, and transmission along routes --- */

/* Owns the buffer of outgoing messages. Protocol 3.1, 3.2. */

bool via_direct(const struct peer *p, struct via *v);
bool via_best(struct overlay *o, const struct peer *p, struct via *v);
/* Builds a route along a path of slots; returns false if the first hop has no address. */
bool via_path(struct overlay *o, const struct path *path, struct via *v);
/* Builds a route for a node without a path: along links with a report of at least one end. */
bool via_claimed(struct overlay *o, const struct peer *p, struct via *v);
/* Builds the return route of a received datagram. */
bool via_back(struct overlay *o, const struct endpoint *from, const struct leon_hdr *h,
	      struct via *v);
size_t via_header(struct overlay *o, const struct via *v, uint8_t *out);
void via_transmit(struct overlay *o, const struct via *v, size_t len, uint8_t type);

/* Returns 0 or -errno. size: pad to this UDP payload length; 0: no padding. */
int peer_send_via(struct overlay *o, struct peer *p, const struct via *v, const struct msg *m,
		  uint16_t size);
int peer_send(struct overlay *o, struct peer *p, const struct msg *m);

/* --- paths.c: paths and their consequences --- */

/* Runs, path errors of relays, reachable nodes, unheard nodes. Protocol 4.9, 6. */

void paths_init(struct overlay *o);
/* Executes a run, and requests a snapshot, scheduled by schedule.c or at once. */
void paths_run(void *arg, mono_t now);
void paths_snapshot(void *arg, mono_t now);
void paths_notice(struct overlay *o, struct peer *p, const struct msg_notice *m);
/* Marks nodes without recent messages (their rows do not count), and ends the exclusion of relays.
 * */
void paths_periodic(struct overlay *o, mono_t now);
void paths_forget(struct overlay *o, uint16_t slot);
void paths_free(struct overlay *o);
