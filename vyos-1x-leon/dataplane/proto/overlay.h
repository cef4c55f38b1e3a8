// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One overlay as one node sees it: the contract of proto/ with daemon/. Everything the protocol
 * does happens between overlay_input(), timers and the ops below; there is no I/O and no clock of
 * its own, so hundreds of overlays run in one test process on virtual time. Each function is
 * defined in the module that knows its answer (most in overlay.c and view.c). Control thread.
 * doc/protocol.md sections 3 to 6.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/loop.h"
#include "crypto/keys.h"
#include "state/event.h"
#include "state/choice.h"
#include "state/conf.h"
#include "state/gain.h"
#include "state/guard_number.h"
#include "state/one_way.h"
#include "state/latdb.h"
#include "state/link_load.h"
#include "state/nodedb.h"
#include "state/pair.h"
#include "state/snap.h"

struct overlay_event {
	enum event_kind kind; /* what the protocol reports; the others are the daemon's */
	mono_t at;
	node_id_t node, other;
	uint64_t value;
	const char *detail; /* valid during the call only, or NULL */
};

/* Datagrams with data, counted by the workers since their start. */
struct overlay_traffic {
	uint64_t link_tx, link_rx;	       /* straight to and from the node, relayed ones too */
	uint64_t path_tx, path_rx;	       /* from us to it and from it to us, along any path */
	uint64_t refused;		       /* of link_tx: they never left this host */
	uint64_t link_tx_bytes, link_rx_bytes; /* of the IP packets */
};

struct overlay_ops {
	/* Sends one datagram from the overlay's port, DF set. Errors are the sender's to count. */
	void (*send)(void *arg, const struct endpoint *to, const void *data, size_t len);
	/* Something a snapshot is made of changed; called at most once per loop iteration
	 * (deferred). */
	void (*snapshot_changed)(void *arg);
	/* The node stayed unreachable, left or was forgotten: drop what hangs on it (FDB,
	 * neighbors). */
	void (*purge)(void *arg, uint16_t slot);
	/* A session with another run of the node than the one before, or the first: what its frames
	 * were counted by may begin anew, also from less, where its clock was set back. Before
	 * anything of that run can be opened. NULL: there is no data. */
	void (*new_run)(void *arg, uint16_t slot);
	/* The LAN behind the node changed (its loop guard says so): hosts are to be learned
	 * anew. NULL: nobody learns hosts. */
	void (*lan_changed)(void *arg, uint16_t slot, uint64_t classes);
	/* It says that it is not on any LAN any more. */
	void (*lan_left)(void *arg, uint16_t slot);
	void (*event)(void *arg, const struct overlay_event *e);
	/* NULL: there is no data. */
	void (*traffic)(void *arg, uint16_t slot, struct overlay_traffic *out);
	/* What the node asks to be sent no more than is another than before: overlay_asked(). NULL:
	 * there is no data. */
	void (*asked)(void *arg, uint16_t slot);
	/* Microseconds since 1970 for the incarnation; clocks may jump, protocol 5.1 says why
	 * that is harmless. */
	uint64_t (*wall_us)(void *arg);
	/* Master key of a secret in an overlay (crypto/stretch.h), for a host that remembers
	 * what it has computed. NULL: computed each time. */
	void (*master_key)(void *arg, const char *secret, uint32_t vni,
			   uint8_t out[MASTER_KEY_LEN]);
	/* The time right now, finer than loop_now(): makes round-trip times exact and times path
	 * runs. NULL (as in the simulation): the loop's time is exact. */
	mono_t (*precise_now)(void *arg);
};

struct overlay;

/* `conf` must outlive the overlay or be replaced with overlay_set_conf(). rng_seed 0: from the
 * kernel. */
struct overlay *overlay_new(struct loop *loop, const struct conf *conf, node_id_t self,
			    const struct overlay_ops *ops, void *arg, uint64_t rng_seed);
/* The Ed25519 secret of this node, 32 random bytes that stay the same over restarts; before
 * overlay_start(). Without a call: a new one. */
void overlay_set_identity(struct overlay *o, const uint8_t secret[32]);
/* The public half of it. */
const uint8_t *overlay_identity(const struct overlay *o);
void overlay_free(struct overlay *o); /* NULL ok; silent, see overlay_leave */
/* How many workers seal and open data; call before overlay_start(). Without a call there is no data
 * (simulations), and no time and memory is spent on its keys. */
void overlay_set_workers(struct overlay *o, unsigned n);
void overlay_start(struct overlay *o);
/* Tells all members that we leave (three times, spaced by the caller calling it again if it
 * likes). */
void overlay_leave(struct overlay *o);
/* Applies measurement, path, peers, member and record changes; nothing else is looked at. */
void overlay_set_conf(struct overlay *o, const struct conf *conf);

/* Addresses this node can be reached at as far as the host knows (announced with those peers
 * observe). */
void overlay_set_locators(struct overlay *o, const struct endpoint *ep, unsigned n);
/* Which prefixes this node announces, sorted, at most MSG_PREFIXES_MAX. Without a call: all that
 * the configuration names. */
void overlay_set_prefixes(struct overlay *o, const struct prefix *p, unsigned n);
/* Segments that this node serves, at most MSG_SEGMENTS_MAX ranges; NULL: all VLANs. Without a call:
 * all. */
void overlay_set_segments(struct overlay *o, const struct id_range *served, unsigned n);
/* What the loop guard found: bits of RECORD_LAN_MASK, and with RECORD_LAN among them what it has to
 * say. Announced to all. */
void overlay_set_lan(struct overlay *o, uint16_t lan_flags, const struct record_lan *lan);
/* Sequence number of the loop-guard frame that this node sent last; PINGs state it. */
void overlay_set_guard_number(struct overlay *o, uint64_t number);
/* Sequence numbers that loop-guard frames of the node may have now. */
struct guard_bounds overlay_guard_bounds(struct overlay *o, node_id_t node);
/* There is an accelerator, or one is waited for. */
void overlay_set_accelerates(struct overlay *o, bool accelerates);
/* Addresses of configured peer `index` (conf order): from the configuration or from DNS. */
void overlay_set_seed(struct overlay *o, unsigned index, const struct endpoint *ep, unsigned n);
/* True where seed `index` is not reached at present, so that its name should be resolved again. */
bool overlay_seed_wants_resolve(const struct overlay *o, unsigned index);

/* What is known of an address that a configured peer is asked at. The later tell more. */
enum seed_finding {
	SEED_NOT_ASKED,
	SEED_SILENT,	     /* nothing came back */
	SEED_REFUSED,	     /* ICMP: nobody listens at that port */
	SEED_UNREACHABLE,    /* ICMP: something else, `error` */
	SEED_NOT_SENT,	     /* this host did not send, `error` */
	SEED_GREETS,	     /* its HELLOs come and open, and no session comes of it */
	SEED_OTHER_SECRET,   /* its HELLOs are sealed and do not open */
	SEED_HAS_NO_SECRET,  /* its HELLOs are in clear, and this node has a secret */
	SEED_HAS_SECRET,     /* its HELLOs are sealed, and this node has none */
	SEED_OTHER_VNI,	     /* its datagrams are of another overlay */
	SEED_OTHER_VERSION,  /* its datagrams are of another version, or no LEON at all */
	SEED_NOT_TRUSTED,    /* its identity is not on the list of this node */
	SEED_OTHER_IDENTITY, /* its node-id belongs to another identity */
	SEED_SELF,	     /* it is this node */
};
#define SEED_ENDPOINTS 8
struct overlay_seed {
	bool reached;	/* in session with whoever lives there */
	node_id_t node; /* that answered last; NODE_ID_NONE none */
	unsigned n;
	struct {
		struct endpoint ep;
		uint64_t asked; /* HELLOs sent to it */
		mono_t asked_at, found_at;
		enum seed_finding finding;
		int error; /* errno, with some findings */
	} address[SEED_ENDPOINTS];
};
bool overlay_seed(struct overlay *o, unsigned index, struct overlay_seed *out);
/* A datagram to this endpoint was not sent (`local`) or came back as an ICMP error. */
void overlay_seed_error(struct overlay *o, const struct endpoint *to, int error, bool local);
/* A datagram from there was dropped unread: SEED_OTHER_VNI or SEED_OTHER_VERSION. */
void overlay_seed_foreign(struct overlay *o, const struct endpoint *from,
			  enum seed_finding finding);

/* A LEON_CONTROL datagram whose last hop is this node. rx: when the kernel received it. May
 * modify data. */
void overlay_input(struct overlay *o, const struct endpoint *from, uint8_t *data, size_t len,
		   mono_t rx);
/* Data was sent to `slot` directly since the last call: its link is in use and is probed faster. */
void overlay_link_used(struct overlay *o, uint16_t slot);
/* A PING on the direct link to `slot`, now and not when it would be due. */
void overlay_probe(struct overlay *o, uint16_t slot);
/* The kernel or an ICMP error hints that this endpoint is dead: probe now. Never trusted by
 * itself. */
void overlay_link_suspect(struct overlay *o, const struct endpoint *ep);
/* A worker could not relay: tell `source` (rate-limited). */
void overlay_cannot_forward(struct overlay *o, node_id_t source, node_id_t next,
			    node_id_t destination);

/* What this node asks the one of `slot` to keep below, of what it sends straight to here, in kbit/s
 * of IP packets; 0: nothing. It is said in each PONG. */
void overlay_set_share(struct overlay *o, uint16_t slot, uint32_t kbits);

/* --- looking at it --- */
uint32_t overlay_share(const struct overlay *o, uint16_t slot);
/* What that node asks of this one; 0: nothing, or not for long enough. */
uint32_t overlay_asked(const struct overlay *o, uint16_t slot);
struct nodedb *overlay_nodes(struct overlay *o);
/* What of the direct link's delay is ours; NULL: it is down. */
const struct link_load *overlay_load(const struct overlay *o, uint16_t slot);
const struct latdb *overlay_latdb(const struct overlay *o);
/* Path choice to a slot; NULL where there is none. */
const struct choice *overlay_choice(const struct overlay *o, uint16_t slot);
/* What the paths to a slot were worth since it is known; NULL: none so far. */
const struct gain *overlay_gain(const struct overlay *o, uint16_t slot);
/* What was measured along the path in use to a slot; NULL where there is none. */
const struct one_way *overlay_one_way(const struct overlay *o, uint16_t slot);
/* The two paths of critical frames to a slot; NULL where there is none. */
const struct pairing *overlay_pair(const struct overlay *o, uint16_t slot);
/* They are looked at anew at this distance. */
int64_t overlay_pairs_every_ms(const struct overlay *o);
/* Data along relays to a slot: what was compared, and which relays are not taken (slots, their
 * number is returned). */
unsigned overlay_path_data(const struct overlay *o, uint16_t slot, uint64_t *tx, uint64_t *lost,
			   const uint16_t **distrusted);
struct path_params overlay_path_params(struct overlay *o);
/* Do the two ends of this link contradict each other? */
bool overlay_is_suspect(const struct overlay *o, uint16_t from, uint16_t to);
const struct keyring *overlay_keyring(const struct overlay *o);

struct overlay_link {
	bool up, session;
	bool silent;	    /* up, but the last probes are unanswered */
	struct endpoint ep; /* where it is reached; family 0 unknown */
	bool behind_nat;    /* answers from an address that its record does not list */
	struct link_filter filter;
	struct link_load load;
	uint16_t mtu; /* bytes of UDP payload */
	enum link_secret {
		LINK_SECRET_NONE,
		LINK_SECRET_OWN,
		LINK_SECRET_ACCEPTED,
		LINK_SECRET_OTHER, /* none of ours: the session ends, or has ended */
	} secret;
	mono_t session_ends; /* because of that; never: it does not */
	mono_t up_since, last_heard;
	enum seal_cipher cipher; /* of data to it */
	uint32_t probe_ms;	 /* current probe interval */
	uint64_t probes_tx, probes_lost;
	uint64_t silences;	     /* times that it fell silent */
	uint64_t data_tx, data_lost; /* datagrams, as far as both ends compared their counters */
	uint16_t data_loss_pm;	     /* of them lately, where that is avoided; else 0 */
};
bool overlay_link(const struct overlay *o, uint16_t slot, struct overlay_link *out);
/* Another node that uses the node-id of this slot (or of this node); false: none was seen
 * lately. */
struct overlay_rival {
	mono_t seen;
	struct endpoint ep; /* family 0 unknown */
	bool same_identity; /* it has its identity key too: a clone */
	node_id_t by;	    /* the node that says so; NODE_ID_NONE: this node */
};
bool overlay_rival(const struct overlay *o, uint16_t slot, struct overlay_rival *out);
/* Nodes in session that have none of the secrets of this node; up to `max` of them in `id`. Returns
 * how many there are. */
unsigned overlay_estranged(const struct overlay *o, node_id_t *id, unsigned max);
#define SESSION_REVOKED_MS 60000 /* a session without a common secret lasts for so long */

/* Whom the list of trusted identities kept out lately: index 0 to OVERLAY_REFUSALS - 1, in no
 * order; false where the place is empty. */
#define OVERLAY_REFUSALS 64
bool overlay_refusal(const struct overlay *o, unsigned index, node_id_t *id, const uint8_t **key);

struct overlay_counters {
	uint64_t tx_msgs, tx_bytes, rx_msgs, rx_bytes; /* control datagrams, UDP payload bytes */
	uint64_t tx_by_type[16], rx_by_type[16];
	uint64_t rx_not_authentic, rx_replayed, rx_malformed, rx_no_session, rx_stranger,
		rx_rate_limited;
	uint64_t rx_bad_signature, rx_other_identity, rx_not_trusted, rx_foreign_rows;
	uint64_t key_exchanges; /* X25519 computed: for those who showed a value of ours */
	uint64_t path_runs, path_run_ns_max;
};
const struct overlay_counters *overlay_counters(const struct overlay *o);

/* Fills node[] (ids, endpoints, link and path MTU, paths, keys) of a snapshot with room for all
 * slots. */
void overlay_fill_snap(struct overlay *o, struct snap *s);

/*
 * One ping along exactly these hops (node-ids, last one answers; back along the reversed list).
 * fn runs once: rtt_us >= 0, or -ETIMEDOUT, or -ENOKEY where there is no session with the last hop.
 */
typedef void (*overlay_ping_fn)(void *arg, int64_t rtt_us);
void overlay_ping(struct overlay *o, const node_id_t *hop, unsigned n_hops, uint16_t size,
		  uint32_t timeout_ms, overlay_ping_fn fn, void *arg);
/* Drops callbacks that would still be called with this arg. */
void overlay_ping_cancel(struct overlay *o, void *arg);
