// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `metrics`: the Prometheus text format (version 0.0.4) with Prometheus base units (seconds, bytes,
 * ratios). Counters count since the start and ignore `reset statistics`, because a scraper
 * interprets a decrease as a restart. Control thread.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/version.h"
#include "daemon/accel/leon_accel.h"
#include "daemon/answer/answer.h"
#include "daemon/device/device.h"
#include "daemon/leond.h"
#include "daemon/metrics/metrics_out.h"
#include "daemon/states.h"
#include "daemon/underlay/underlay.h"
#include "fwd/fwd.h"
#include "io/tap.h"
#include "proto/overlay_ops.h"
#include "proto/view.h"
#include "state/conf/conf.h"

/* --- the packet path --- */

static void put_counters(struct out *o)
{
	uint64_t counter[N_COUNTERS], drop[N_DROPS];
	char name[64];

	fwd_stats(o->d->fwd, counter, drop);
	for (unsigned i = 0; i < N_COUNTERS; i++) {
		snprintf(name, sizeof(name), "%s_total", counter_stats[i].name);
		put_metric(o, name, "counter", COUNT, counter_stats[i].text, counter[i]);
	}
	put_head(o, "drops_total", "counter", "Discarded frames and datagrams by reason.");
	for (unsigned i = 0; i < N_DROPS; i++)
		put_labelled(o, "drops_total", "reason", drop_stats[i].name, drop[i]);
}

/* VLANs with flooded frames. */
static void put_per_vlan(struct out *o, const struct fwd_vlan *counted, const char *name,
			 const char *help, size_t field)
{
	char number[8];

	put_head(o, name, "counter", help);
	for (uint16_t vlan = 0; vlan < VLAN_IDS; vlan++) {
		if (!counted[vlan].flooded && !counted[vlan].limited)
			continue;
		snprintf(number, sizeof(number), "%u", vlan);
		put_labelled(o, name, "vlan", number,
			     *(const uint64_t *)((const char *)&counted[vlan] + field));
	}
}

static void put_segments(struct out *o)
{
	struct fwd_vlan *counted = x_calloc(VLAN_IDS, sizeof(*counted));

	fwd_vlans(o->d->fwd, counted);
	put_per_vlan(o, counted, "vlan_flooded_total", "Frames flooded to the nodes with the VLAN.",
		     offsetof(struct fwd_vlan, flooded));
	put_per_vlan(o, counted, "vlan_pruned_total",
		     "Copies of flooded frames not sent, because the node does not serve the VLAN.",
		     offsetof(struct fwd_vlan, pruned));
	put_per_vlan(o, counted, "vlan_limited_total", "Frames above storm-control per-vlan.",
		     offsetof(struct fwd_vlan, limited));
	free(counted);
}

static void put_control(struct out *o)
{
	const struct overlay_counters *c = overlay_counters(o->overlay);

	put_head(o, "control_refused_total", "counter", "Control messages refused by reason.");
#define AS_PUT(reason) put_labelled(o, "control_refused_total", "reason", #reason, c->rx_##reason);
	OVERLAY_RX_REASONS(AS_PUT)
#undef AS_PUT
}

static void put_peers(struct out *o)
{
	struct reach r;

	put_head(o, "peer_reached", "gauge", "1 where a configured peer is in session.");
	for (uint32_t i = 0; i < o->conf->n_configured_peers; i++) {
		reach_look(o->d, i, &r);
		if (r.peer->disable)
			continue;
		put_sample(o, "peer_reached");
		put_label(o, "peer", r.peer->name);
		put_label(o, "result", r.seed.reached ? "" : reach_diagnosis_name(r.best));
		put_u64(o, r.seed.reached);
	}
}

static void put_lines(struct out *o)
{
	const struct conf_line *line = o->conf->line;

	if (!o->conf->n_lines)
		return;
	put_head(o, "line_present", "gauge", "1 if the line has its interface and address.");
	for (uint8_t i = 0; i < o->conf->n_lines; i++)
		put_labelled(o, "line_present", "line", line[i].name,
			     !o->d->states->lines->line[i].lost);
	put_head(o, "line_links", "gauge", "Links that use the line.");
	for (uint8_t i = 0; i < o->conf->n_lines; i++)
		put_labelled(o, "line_links", "line", line[i].name, lines_links(o->d, i));
}

static void put_daemon(struct out *o)
{
	put_head(o, "info", "gauge", "This node; always 1.");
	put_sample(o, "info");
	put_label(o, "version", leon_version);
	put_label(o, "node_id", NODE_ID_TEXT(o->d->self));
	put_label(o, "name", o->conf->node_name);
	put_label(o, "cipher_library", aead_library());
	put_u64(o, 1);
	put_head(o, "offload_used", "gauge", "1 if the offload is in use.");
	for (unsigned i = 0; i < N_OFFLOADS; i++)
		put_labelled(o, "offload_used", "offload", offload_name(i),
			     offload_unused(o->d, i) == NULL);
}

/* --- acceleration --- */

static void put_directions(struct out *o, const char *name, const char *help, uint64_t out,
			   uint64_t in)
{
	put_head(o, name, "counter", help);
	put_labelled(o, name, "direction", "out", out);
	put_labelled(o, name, "direction", "in", in);
}

static void put_plain(struct out *o, const struct accel_totals *t)
{
	put_head(o, "accel_plain", "gauge", "Followed TCP connections not intercepted, by reason.");
	for (enum accel_reason reason = ACCEL_REASON_NONE + 1; reason < ACCEL_N_REASONS; reason++)
		put_labelled(o, "accel_plain", "reason", accel_reason_word(reason),
			     t->plain[reason]);
}

static void put_kinds(struct out *o, const struct accel_totals *t)
{
	put_head(o, "accel_misuse_total", "counter",
		 "Refused frames and messages of other members.");
	for (enum accel_misuse i = 0; i < ACCEL_N_MISUSES; i++)
		put_labelled(o, "accel_misuse_total", "kind", accel_misuse_word(i), t->misuse[i]);
	put_head(o, "accel_fault_total", "counter",
		 "Reasons why connections stayed plain or were reset.");
	for (enum accel_fault i = 0; i < ACCEL_N_FAULTS; i++)
		put_labelled(o, "accel_fault_total", "kind", accel_fault_word(i), t->fault[i]);
}

static void put_acceleration(struct out *o)
{
	const struct accel_totals *t = accel_reports_totals(o->d);

	if (!o->conf->acceleration || !t)
		return;
	put_plain(o, t);
	put_kinds(o, t);
	put_directions(o, "accel_bytes_total", "Bytes of hosts carried by accelerators.",
		       t->bytes.out, t->bytes.in);
	put_directions(o, "accel_carried_bytes_total",
		       "Bytes of hosts after compression, as carried by accelerators.",
		       t->bytes.carried_out, t->bytes.carried_in);
	put_nodes(o, METRICS_NODE_ACCEL);
}

/* --- the queue between TAP and overlay, and its rate limits --- */

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

static void put_queues(struct out *o)
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

enum command_result show_metrics(struct command *c)
{
	struct out o = { .d = c->d, .conf = c->d->conf, .overlay = c->overlay, .now = c->now };
	char *text = NULL;
	size_t len = 0;

	o.f = open_memstream(&text, &len);
	if (!o.f)
		bug("out of memory for metrics");
	put_daemon(&o);
	put_ones(&o);
	put_nodes(&o, METRICS_NODE);
	put_peers(&o);
	put_lines(&o);
	put_pairs(&o);
	put_control(&o);
	put_counters(&o);
	put_segments(&o);
	put_queues(&o);
	put_acceleration(&o);
	fclose(o.f);
	jsonw_str(c->w, "content_type", "text/plain; version=0.0.4");
	jsonw_str(c->w, "text", text);
	free(text);
	return CMD_DONE;
}
