// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The loop guard as a state machine: what hearing a guard frame on the local segment means.
 * Two nodes of one overlay that share a LAN would forward every broadcast in a circle, so all of
 * them but the one with the lowest node-id stop forwarding between TAP and overlay. No I/O, no
 * clock; control thread. Sending, authenticating and reporting are in loop_guard_io.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"

/* Intervals of silence after which the other node is taken to be gone from the LAN. */
#define GUARD_SILENT_INTERVALS 3

enum guard_state {
	GUARD_OFF,     /* switched off in the configuration */
	GUARD_CLEAR,   /* no other node heard */
	GUARD_SHARED,  /* another node heard, this one keeps forwarding */
	GUARD_BLOCKED, /* a node with a lower node-id heard, this one does not forward */
};
const char *guard_state_name(enum guard_state s); /* "off", "clear", "shared", "blocked" */

/* What the caller has to report or do after a step. Bits. */
enum guard_news {
	GUARD_NO_NEWS = 0,
	GUARD_STATE_CHANGED = 1 << 0, /* state, other and blocked may differ from before */
	GUARD_NEWCOMER = 1 << 1,    /* somebody new: send ours at once (at most once an interval) */
	GUARD_LOOP_BEGINS = 1 << 2, /* our own frame came back over the local segment */
	GUARD_LOOP_ENDS = 1 << 3,
};

struct guard {
	enum guard_state state;
	uint32_t interval_ms;
	node_id_t self;
	node_id_t lower, higher; /* latest heard on either side of our node-id */
	mono_t lower_heard, higher_heard, own_heard, newcomer_at;
	mono_t since; /* of the state */
	bool local_loop;
	uint64_t n_sent, n_heard, n_blocked, n_not_authentic;
};

void guard_init(struct guard *g, node_id_t self, bool enabled, uint32_t interval_ms, mono_t now);
/* A new configuration; switching off forgets what was heard. Returns enum guard_news. */
unsigned guard_configure(struct guard *g, bool enabled, uint32_t interval_ms, mono_t now);
/* An authentic guard frame of `node` (which may be this one) was heard. Returns enum guard_news. */
unsigned guard_heard(struct guard *g, node_id_t node, mono_t now);
/* Time passed: silence ends what was heard. Call at least once an interval. */
unsigned guard_tick(struct guard *g, mono_t now);
/* The node that explains the state, NODE_ID_NONE where there is none. */
node_id_t guard_other(const struct guard *g);
