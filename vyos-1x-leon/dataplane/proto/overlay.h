// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One overlay from the view of one node: the interface of proto/ to daemon/. The protocol runs
 * between overlay_input(), timers and the ops below. An overlay performs no I/O and reads no clock,
 * so hundreds of overlays run in a test process on virtual time. A function is defined in the
 * module of the subject (most in overlay.c and view.c). Control thread. doc/protocol.md sections 3
 * to 6.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/loop.h"
#include "crypto/keys.h"
#include "state/conf/conf.h"
#include "state/event.h"
#include "state/latency/choice.h"
#include "state/latency/gain.h"
#include "state/latency/latdb.h"
#include "state/latency/one_way.h"
#include "state/latency/pair.h"
#include "state/rates/link_load.h"
#include "state/tables/guard_number.h"
#include "state/tables/nodedb.h"
#include "state/tables/snap.h"

struct overlay_event {
	enum event_kind kind; /* event of the protocol; the others belong to the daemon */
	mono_t at;
	node_id_t node, other;
	uint64_t value;
	const char *detail; /* valid during the call, or NULL */
};

/* Data datagrams counted by the workers since the start. */
struct overlay_traffic {
	/* directly to and from the node, including relayed ones */
	uint64_t link_tx, link_rx;
	/* end to end between this node and the other, along any path */
	uint64_t path_tx, path_rx;
	uint64_t refused;		       /* part of link_tx refused by the kernel */
	uint64_t link_tx_bytes, link_rx_bytes; /* bytes of the IP packets */
	uint64_t trains; /* messages of several datagrams to the node, with UDP segmentation */
};

struct overlay_ops {
	/* Sends one datagram from the overlay's port with DF set. The sender counts errors. */
	void (*send)(void *arg, const struct endpoint *to, const void *data, size_t len);
	/* A snapshot input changed; called at most once per loop iteration (deferred). */
	void (*snapshot_changed)(void *arg);
	/* The node stayed unreachable, left or was forgotten: drop its FDB entries and
	 * neighbors. */
	void (*purge)(void *arg, uint16_t slot);
	/* First session with a new incarnation of the node: the counters of its frames may restart,
	 * also at lower values after a clock step. Called before any frame of the incarnation can
	 * be opened. NULL: no data. */
	void (*new_run)(void *arg, uint16_t slot);
	/* The loop guard of the node reports a change of its LAN: relearn its hosts. NULL: no host
	 * learning. */
	void (*lan_changed)(void *arg, uint16_t slot, uint64_t classes);
	/* The node reports a LAN interface without a link. */
	void (*lan_left)(void *arg, uint16_t slot);
	/* The node receives only these multicast groups (state/tables/listeners.h); n 0: all. NULL:
	 * no data. */
	void (*groups)(void *arg, uint16_t slot, const uint64_t *entry, unsigned n);
	void (*event)(void *arg, const struct overlay_event *e);
	/* NULL: no data. */
	void (*traffic)(void *arg, uint16_t slot, struct overlay_traffic *out);
	/* Bytes of IP packets with data on a pair of lines of the node. NULL: no data, as the next
	 * three. */
	void (*line_traffic)(void *arg, uint16_t slot, unsigned pair, uint64_t *tx, uint64_t *rx);
	/* Sets the account of the pair in use, or of the second one, for the distribution of bulk
	 * data; reads its backlog; corrects the backlog. */
	void (*line_set)(void *arg, uint16_t slot, bool second, uint32_t kbits, uint32_t delay_us);
	int64_t (*line_backlog_us)(void *arg, uint16_t slot, bool second);
	void (*line_correct)(void *arg, uint16_t slot, bool second, int64_t us);
	/* Data to the node is sent with or without UDP segmentation. NULL: no data. */
	void (*segmentation)(void *arg, uint16_t slot, bool on);
	/* The rate limit that the node requests has changed: overlay_requested_kbits(). NULL: no
	 * data. */
	void (*requested)(void *arg, uint16_t slot);
	/* Microseconds since 1970 for the incarnation. The clock may be stepped; protocol 5.1 has
	 * the reason. */
	uint64_t (*wall_us)(void *arg);
	/* Returns the master key of a secret (crypto/stretch.h) from a cache of the host. NULL:
	 * computed each time. */
	void (*master_key)(void *arg, enum stretch_kind kind, const char *secret, uint32_t vni,
			   uint8_t out[MASTER_KEY_LEN]);
	/* Stores the invitations before the answer to a use. Returns false after a failure; the
	 * use does not count then. NULL: nothing is stored. */
	bool (*store_invitations)(void *arg);
	/* Current time with higher precision than loop_now(), for exact round-trip times and run
	 * times. NULL (simulation): the time of the loop is exact. */
	mono_t (*precise_now)(void *arg);
};

/* A line of this node: address families, and the loss of the address or interface. */
struct overlay_line {
	bool v4, v6;
	bool lost;
};

struct overlay;
struct invitations;

/* `conf` must outlive the overlay or be replaced with overlay_set_conf(). rng_seed 0: seed from the
 * kernel. */
struct overlay *overlay_new(struct loop *loop, const struct conf *conf, node_id_t self,
			    const struct overlay_ops *ops, void *arg, uint64_t rng_seed);
/* Sets the Ed25519 secret of this node, 32 random bytes that persist over restarts. Called before
 * overlay_start(); without a call a new secret is generated. */
void overlay_set_identity(struct overlay *o, const uint8_t secret[32]);
/* Returns the public key of this node. */
const uint8_t *overlay_identity(const struct overlay *o);
void overlay_free(struct overlay *o); /* NULL ok; sends nothing, see overlay_leave */
/* Sets the number of workers that seal and open data. Called before overlay_start(). Without a call
 * there is no data (simulations) and no cost for its keys. */
void overlay_set_workers(struct overlay *o, unsigned n);
void overlay_start(struct overlay *o);
/* Sends a leave to all members. The caller may repeat the call to cover loss. */
void overlay_leave(struct overlay *o);
/* Applies changes of measurement, path, peers, member and record; ignores all others. */
void overlay_set_conf(struct overlay *o, const struct conf *conf);

/* The invitations of this node, owned by the overlay. The host issues, ends and stores invitations.
 * */
struct invitations *overlay_invitations(const struct overlay *o);

/* Sets the addresses of this node known to the host. The record contains known and observed
 * addresses. */
void overlay_set_locators(struct overlay *o, const struct endpoint *ep, unsigned n);
/* Sets the address of this node at a gateway with NAT for the record, or NULL. */
void overlay_set_mapped(struct overlay *o, const struct endpoint *ep);
/* True if a node in session receives datagrams of this node from the source address. */
bool overlay_is_observed_at(const struct overlay *o, const struct ip_addr *ip);
/* Sets the announced prefixes, sorted, at most MSG_PREFIXES_MAX. Without a call all configured
 * prefixes are announced. */
void overlay_set_prefixes(struct overlay *o, const struct prefix *p, unsigned n);
/* Sets the served segments, at most MSG_SEGMENTS_MAX ranges; NULL, or without a call: all VLANs. */
void overlay_set_segments(struct overlay *o, const struct id_range *served, unsigned n);
/* Sets the loop-guard state of the record: bits of RECORD_LAN_MASK, and the content of
 * RECORD_LAN. */
void overlay_set_lan(struct overlay *o, uint16_t lan_flags, const struct record_lan *lan);
/* Sequence number of the last sent loop-guard frame, for PINGs. */
void overlay_set_guard_number(struct overlay *o, uint64_t number);
/* Valid sequence numbers of loop-guard frames of the node. */
struct guard_bounds overlay_guard_bounds(struct overlay *o, node_id_t node);
/* Sets the announced multicast groups, at most LISTENERS_MAX entries; n 0: this node receives all
 * groups. */
void overlay_set_groups(struct overlay *o, const uint64_t *entry, unsigned n);
/* Announces an accelerator, present or expected. */
void overlay_set_accelerates(struct overlay *o, bool accelerates);
/* Sets the addresses of configured peer `index` (conf order), from the configuration or DNS. */
void overlay_set_seed(struct overlay *o, unsigned index, const struct endpoint *ep, unsigned n);
/* Returns true if seed `index` is not reached, and the name should be resolved again. */
bool overlay_seed_wants_resolve(const struct overlay *o, unsigned index);

/* Diagnosis of the address of a configured peer. Later values are more specific. */
enum seed_diagnosis {
	SEED_NOT_QUERIED,
	SEED_SILENT,	     /* no answer */
	SEED_REFUSED,	     /* ICMP port unreachable */
	SEED_UNREACHABLE,    /* another ICMP error, in `error` */
	SEED_NOT_SENT,	     /* the local kernel refused to send, `error` */
	SEED_INITIATES,	     /* HELLOs open, but no session results */
	SEED_OTHER_SECRET,   /* HELLOs are sealed and do not open */
	SEED_HAS_NO_SECRET,  /* HELLOs are in clear, this node has a secret */
	SEED_HAS_SECRET,     /* HELLOs are sealed, this node has no secret */
	SEED_OTHER_VNI,	     /* datagrams have another VNI */
	SEED_OTHER_VERSION,  /* datagrams have another version, or are not LEON */
	SEED_OTHER_CURVE,    /* HELLOs open and have a key of another curve */
	SEED_NOT_TRUSTED,    /* the identity is not trusted by this node */
	SEED_OTHER_IDENTITY, /* the node-id belongs to another identity */
	SEED_SELF,	     /* the address belongs to this node */
};
#define SEED_ENDPOINTS 8
struct overlay_seed {
	bool reached;	/* a session with the node at the address exists */
	node_id_t node; /* node that answered last, or NODE_ID_NONE */
	unsigned n;
	struct {
		struct endpoint ep;
		uint64_t requested; /* sent HELLOs */
		mono_t requested_at, found_at;
		enum seed_diagnosis diagnosis;
		int error; /* errno, or the wire version, of some diagnoses */
	} address[SEED_ENDPOINTS];
};
bool overlay_seed(struct overlay *o, unsigned index, struct overlay_seed *out);
/* A datagram to this endpoint was refused locally (`local`) or caused an ICMP error. */
void overlay_seed_error(struct overlay *o, const struct endpoint *to, int error, bool local);
/* A datagram from this endpoint was dropped unread: SEED_OTHER_VNI or SEED_OTHER_VERSION with its
 * wire version, or 0. */
void overlay_seed_foreign(struct overlay *o, const struct endpoint *from,
			  enum seed_diagnosis diagnosis, uint8_t wire);

/* Enters a LEON_CONTROL datagram with this node as the last hop. rx: receive time of the kernel.
 * May modify data. */
void overlay_input(struct overlay *o, const struct endpoint *from, uint8_t *data, size_t len,
		   mono_t rx);
/*
 * Transports of a link. The host offers an endpoint at which the node may be reached: a stream
 * (base/addr.h), or an address of UDP while a stream is in use. The link changes to the endpoint
 * when the node answers there, and the previous endpoint stays the backup.
 */
void overlay_offer_endpoint(struct overlay *o, node_id_t node, const struct endpoint *ep);
/* Sets the lines of this node, before overlay_start(). Default: one line. */
void overlay_set_lines(struct overlay *o, const struct overlay_line *line, unsigned n);
/* The address or interface of a line is missing, or is back. */
void overlay_line_changed(struct overlay *o, uint8_t line, bool lost);
/* A pair of lines to the node of the slot; false: no pair. */
struct overlay_pair_view {
	bool in_use, verified, silent;
	bool distributed; /* bulk data uses the pair too */
	uint32_t kbits;	  /* rate of its data in the direction of the peer; 0: unknown */
	uint8_t theirs;	  /* number of the peer's line */
	struct endpoint ep;
	struct link_filter filter;
	uint64_t probes_tx, probes_lost;
	uint64_t changes; /* number of changes of the pair in use */
	mono_t since;	  /* of the last change */
	mono_t answered;  /* transmission time of the last answered PING; MONO_NEVER: none */
};
bool overlay_line_pair(const struct overlay *o, uint16_t slot, unsigned pair,
		       struct overlay_pair_view *out);
/* The stream ended. */
void overlay_endpoint_ended(struct overlay *o, const struct endpoint *ep);
/* Returns true if a node has the endpoint in use or as a backup. */
bool overlay_uses_endpoint(const struct overlay *o, const struct endpoint *ep);
/* Data was sent directly to `slot` since the last call, so its link is probed at the fast
 * interval. */
void overlay_link_used(struct overlay *o, uint16_t slot);
/* Sends a PING on the direct link to `slot` now. */
void overlay_probe(struct overlay *o, uint16_t slot);
/* Sets the limit of the line in use that the shaper found, in kbit/s; 0: none. `full`: the limit is
 * used up, so bulk data may use the second line too. */
void overlay_limit_line(struct overlay *o, uint32_t kbits, bool full);
/* Rate that the second line may carry beside the line in use, in kbit/s. */
uint32_t overlay_second_kbits(const struct overlay *o);
/* The kernel or an ICMP error suggests that the endpoint is dead. The hint triggers a probe and
 * proves nothing. */
void overlay_link_error(struct overlay *o, const struct endpoint *ep);
/* A worker could not relay: sends a path error to `source` (rate-limited). */
void overlay_cannot_forward(struct overlay *o, node_id_t source, node_id_t next,
			    node_id_t destination);

/* Sets the rate limit requested from the node of `slot` for its direct traffic to this node, in
 * kbit/s of IP packets, or 0. Each PONG carries it. */
void overlay_set_share(struct overlay *o, uint16_t slot, uint32_t kbits);

/* --- queries --- */
uint32_t overlay_share(const struct overlay *o, uint16_t slot);
/* Rate limit that the node requests from this node, or 0. */
uint32_t overlay_requested_kbits(const struct overlay *o, uint16_t slot);
struct nodedb *overlay_nodes(struct overlay *o);
/* Part of the direct link's delay caused by own traffic; NULL: the link is down. */
const struct link_load *overlay_load(const struct overlay *o, uint16_t slot);
const struct latdb *overlay_latdb(const struct overlay *o);
/* Path choice for a slot, or NULL. */
const struct choice *overlay_choice(const struct overlay *o, uint16_t slot);
/* Gain of the paths to a slot, or NULL. */
const struct gain *overlay_gain(const struct overlay *o, uint16_t slot);
/* Measurements along the path in use to a slot; NULL if there are none. */
const struct one_way *overlay_one_way(const struct overlay *o, uint16_t slot);
/* The two paths of critical frames to a slot; NULL if there are none. */
const struct pairing *overlay_pair(const struct overlay *o, uint16_t slot);
/* Interval of the evaluation of path pairs. */
int64_t overlay_pairs_every_ms(const struct overlay *o);
/* Comparison of data counters along relays to a slot, and the relays excluded for it (slots;
 * returns their number). */
unsigned overlay_path_data(const struct overlay *o, uint16_t slot, uint64_t *tx, uint64_t *lost,
			   const uint16_t **distrusted);
struct path_params overlay_path_params(struct overlay *o);
/* Returns true if the measurements of the two ends of the link contradict each other. */
bool overlay_is_asymmetric(const struct overlay *o, uint16_t from, uint16_t to);
const struct keyring *overlay_keyring(const struct overlay *o);

struct overlay_link {
	bool up, session;
	bool silent;		/* unresponsive: up, but the last probes are unanswered */
	struct endpoint ep;	/* endpoint in use; family 0 unknown */
	struct endpoint backup; /* endpoint of the other transport, or family 0 */
	bool behind_nat;	/* the endpoint is not in the record */
	struct link_filter filter;
	struct link_load load;
	uint16_t mtu; /* bytes of UDP payload */
	enum link_secret {
		LINK_SECRET_NONE,
		LINK_SECRET_OWN,
		LINK_SECRET_ACCEPTED,
		LINK_SECRET_OTHER, /* no secret of ours: the session ends or has ended */
	} secret;
	mono_t session_ends; /* end of the session for this reason, or never */
	mono_t up_since, last_received;
	enum seal_cipher cipher; /* cipher of data to the node */
	uint32_t probe_ms;	 /* current probe interval */
	uint64_t probes_tx, probes_lost;
	uint64_t silences;	     /* number of unresponsive periods */
	uint64_t data_tx, data_lost; /* datagrams by comparison of both ends' counters */
	bool segmentation_broken;    /* convicted: data is sent without UDP segmentation */
	uint16_t data_loss_pm;	     /* recent data loss of an avoided link, or 0 */
};
bool overlay_link(const struct overlay *o, uint16_t slot, struct overlay_link *out);
/* Another node with the node-id of this slot (or of this node); returns false if no such node was
 * seen recently. */
struct overlay_duplicate {
	mono_t seen;
	struct endpoint ep; /* family 0 unknown */
	bool same_identity; /* same identity key: a clone */
	node_id_t by;	    /* reporting node; NODE_ID_NONE: this node */
};
bool overlay_duplicate(const struct overlay *o, uint16_t slot, struct overlay_duplicate *out);
/* Lists nodes in session without a common secret, up to `max` in `id`. Returns the number. */
unsigned overlay_has_no_common_secret(const struct overlay *o, node_id_t *id, unsigned max);
#define SESSION_REVOKED_MS 60000 /* lifetime of a session without a common secret */

/* Recently refused identities: index 0 to OVERLAY_REFUSALS - 1, unordered; false if the entry is
 * empty. */
#define OVERLAY_REFUSALS 64
bool overlay_refusal(const struct overlay *o, unsigned index, node_id_t *id, const uint8_t **key);

struct overlay_counters {
	uint64_t tx_msgs, tx_bytes, rx_msgs, rx_bytes; /* control datagrams and UDP payload bytes */
	uint64_t tx_by_type[16], rx_by_type[16];
	uint64_t tx_bytes_by_type[16], rx_bytes_by_type[16]; /* rx: without HELLO */
	uint64_t rx_not_authentic, rx_replayed, rx_malformed, rx_no_session, rx_stranger,
		rx_rate_limited;
	uint64_t rx_invitation_refused; /* requests for unknown or used-up invitations */
	uint64_t rx_bad_signature, rx_other_identity, rx_not_trusted, rx_foreign_rows;
	uint64_t key_exchanges; /* DH operations, for peers that echoed a value of ours */
	uint64_t path_runs, path_run_ns_max;
};
const struct overlay_counters *overlay_counters(const struct overlay *o);

/* Fills node[] (ids, endpoints, link and path MTU, paths, keys) of a snapshot with room for all
 * slots. */
void overlay_fill_snap(struct overlay *o, struct snap *s);

/*
 * Sends one ping along exactly these hops (node-ids; the last one answers, back along the reversed
 * list). fn runs once: rtt_us >= 0, -ETIMEDOUT, or -ENOKEY without a session with the last hop.
 */
typedef void (*overlay_ping_fn)(void *arg, int64_t rtt_us);
void overlay_ping(struct overlay *o, const node_id_t *hop, unsigned n_hops, uint16_t size,
		  uint32_t timeout_ms, overlay_ping_fn fn, void *arg);
/* Cancels pending callbacks with `arg`. */
void overlay_ping_cancel(struct overlay *o, void *arg);
