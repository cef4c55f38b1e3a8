// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show queues`: backlog, sojourn times, marks and drops between TAP and overlay, per worker, tier
 * and next hop with a rate. Also the time of datagrams in the sockets of each worker, the rate
 * limit requested from each sender, and the rate of the sender. Control thread.
 */
#include "daemon/answer/answer.h"
#include "daemon/leond.h"
#include "daemon/underlay/underlay.h"
#include "fwd/fwd.h"
#include "io/tap.h"
#include "proto/view.h"
#include "state/conf/conf.h"

/* Percentile of sojourn times; null without any. */
static void write_wait(struct jsonw *w, const char *key, const uint64_t waits[FWD_WAITS],
		       unsigned percent)
{
	uint64_t total = 0, below = 0;
	unsigned class = 0;

	for (unsigned i = 0; i < FWD_WAITS; i++)
		total += waits[i];
	while (class < FWD_WAITS - 1 && (below += waits[class]) * 100 < total * percent)
		class ++;
	answer_known(w, key, total != 0, UINT64_C(1) << class);
}

static void write_figures(struct jsonw *w, const struct fwd_queue *q)
{
	jsonw_u64(w, "backlog_bytes", q->backlog_bytes);
	jsonw_u64(w, "backlog_frames", q->backlog_frames);
	jsonw_u64(w, "frames", q->sent);
	write_wait(w, "wait_p50_us", q->waits, 50);
	write_wait(w, "wait_p99_us", q->waits, 99);
	jsonw_u64(w, "marked", q->marked);
	jsonw_u64(w, "dropped_full", q->full);
	jsonw_u64(w, "dropped_late", q->late);
}

static void write_queue(struct command *c, unsigned worker)
{
	struct fwd_queue q;
	struct fwd_waits socket = { 0 };

	fwd_queue(c->d->fwd, worker, &q);
	fwd_add_socket_waits(c->d->fwd, worker, &socket);
	jsonw_object(c->w, NULL);
	jsonw_u64(c->w, "worker", worker);
	write_figures(c->w, &q);
	write_wait(c->w, "socket_wait_p50_us", socket.waits, 50);
	write_wait(c->w, "socket_wait_p99_us", socket.waits, 99);
	jsonw_end(c->w);
}

static void write_tier(struct command *c, enum fwd_tier tier)
{
	struct fwd_queue q;

	fwd_queue_tier(c->d->fwd, tier, &q);
	jsonw_object(c->w, NULL);
	jsonw_str(c->w, "tier", fwd_tier_name(tier));
	jsonw_u64(c->w, "share_percent", fwd_tier_percent(tier));
	write_figures(c->w, &q);
	jsonw_end(c->w);
}

static void write_next_hop(struct command *c, const struct node *n)
{
	uint32_t asked = overlay_requested_kbits(c->overlay, n->slot);
	uint32_t kbits = fwd_hop_kbits(c->d->fwd, n->slot);
	struct fwd_queue q;

	if (!kbits)
		return;
	fwd_queue_hop(c->d->fwd, n->slot, &q);
	answer_begin_node(c->w, "node_id", c->d, n->id);
	jsonw_u64(c->w, "limit_kbits", kbits);
	answer_known(c->w, "requested_kbits", asked != 0, asked);
	write_figures(c->w, &q);
	jsonw_end(c->w);
}

static void write_sender(struct command *c, const struct node *n)
{
	uint32_t kbits = overlay_share(c->overlay, n->slot);

	if (!kbits)
		return;
	answer_begin_node(c->w, "node_id", c->d, n->id);
	jsonw_u64(c->w, "received_kbits", senders_kbits(c->d, n->slot));
	jsonw_u64(c->w, "share_kbits", kbits);
	jsonw_end(c->w);
}

static void write_bottleneck(struct command *c)
{
	const struct bottleneck_view v = bottleneck_view(c->d);
	bool automatic = c->d->conf->shaper_automatic;

	jsonw_object(c->w, "bottleneck");
	jsonw_bool(c->w, "automatic", automatic);
	answer_known(c->w, "limit_kbits", v.limit_kbits != 0, v.limit_kbits);
	jsonw_str(c->w, "state", autorate_state_name(v.rate.state));
	answer_known(c->w, "capacity_kbits", v.rate.kbits != 0, v.rate.kbits);
	answer_known(c->w, "queue_us", automatic, v.load.queue_us);
	answer_known(c->w, "delivered_kbits", automatic, v.load.delivered_kbits);
	jsonw_u64(c->w, "found", v.rate.found);
	jsonw_u64(c->w, "suspensions", v.rate.suspensions);
	jsonw_end(c->w);
}

enum command_result show_queues(struct command *c)
{
	uint32_t kbits = c->d->conf->shaper_egress_kbits;
	uint32_t per_peer = c->d->conf->shaper_per_peer_kbits;
	uint32_t ingress = c->d->conf->shaper_ingress_kbits;

	answer_known(c->w, "shaper_egress_kbits", kbits != 0, kbits);
	answer_known(c->w, "shaper_per_peer_kbits", per_peer != 0, per_peer);
	answer_known(c->w, "shaper_ingress_kbits", ingress != 0, ingress);
	write_bottleneck(c);
	jsonw_array(c->w, "queues");
	for (unsigned i = 0; i < c->d->tap->n_queues; i++)
		write_queue(c, i);
	jsonw_end(c->w);
	jsonw_array(c->w, "tiers");
	for (unsigned i = FWD_TIERS; i-- > 0;)
		write_tier(c, (enum fwd_tier)i);
	jsonw_end(c->w);
	answer_nodes(c, "next_hops", write_next_hop);
	answer_nodes(c, "senders", write_sender);
	return CMD_DONE;
}
