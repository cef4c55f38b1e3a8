// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Overlays of the daemon's own proto/ on virtual time, one for each host of a trace, joined by an
 * Internet whose delays are the trace's. What the workers do in production with control datagrams
 * for others is done here the same way. Failures are injected: hosts and links that are dead for a
 * while. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/loop.h"
#include "proto/overlay.h"
#include "trace.h"

#define PACKET_KINDS 3

struct net_node {
	struct net *net;
	unsigned index;
	node_id_t id;
	struct endpoint ep;
	struct conf *conf;
	struct overlay *o;
	bool dead;
	uint64_t link_downs, failovers, path_events;
	uint64_t tx_bytes; /* with IP and UDP */
};

struct net {
	struct loop *loop;
	struct trace *trace;
	mono_t start; /* of the trace; before: its first slice */
	unsigned n;
	struct net_node *node;
	bool *dead;	/* [a * n + b]: that way */
	uint16_t *slot; /* the same: of b at a, when it was last asked for */
	bool all_traffic;
	struct timer *traffic;
	struct packet *idle[PACKET_KINDS];
};

/* conf_text: a configuration as leond has it, of which measurement, path and transit count; NULL:
 * the defaults. NULL with a sentence in err where it is refused. */
struct net *net_new(struct trace *t, const char *conf_text, uint64_t seed, char *err,
		    unsigned err_len);
void net_free(struct net *n);

/* Boots all and runs until all reach all, or a minute has passed; then the trace begins. */
void net_settle(struct net *n, int64_t warm_up_ms);
void net_run(struct net *n, int64_t us);
int64_t net_now_us(const struct net *n); /* since the start of the trace */

void net_kill(struct net *n, unsigned node, bool dead);
void net_cut(struct net *n, unsigned a, unsigned b, bool dead);

/* The choice of node a for b; NULL: none yet. */
const struct choice *net_choice(const struct net *n, unsigned a, unsigned b);
/* A path of slots of node a as hosts; false where it has one that is gone. */
bool net_hops(const struct net *n, unsigned a, const struct path *p, unsigned *hop);
uint16_t net_slot(const struct net *n, unsigned at, unsigned of);
