// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `metrics`: the Prometheus text format (version 0.0.4) with Prometheus base units (seconds, bytes,
 * ratios). Counters count since the start and ignore `reset statistics`, because a scraper
 * interprets a decrease as a restart. Control thread.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/defs.h"
#include "base/log.h"
#include "base/version.h"
#include "daemon/accel/accel_queues.h"
#include "daemon/accel/accel_reports.h"
#include "daemon/control/command.h"
#include "daemon/control/counters.h"
#include "daemon/control/metrics_out.h"
#include "daemon/leond.h"
#include "daemon/report/event_log.h"
#include "daemon/routes/announcer.h"
#include "daemon/routes/kernel_routes.h"
#include "daemon/underlay/reach.h"

/* --- metrics per member --- */

/* Writes the sample of one node, or nothing if the value is unknown. */
typedef void (*node_fn)(struct out *o, const char *name, const struct node *n);

static void put_per_node(struct out *o, const char *name, const char *type, const char *help,
			 node_fn fn)
{
	put_head(o, name, type, help);
	for (const struct node *n = NULL; (n = nodedb_next(overlay_nodes(o->d->overlay), n));)
		fn(o, name, n);
}

static void node_reachable(struct out *o, const char *name, const struct node *n)
{
	put_node_sample(o, name, n);
	put_u64(o, n->state == NODE_REACHABLE);
}

static bool link_of(struct out *o, const struct node *n, struct overlay_link *l)
{
	return overlay_link(o->d->overlay, n->slot, l);
}

static void link_is_up(struct out *o, const char *name, const struct node *n)
{
	struct overlay_link l;

	if (!link_of(o, n, &l))
		return;
	put_node_sample(o, name, n);
	put_u64(o, l.up);
}

static void link_silences(struct out *o, const char *name, const struct node *n)
{
	struct overlay_link l;

	if (!link_of(o, n, &l))
		return;
	put_node_sample(o, name, n);
	put_u64(o, l.silences);
}

static void link_rtt(struct out *o, const char *name, const struct node *n)
{
	struct overlay_link l;

	if (!link_of(o, n, &l) || !l.up || l.filter.n_samples == 0)
		return;
	put_node_sample(o, name, n);
	put_seconds(o, (uint64_t)l.filter.now_us);
}

static void link_variation(struct out *o, const char *name, const struct node *n)
{
	struct overlay_link l;

	if (!link_of(o, n, &l) || !l.up || l.filter.n_samples == 0)
		return;
	put_node_sample(o, name, n);
	put_seconds(o, (uint64_t)l.filter.variation_us);
}

static void link_loss(struct out *o, const char *name, const struct node *n)
{
	struct overlay_link l;

	if (!link_of(o, n, &l) || l.filter.n_samples == 0)
		return;
	put_node_sample(o, name, n);
	fprintf(o->f, "} %u.%03u\n", l.filter.loss_pm / 1000, l.filter.loss_pm % 1000);
}

static void link_data_compared(struct out *o, const char *name, const struct node *n)
{
	struct overlay_link l;

	if (!link_of(o, n, &l))
		return;
	put_node_sample(o, name, n);
	fprintf(o->f, "} %llu\n", (unsigned long long)l.data_tx);
}

static void link_data_lost(struct out *o, const char *name, const struct node *n)
{
	struct overlay_link l;

	if (!link_of(o, n, &l))
		return;
	put_node_sample(o, name, n);
	fprintf(o->f, "} %llu\n", (unsigned long long)l.data_lost);
}

static void path_data_lost(struct out *o, const char *name, const struct node *n)
{
	uint64_t tx, lost;
	const uint16_t *relay;

	overlay_path_data(o->d->overlay, n->slot, &tx, &lost, &relay);
	put_node_sample(o, name, n);
	fprintf(o->f, "} %llu\n", (unsigned long long)lost);
}

static void link_is_sealed(struct out *o, const char *name, const struct node *n)
{
	struct overlay_link l;

	if (!link_of(o, n, &l) || !l.session)
		return;
	put_node_sample(o, name, n);
	put_u64(o, l.cipher != SEAL_NONE);
}

static void link_is_ipsec(struct out *o, const char *name, const struct node *n)
{
	struct overlay_link l;

	if (!link_of(o, n, &l) || !l.ep.ip.family)
		return;
	put_node_sample(o, name, n);
	put_u64(o, ipsec_protects(&o->d->ipsec, &l.ep.ip, loop_now(o->d->loop)));
}

static void link_mtu(struct out *o, const char *name, const struct node *n)
{
	struct overlay_link l;

	if (!link_of(o, n, &l) || l.mtu == 0)
		return;
	put_node_sample(o, name, n);
	put_u64(o, l.mtu);
}

static const struct choice *choice_of(struct out *o, const struct node *n)
{
	const struct choice *c = overlay_choice(o->d->overlay, n->slot);

	return c && path_works(&c->path) ? c : NULL;
}

static void path_latency(struct out *o, const char *name, const struct node *n)
{
	const struct choice *c = choice_of(o, n);

	if (!c)
		return;
	put_node_sample(o, name, n);
	put_seconds(o, c->path.rtt_us);
}

static void path_hops(struct out *o, const char *name, const struct node *n)
{
	const struct choice *c = choice_of(o, n);

	if (!c)
		return;
	put_node_sample(o, name, n);
	put_u64(o, c->path.n_hops);
}

static void path_changes(struct out *o, const char *name, const struct node *n)
{
	const struct choice *c = overlay_choice(o->d->overlay, n->slot);

	if (!c)
		return;
	put_node_sample(o, name, n);
	put_u64(o, c->n_changes);
}

/* Value of the path in use, or of the direct link if it has none yet. */
static void mean_latency(struct out *o, const char *name, const struct node *n, bool direct)
{
	const struct gain *g = overlay_gain(o->d->overlay, n->slot);
	struct gain sum = { 0 };

	if (g)
		gain_add(&sum, g, o->now);
	if (!sum.both_ms)
		return;
	put_node_sample(o, name, n);
	put_seconds(o, direct ? gain_direct_us(&sum) : gain_used_us(&sum));
}

static void path_mean_latency(struct out *o, const char *name, const struct node *n)
{
	mean_latency(o, name, n, false);
}

static void path_mean_direct_latency(struct out *o, const char *name, const struct node *n)
{
	mean_latency(o, name, n, true);
}

static const struct one_way *directions_of(struct out *o, const struct node *n)
{
	const struct one_way *w = overlay_one_way(o->d->overlay, n->slot);

	return w && one_way_is_known(w, o->now) ? w : NULL;
}

static void put_us(struct out *o, const char *name, const struct node *n, int64_t us)
{
	put_node_sample(o, name, n);
	put_seconds(o, us > 0 ? (uint64_t)us : 0);
}

static void path_jitter(struct out *o, const char *name, const struct node *n)
{
	const struct one_way *w = directions_of(o, n);

	if (w)
		put_us(o, name, n, w->jitter_us);
}

static void path_forward_variation(struct out *o, const char *name, const struct node *n)
{
	const struct one_way *w = directions_of(o, n);

	if (w)
		put_us(o, name, n, w->forward.beyond_us);
}

static void path_return_variation(struct out *o, const char *name, const struct node *n)
{
	const struct one_way *w = directions_of(o, n);

	if (w)
		put_us(o, name, n, w->reverse.beyond_us);
}

static void critical_paths(struct out *o, const char *name, const struct node *n)
{
	const struct pairing *p = overlay_pair(o->d->overlay, n->slot);

	if (!p || p->state == PAIR_OFF)
		return;
	put_node_sample(o, name, n);
	put_u64(o, p->state == PAIR_TWICE ? 2 : 1);
}

static void put_nodes(struct out *o)
{
	put_per_node(o, "node_reachable", "gauge", "1 if a path leads to the node.",
		     node_reachable);
	put_per_node(o, "link_up", "gauge", "1 if the direct link to the node works.", link_is_up);
	put_per_node(o, "link_silences_total", "counter",
		     "Silences of the direct link: unanswered probes that increased its cost.",
		     link_silences);
	put_per_node(o, "link_rtt_seconds", "gauge", "Smoothed round-trip time of the direct link.",
		     link_rtt);
	put_per_node(o, "link_rtt_variation_seconds", "gauge",
		     "Smoothed mean deviation of the direct link's round-trip time.",
		     link_variation);
	put_per_node(o, "link_loss_ratio", "gauge", "Smoothed loss of probes on the direct link.",
		     link_loss);
	put_per_node(o, "link_data_compared_total", "counter",
		     "Data datagrams sent on the direct link and compared by both ends.",
		     link_data_compared);
	put_per_node(o, "link_data_lost_total", "counter",
		     "Data datagrams compared by both ends of the direct link that did not arrive.",
		     link_data_lost);
	put_per_node(o, "path_data_lost_total", "counter",
		     "Data datagrams to the node lost on paths through relays.", path_data_lost);
	put_per_node(o, "link_mtu_bytes", "gauge", "Largest datagram that the direct link carries.",
		     link_mtu);
	put_per_node(o, "node_sealed", "gauge",
		     "1 if frames to and from the node are encrypted end to end.", link_is_sealed);
	put_per_node(o, "link_ipsec", "gauge", "1 if IPsec protects the direct link.",
		     link_is_ipsec);
	put_per_node(o, "path_latency_seconds", "gauge", "Round-trip time of the path in use.",
		     path_latency);
	put_per_node(o, "path_hops", "gauge", "Hops of the path in use, 1 is direct.", path_hops);
	put_per_node(o, "path_changes_total", "counter", "Changes of the path in use.",
		     path_changes);
	put_per_node(
		o, "path_mean_latency_seconds", "gauge",
		"Mean round-trip time of the path in use since the start, while the direct link "
		"worked.",
		path_mean_latency);
	put_per_node(o, "path_mean_direct_latency_seconds", "gauge",
		     "Mean round-trip time of the direct link in the same periods.",
		     path_mean_direct_latency);
	put_per_node(o, "path_jitter_seconds", "gauge",
		     "Mean difference between consecutive round-trip times of the path in use.",
		     path_jitter);
	put_per_node(o, "path_forward_variation_seconds", "gauge",
		     "One-way delay to the node above its recent minimum.", path_forward_variation);
	put_per_node(o, "path_return_variation_seconds", "gauge",
		     "One-way delay from the node above its recent minimum.",
		     path_return_variation);
	put_per_node(o, "critical_paths", "gauge",
		     "Number of paths that carry critical frames to the node at a time.",
		     critical_paths);
}

/* --- the packet path --- */

static void put_counters(struct out *o)
{
	uint64_t counter[N_COUNTERS], drop[N_DROPS];
	char name[64];

	fwd_stats(o->d->fwd, counter, drop);
	for (unsigned i = 0; i < N_COUNTERS; i++) {
		snprintf(name, sizeof(name), "%s_total", counter_name((enum counter)i));
		put_counter(o, name, counter_text((enum counter)i), counter[i]);
	}
	put_head(o, "drops_total", "counter", "Discarded frames and datagrams by reason.");
	for (unsigned i = 0; i < N_DROPS; i++) {
		put_sample(o, "drops_total");
		put_label(o, "reason", drop_name((enum drop_reason)i));
		put_u64(o, drop[i]);
	}
}

/* VLANs with flooded frames. */
static void put_per_vlan(struct out *o, const char *name, const char *help, size_t field)
{
	struct fwd_vlan counted;
	char number[8];

	put_head(o, name, "counter", help);
	for (uint16_t vlan = 0; vlan < VLAN_IDS; vlan++) {
		fwd_vlan(o->d->fwd, vlan, &counted);
		if (!counted.flooded && !counted.limited)
			continue;
		snprintf(number, sizeof(number), "%u", vlan);
		put_sample(o, name);
		put_label(o, "vlan", number);
		put_u64(o, *(const uint64_t *)((const char *)&counted + field));
	}
}

static void put_segments(struct out *o)
{
	put_per_vlan(o, "vlan_flooded_total", "Frames flooded to the nodes with the VLAN.",
		     offsetof(struct fwd_vlan, flooded));
	put_per_vlan(o, "vlan_pruned_total",
		     "Copies of flooded frames not sent, because the node does not serve the VLAN.",
		     offsetof(struct fwd_vlan, pruned));
	put_per_vlan(o, "vlan_limited_total", "Frames above storm-control per-vlan.",
		     offsetof(struct fwd_vlan, limited));
}

static void put_control(struct out *o)
{
	const struct overlay_counters *c = overlay_counters(o->d->overlay);
	const struct {
		const char *reason;
		uint64_t n;
	} refused[] = {
		{ "not_authentic", c->rx_not_authentic },
		{ "replayed", c->rx_replayed },
		{ "malformed", c->rx_malformed },
		{ "no_session", c->rx_no_session },
		{ "stranger", c->rx_stranger },
		{ "rate_limited", c->rx_rate_limited },
		{ "bad_signature", c->rx_bad_signature },
		{ "other_identity", c->rx_other_identity },
		{ "not_trusted", c->rx_not_trusted },
	};

	put_counter(o, "control_tx_messages_total", "Control messages sent.", c->tx_msgs);
	put_counter(o, "control_tx_bytes_total", "Bytes of control messages sent.", c->tx_bytes);
	put_counter(o, "control_rx_messages_total", "Control messages received.", c->rx_msgs);
	put_counter(o, "control_rx_bytes_total", "Bytes of control messages received.",
		    c->rx_bytes);
	put_head(o, "control_refused_total", "counter", "Control messages refused by reason.");
	for (size_t i = 0; i < array_size(refused); i++) {
		put_sample(o, "control_refused_total");
		put_label(o, "reason", refused[i].reason);
		put_u64(o, refused[i].n);
	}
}

static void put_routes(struct out *o)
{
	const struct announce *own = announcer_view(o->d);
	struct prefix announced[MSG_PREFIXES_MAX];
	struct routes_view v;
	unsigned n_wanted, n_refused, n_failed = 0;

	routes_view(o->d, &v);
	rib_routes(v.plan, &n_wanted);
	rib_refusals(v.plan, &n_refused);
	for (unsigned i = 0; i < v.n_installed; i++)
		n_failed += v.installed[i].error != 0;
	put_gauge(o, "routes", "Routes installed in the kernel.", v.n_installed - n_failed);
	put_gauge(o, "routes_wanted", "Routes to be installed in the kernel.", n_wanted);
	put_gauge(o, "routes_failed", "Routes refused by the kernel.", n_failed);
	put_gauge(o, "routes_not_used", "Addresses and prefixes announced and not used.",
		  n_refused);
	put_gauge(o, "prefixes", "Prefixes configured for announcement.", own->n);
	put_gauge(o, "prefixes_announced", "Configured prefixes with a route, announced now.",
		  announce_list(own, announced));
	put_counter(o, "routes_added_total", "Routes added.", v.added);
	put_counter(o, "routes_changed_total", "Routes given another metric or gateway.",
		    v.changed);
	put_counter(o, "routes_withdrawn_total", "Routes withdrawn.", v.withdrawn);
	put_counter(o, "routes_repaired_total",
		    "Routes installed again after another program removed the route.", v.repaired);
	put_counter(o, "routes_refused_total", "Route changes refused by the kernel.", v.failed);
	put_counter(
		o, "control_withheld_total",
		"Control messages not sent, because the route to the destination leads into the "
		"overlay.",
		v.withheld);
}

static void put_peers(struct out *o)
{
	struct reach r;

	put_head(o, "peer_reached", "gauge", "1 where a configured peer is in session.");
	for (uint32_t i = 0; i < o->d->n_configured_peers && i < o->d->n_seeds; i++) {
		reach_look(o->d, i, &r);
		if (r.peer->disable)
			continue;
		put_sample(o, "peer_reached");
		put_label(o, "peer", r.peer->name);
		put_label(o, "result", r.seed.reached ? "" : reach_diagnosis_name(r.best));
		put_u64(o, r.seed.reached);
	}
}

static void put_daemon(struct out *o)
{
	struct leond *d = o->d;
	int64_t uptime_us = mono_sub_us(loop_now(d->loop), d->started);
	char id[NODE_ID_STRLEN];

	put_head(o, "info", "gauge", "This node; always 1.");
	put_sample(o, "info");
	put_label(o, "version", leon_version);
	put_label(o, "node_id", node_id_format(d->self, id, sizeof(id)));
	put_label(o, "name", d->conf->node_name);
	put_u64(o, 1);
	put_head(o, "uptime_seconds", "gauge", "Time since the start of the daemon.");
	put_sample(o, "uptime_seconds");
	put_seconds(o, (uint64_t)uptime_us);
	put_gauge(o, "nodes", "Members of the overlay, including this node.",
		  nodedb_members(overlay_nodes(d->overlay)));
	put_gauge(o, "trusted_identities",
		  "Entries of trusted-identity. 0: any node with the secret is a member.",
		  d->conf->n_trusted);
	put_gauge(o, "fdb_entries", "Entries of the forwarding database.", fdb_count(d->fdb));
	put_gauge(o, "fdb_maximum_entries", "Limit of the forwarding database.",
		  fdb_maximum(d->fdb));
	put_gauge(o, "neighbors", "Neighbors known for ARP and ND suppression.",
		  neigh_count(d->neigh));
	put_gauge(o, "loop_guard_blocked", "1 if the loop guard stops forwarding.",
		  guard_state(&d->guard) == GUARD_BLOCKED);
	put_gauge(o, "loop_guard_vlans_forwarded",
		  "VLANs that this node forwards and shares with another node on the LAN.",
		  guard_count(&d->guard, GUARD_SHARED));
	put_gauge(o, "loop_guard_vlans_blocked", "VLANs forwarded by another node on the LAN.",
		  guard_count(&d->guard, GUARD_BLOCKED));
	put_gauge(o, "local_loop", "1 if frames of this node return over the local segment.",
		  d->guard.local_loop);
	put_gauge(o, "interface_mtu_bytes", "MTU of the interface.", d->device.rule.mtu);
	put_gauge(o, "reassembly_bytes", "Memory held by reassembly.",
		  fwd_reassembly_bytes(d->fwd));
	put_gauge(o, "resident_memory_bytes", "Resident memory of the daemon.", resident_bytes());
	/* For comparison with rate(leon_critical_extra_bytes_total[5m]). */
	if (d->conf->policy.duplicate)
		put_gauge(o, "critical_budget_bytes_per_second",
			  "Rate limit of second copies of critical frames.",
			  (uint64_t)d->conf->policy.budget_kbits * 125);
	put_counter(o, "events_total", "Events since the start.", events_total(d->events));
}

/* --- acceleration --- */

static void put_directions(struct out *o, const char *name, const char *help, uint64_t out,
			   uint64_t in)
{
	put_head(o, name, "counter", help);
	put_sample(o, name);
	put_label(o, "direction", "out");
	put_u64(o, out);
	put_sample(o, name);
	put_label(o, "direction", "in");
	put_u64(o, in);
}

static void put_milliseconds(struct out *o, const char *name, const char *help, uint64_t ms)
{
	put_head(o, name, "counter", help);
	put_sample(o, name);
	put_seconds(o, ms * 1000);
}

static void accelerator_reached(struct out *o, const char *name, const struct node *n)
{
	struct accel_node counted;

	if (!accel_reports_node(o->d, n->id, &counted))
		return;
	put_node_sample(o, name, n);
	put_u64(o, counted.reached);
}

static void accelerator_bypassed(struct out *o, const char *name, const struct node *n)
{
	if (!accel_queues_reach(o->d, n->slot))
		return;
	put_node_sample(o, name, n);
	put_u64(o, accel_queues_bypassed(o->d, n->slot));
}

static void put_plain(struct out *o, const struct accel_totals *t)
{
	put_head(o, "accel_plain", "gauge", "Followed TCP connections not intercepted, by reason.");
	for (enum accel_reason reason = ACCEL_REASON_NONE + 1; reason < ACCEL_N_REASONS; reason++) {
		put_sample(o, "accel_plain");
		put_label(o, "reason", accel_reason_word(reason));
		put_u64(o, t->plain[reason]);
	}
}

static void put_kinds(struct out *o, const struct accel_totals *t)
{
	put_head(o, "accel_misuse_total", "counter",
		 "Refused frames and messages of other members.");
	for (enum accel_misuse i = 0; i < ACCEL_N_MISUSES; i++) {
		put_sample(o, "accel_misuse_total");
		put_label(o, "kind", accel_misuse_word(i));
		put_u64(o, t->misuse[i]);
	}
	put_head(o, "accel_fault_total", "counter",
		 "Reasons why connections stayed plain or were reset.");
	for (enum accel_fault i = 0; i < ACCEL_N_FAULTS; i++) {
		put_sample(o, "accel_fault_total");
		put_label(o, "kind", accel_fault_word(i));
		put_u64(o, t->fault[i]);
	}
}

static void put_accelerator(struct out *o, const struct accel_totals *t)
{
	put_gauge(o, "accel_tracked", "TCP connections followed by leon-accel.", t->tracked);
	put_gauge(o, "accel_fast_enough",
		  "Followed TCP connections not intercepted, because the estimate shows no gain.",
		  t->plain[ACCEL_REASON_FAST]);
	put_plain(o, t);
	put_gauge(o, "accel_connections", "TCP connections intercepted now.", t->intercepted_now);
	put_gauge(o, "accel_held_bytes", "Bytes of frames held during takeovers and releases.",
		  t->held);
	put_gauge(o, "accel_undelivered_bytes",
		  "Bytes acknowledged to a sending host and possibly not delivered yet.",
		  t->undelivered);
	put_counter(o, "accel_intercepted_total", "TCP connections intercepted since the start.",
		    t->intercepted);
	put_counter(o, "accel_released_total", "Intercepted TCP connections released to the hosts.",
		    t->returned);
	put_counter(o, "accel_reset_total", "Intercepted TCP connections reset.", t->reset);
	put_counter(o, "accel_refused_total",
		    "Offers of other accelerators refused by this accelerator.", t->refused);
	put_counter(
		o, "accel_held_dropped_total",
		"Frames dropped instead of held, because the memory for held frames is used up.",
		t->held_dropped);
	put_counter(o, "accel_queue_full_total",
		    "Frames dropped because the queue to leond was full.", t->queue_full);
	put_kinds(o, t);
	put_directions(o, "accel_bytes_total", "Bytes of hosts carried by accelerators.",
		       t->bytes.out, t->bytes.in);
	put_directions(o, "accel_carried_bytes_total",
		       "Bytes of hosts after compression, as carried by accelerators.",
		       t->bytes.carried_out, t->bytes.carried_in);
	put_milliseconds(o, "accel_with_seconds_total",
			 "Time in which data of intercepted connections flowed.", t->time.with_ms);
	put_milliseconds(o, "accel_without_seconds_total",
			 "Estimated minimum time for the same data without acceleration.",
			 t->time.without_ms);
	put_per_node(o, "accel_reached", "gauge",
		     "1 where there is a carrier to the accelerator of the node.",
		     accelerator_reached);
	put_per_node(o, "accel_bypassed", "gauge",
		     "1 where TCP to and from the node, which is near, goes past leon-accel.",
		     accelerator_bypassed);
}

static void put_acceleration(struct out *o)
{
	const struct accel_totals *t = accel_reports_totals(o->d);

	if (!o->d->conf->acceleration)
		return;
	put_gauge(o, "accel_up", "1 where leon-accel is there.", t != NULL);
	if (t)
		put_accelerator(o, t);
}

enum command_result show_metrics(struct command *c)
{
	struct out o = { .d = c->d, .now = c->now };
	char *text = NULL;
	size_t len = 0;

	o.f = open_memstream(&text, &len);
	if (!o.f)
		bug("out of memory for metrics");
	put_daemon(&o);
	put_nodes(&o);
	put_peers(&o);
	put_control(&o);
	put_routes(&o);
	put_counters(&o);
	put_segments(&o);
	put_queues(&o);
	put_next_hop_queues(&o);
	put_acceleration(&o);
	fclose(o.f);
	jsonw_str(c->w, "content_type", "text/plain; version=0.0.4");
	jsonw_str(c->w, "text", text);
	free(text);
	return CMD_DONE;
}
