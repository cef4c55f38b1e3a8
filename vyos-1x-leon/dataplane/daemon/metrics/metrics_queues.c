// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `metrics`: the queue between TAP and overlay, and its rate limits. Control thread.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "daemon/leond.h"
#include "daemon/metrics/metrics_out.h"
#include "fwd/fwd.h"
#include "io/tap.h"
#include "proto/view.h"

static struct fwd_queue all_queues(const struct leond *d)
{
	struct fwd_queue all = { 0 }, q;

	for (unsigned i = 0; i < d->tap->n_queues; i++) {
		fwd_queue(d->fwd, i, &q);
		all.waits_us += q.waits_us;
		for (unsigned k = 0; k < FWD_WAITS; k++)
			all.waits[k] += q.waits[k];
	}
	return all;
}

static void put_figure(struct out *o, const struct fwd_queue *q, size_t field)
{
	bool is_time = field == offsetof(struct fwd_queue, waits_us);

	(is_time ? put_seconds : put_u64)(o, *(const uint64_t *)((const char *)q + field));
}

static void put_tier(struct out *o, const char *name, unsigned tier)
{
	put_sample(o, name);
	put_label(o, "tier", fwd_tier_name((enum fwd_tier)tier));
}

static void put_hop(struct out *o, const char *name, unsigned slot)
{
	put_node_sample(o, name, nodedb_at(overlay_nodes(o->overlay), (uint16_t)slot));
}

struct queue_of {
	unsigned index; /* tier or slot */
	struct fwd_queue q;
};

/* Metrics of each of n queues of a kind; `whose` names the kind in the help text. */
static void put_figures(struct out *o, const char *kind, const char *whose,
			void (*put)(struct out *o, const char *name, unsigned index),
			const struct queue_of *queue, unsigned n)
{
	static const struct {
		const char *name, *type, *what, *more;
		size_t field;
	} figure[] = {
		{ "bytes", "gauge", "Bytes that wait", "",
		  offsetof(struct fwd_queue, backlog_bytes) },
		{ "frames_total", "counter", "Frames queued", "",
		  offsetof(struct fwd_queue, sent) },
		{ "wait_seconds_total", "counter", "Queueing delay of frames", ", summed",
		  offsetof(struct fwd_queue, waits_us) },
		{ "marked_total", "counter", "Frames queued", ", marked (ECN)",
		  offsetof(struct fwd_queue, marked) },
		{ "late_total", "counter", "Frames",
		  ", dropped by CoDel for exceeding the target delay",
		  offsetof(struct fwd_queue, late) },
		{ "full_total", "counter", "Frames",
		  ", dropped from the flow with the largest backlog, because the queue was full",
		  offsetof(struct fwd_queue, full) },
	};
	char name[64], help[128];

	for (size_t i = 0; i < array_size(figure); i++) {
		snprintf(name, sizeof(name), "%s_%s", kind, figure[i].name);
		snprintf(help, sizeof(help), "%s %s%s.", figure[i].what, whose, figure[i].more);
		put_head(o, name, figure[i].type, help);
		for (unsigned k = 0; k < n; k++) {
			put(o, name, queue[k].index);
			put_figure(o, &queue[k].q, figure[i].field);
		}
	}
}

static void put_tiers(struct out *o)
{
	struct queue_of queue[FWD_TIERS];

	for (unsigned i = 0; i < FWD_TIERS; i++) {
		queue[i].index = i;
		fwd_queue_tier(o->d->fwd, (enum fwd_tier)i, &queue[i].q);
	}
	put_figures(o, "queue_tier", "there, by tier", put_tier, queue, FWD_TIERS);
}

/* Nodes with a rate limit. The counters of all workers are read once. */
static void put_hops(struct out *o)
{
	struct nodedb *nodes = overlay_nodes(o->overlay);
	struct queue_of *queue = x_calloc(nodedb_members(nodes), sizeof(*queue));
	unsigned n_queues = 0;

	for (const struct node *n = NULL; (n = nodedb_next(nodes, n));) {
		if (!fwd_hop_kbits(o->d->fwd, n->slot))
			continue;
		queue[n_queues].index = n->slot;
		fwd_queue_hop(o->d->fwd, n->slot, &queue[n_queues++].q);
	}
	put_figures(o, "next_hop_queue", "for the node", put_hop, queue, n_queues);
	free(queue);
}

void put_queues(struct out *o)
{
	struct fwd_queue q = all_queues(o->d);
	struct fwd_waits socket = { 0 };
	uint64_t below = 0;
	char bound[32];

	put_head(o, "queue_wait_seconds", "histogram",
		 "Queueing delay of frames between the TAP and the overlay, in all tiers.");
	for (unsigned i = 0; i < FWD_WAITS; i++) {
		below += q.waits[i];
		snprintf(bound, sizeof(bound), "%u.%06u", (1u << i) / 1000000, (1u << i) % 1000000);
		put_labelled(o, "queue_wait_seconds_bucket", "le",
			     i == FWD_WAITS - 1 ? "+Inf" : bound, below);
	}
	put_sample(o, "queue_wait_seconds_sum");
	put_seconds(o, q.waits_us);
	put_sample(o, "queue_wait_seconds_count");
	put_u64(o, below);
	for (unsigned i = 0; i < o->d->tap->n_queues; i++)
		fwd_add_socket_waits(o->d->fwd, i, &socket);
	put_head(o, "socket_wait_seconds", "summary",
		 "Queueing delay of received datagrams in the socket, the oldest datagram of each "
		 "batch.");
	put_sample(o, "socket_wait_seconds_sum");
	put_seconds(o, socket.waits_us);
	put_sample(o, "socket_wait_seconds_count");
	put_u64(o, socket.n);
	put_tiers(o);
	put_hops(o);
}
