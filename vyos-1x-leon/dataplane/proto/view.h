// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * State of an overlay for commands, metrics and snapshots. view.c defines most functions, and the
 * module of the subject the others. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "crypto/seal.h"
#include "state/latency/latdb.h"
#include "state/rates/link_load.h"

struct choice;
struct gain;
struct keyring;
struct nodedb;
struct one_way;
struct overlay;
struct overlay_counters;
struct pairing;
struct path;
struct path_params;
struct snap;

/* True if a node in session receives datagrams of this node from the source address. */
bool overlay_is_observed_at(const struct overlay *o, const struct ip_addr *ip);
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
/* Rate that the second line may carry beside the line in use, in kbit/s. */
uint32_t overlay_second_kbits(const struct overlay *o);
/* Rate limit that this node requests from the node, or 0. */
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
/* Returns the one-way values of the direct link to the slot, or NULL. */
const struct one_way *overlay_link_ways(const struct overlay *o, uint16_t slot);
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
/* Evaluates a path of this node as its choice does: with the cost of an excluded relay. */
void overlay_path_evaluate(struct overlay *o, struct path *p);
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
	uint64_t probes_tx, probes_lost;
	uint64_t silences;	     /* number of unresponsive periods */
	uint64_t data_tx, data_lost; /* datagrams by comparison of both ends' counters */
	bool segmentation_broken;    /* convicted: data is sent without UDP segmentation */
	uint16_t data_loss_pm;	     /* recent data loss of an avoided link, or 0 */
};
bool overlay_link(const struct overlay *o, uint16_t slot, struct overlay_link *out);
/* Current interval of PINGs, or 0. */
uint32_t overlay_probe_ms(const struct overlay *o, uint16_t slot);
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

const struct overlay_counters *overlay_counters(const struct overlay *o);

/* Fills node[] (ids, endpoints, link and path MTU, paths, keys) of a snapshot with room for all
 * slots. */
void overlay_fill_snap(struct overlay *o, struct snap *s);
