// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls of an overlay to its host, and the plain values that both keep. daemon/life/overlay_glue.c
 * and simulations define the calls. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "base/slot_set.h"
#include "crypto/keys.h"
#include "state/event.h"
#include "wire/message/msg.h"

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
	/* These nodes stayed unreachable, left or were forgotten: drop their FDB entries and
	 * neighbors. One call for all nodes of one moment, because it walks both tables. */
	void (*purge)(void *arg, const struct slot_set *gone);
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
	/* A message of a capture from the node. NULL: no data. */
	void (*capture)(void *arg, node_id_t node, const struct msg *m);
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

/* Reasons to refuse a control message. invitation_refused: requests for unknown or used-up
 * invitations. */
#define OVERLAY_RX_REASONS(REASON)                                                                 \
	REASON(not_authentic)                                                                      \
	REASON(replayed)                                                                           \
	REASON(malformed)                                                                          \
	REASON(no_session)                                                                         \
	REASON(stranger)                                                                           \
	REASON(rate_limited)                                                                       \
	REASON(invitation_refused)                                                                 \
	REASON(bad_signature)                                                                      \
	REASON(other_identity)                                                                     \
	REASON(not_trusted)

struct overlay_counters {
	uint64_t tx_msgs, tx_bytes, rx_msgs, rx_bytes; /* control datagrams and UDP payload bytes */
	uint64_t tx_by_type[MSG_TYPES], rx_by_type[MSG_TYPES];
	uint64_t tx_bytes_by_type[MSG_TYPES], rx_bytes_by_type[MSG_TYPES]; /* rx: without HELLO */
#define AS_FIELD(reason) uint64_t rx_##reason;
	OVERLAY_RX_REASONS(AS_FIELD)
#undef AS_FIELD
	uint64_t rx_foreign_rows;
	uint64_t key_exchanges; /* DH operations, for peers that echoed a value of ours */
	uint64_t path_runs, path_run_ns_max;
};
