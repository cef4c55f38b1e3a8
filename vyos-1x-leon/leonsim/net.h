// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Overlays of the daemon's own proto/ on virtual time. Each host of a trace has a node, connected
 * by an Internet with the delays of the trace. Control datagrams in transit are relayed here, as
 * workers do in production. Failures are injected: hosts and links that are dead for some time. One
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/loop.h"
#include "proto/overlay.h"
#include "state/latency/path.h"
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
	uint64_t link_downs, failovers;
	uint64_t tx_bytes; /* including IP and UDP headers */
};

struct net {
	struct loop *loop;
	struct trace *trace;
	mono_t start; /* start of the trace; the first slice applies before */
	unsigned n;
	struct net_node *node;
	bool *dead;	/* [a * n + b]: direction a -> b */
	uint16_t *slot; /* [a * n + b]: cached slot of b at a */
	bool all_traffic;
	struct timer *traffic;
	struct packet *idle[PACKET_KINDS];
};

/* conf_text is a configuration of leond, of which measurement, path and transit apply; NULL: the
 * defaults. Returns NULL with a sentence in err if the configuration is refused. */
struct net *net_new(struct trace *t, const char *conf_text, uint64_t seed, char *err,
		    unsigned err_len);
void net_free(struct net *n);

/* Starts all nodes and runs until all reach each other or a minute has passed. Then the trace
 * begins. */
void net_settle(struct net *n, int64_t warm_up_ms);
void net_run(struct net *n, int64_t us);
int64_t net_now_us(const struct net *n); /* since the start of the trace */

void net_cut(struct net *n, unsigned a, unsigned b, bool dead);

/* Returns the path choice of node a for b, NULL if there is none yet. */
const struct choice *net_choice(const struct net *n, unsigned a, unsigned b);
/* Converts a path of slots of node a to hosts. Returns false if a host of the path is gone. */
bool net_hops(const struct net *n, unsigned a, const struct path *p, unsigned *hop);
uint16_t net_slot(const struct net *n, unsigned at, unsigned of);
