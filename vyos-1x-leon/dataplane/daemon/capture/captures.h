// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Captures of flows. Control thread. doc/decisions/084.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "state/latency/clocks.h"
#include "wire/flow_capture.h"
#include "wire/message/msg.h"

struct leond;
struct snap_capture;

/* --- provide.c: the capture on this node, for the node that started it --- */
typedef void (*provide_answer_fn)(struct leond *d, node_id_t to, const struct msg *m);

/* A message from the node, which may be this node. `answer` is called during the call. */
void provide_message(struct leond *d, node_id_t from, const struct msg *m,
		     provide_answer_fn answer);
/* Clocks of the direct links with the smallest round-trip times, in order. Returns the number. */
unsigned provide_clocks(struct leond *d, struct msg_clock *clock, unsigned most);
void capture_fill_snap(const struct leond *d, struct snap_capture *out);
/* Ends a capture that the new configuration does not permit. */
void provide_apply_conf(struct leond *d);
void provide_stop(struct leond *d);

/* --- collect.c: the capture of the operator of this node --- */
#define COLLECT_NODES_MAX 64

enum collect_state {
	COLLECT_STARTING,
	COLLECT_RUNNING,
	COLLECT_COMPLETE,
	COLLECT_REFUSED,   /* not permitted there */
	COLLECT_BUSY,	   /* another capture runs there */
	COLLECT_RESTARTED, /* the node no longer knows the capture */
	COLLECT_SILENT,	   /* no answer, or no longer one */
	COLLECT_INVALID,   /* its records are malformed, more than requested, or do not end */
	COLLECT_STATES,
};
const char *collect_state_name(enum collect_state s);

/* A sealed datagram of which a relay is asked for the time. */
struct collect_waiting {
	struct capture_record r; /* of the source */
	uint8_t *bytes;
	mono_t due;
	unsigned tries;
};

struct collect_node {
	node_id_t id, by; /* by: COLLECT_BUSY: node that captures there */
	enum collect_state state;
	bool ended; /* its capture is over, its records may be incomplete here */
	uint32_t have, total, asked;
	uint32_t frames, lost;
	/* datagrams of sources that the relay saw, and did not see */
	uint32_t relayed, unseen;
	uint8_t *tail; /* begin of an incomplete record */
	size_t tail_len;
	bool more; /* ask at once */
	unsigned tries;
	mono_t asked_at, heard_at, clocks_at;
	mono_t moved_at; /* a record arrived, or was not requested */
	unsigned n_clocks, n_waiting, room;
	struct msg_clock clock[MSG_CLOCKS_MAX];
	struct collect_waiting *waiting;
};

struct collected {
	node_id_t node;
	struct capture_record r;
	uint8_t *bytes; /* r.n */
};

struct collect {
	struct leond *d;
	/* To this node too. The answer may arrive during the call. */
	void (*send)(struct collect *c, node_id_t to, const struct msg *m);
	struct timer *timer;
	struct msg_capture_start start;
	bool stopping;
	bool told; /* an answer said that the capture is over */
	mono_t read_at;
	unsigned n_nodes;
	struct collect_node node[COLLECT_NODES_MAX];
	size_t n_ready, next_ready, room; /* records for the operator's program */
	struct collected *ready;
};

/* Starts on the nodes. Returns false if a capture is under way, or is not read to its end. */
bool collect_start(struct leond *d, const struct msg_capture_start *start, const node_id_t *node,
		   unsigned n);
/* Ends the capture on all nodes. The records so far can be read. */
void collect_end(struct leond *d);
/* Frees the capture. */
void collect_stop(struct leond *d);
/* An answer of the node. */
void collect_message(struct leond *d, node_id_t from, const struct msg *m);
/* Returns true if no node has another record. */
bool collect_is_over(const struct collect *c);
/* Clocks of all nodes of the capture relative to this node. */
void collect_clocks(struct collect *c, struct clock_of_node out[COLLECT_NODES_MAX]);

/* collect_nodes.c */

/* Returns NULL if the node takes no part. */
struct collect_node *collect_node_find(struct collect *c, node_id_t id);
/* Sends CAPTURE-START, or the request to end if the capture is stopping. */
void collect_node_start(struct collect *c, struct collect_node *n, mono_t now);
/* Returns false if the operator's program must first take records. */
bool collect_has_room(const struct collect *c);
void collect_node_turn(struct collect *c, struct collect_node *n, mono_t now);
void collect_node_data(struct collect *c, struct collect_node *n, const struct msg_capture_data *m,
		       mono_t now);
void collect_node_seen(struct collect *c, struct collect_node *n,
		       const struct msg_capture_lookup *m, mono_t now);
void collect_node_free(struct collect_node *n);
