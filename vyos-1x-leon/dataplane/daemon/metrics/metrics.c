// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `metrics`: the Prometheus text format (version 0.0.4) with Prometheus base units (seconds, bytes,
 * ratios). Counters count since the start and ignore `reset statistics`, because a scraper
 * interprets a decrease as a restart. Control thread.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/version.h"
#include "daemon/accel/accel_queues.h"
#include "daemon/accel/accel_reports.h"
#include "daemon/answer/command.h"
#include "daemon/guard/loop_guard.h"
#include "daemon/metrics/counters.h"
#include "daemon/metrics/metrics_out.h"
#include "daemon/device/offload.h"
#include "daemon/leond.h"
#include "daemon/report/event_log.h"
#include "daemon/routes/announcer.h"
#include "daemon/routes/kernel_routes.h"
#include "daemon/transport/portmap.h"
#include "daemon/underlay/reach.h"
#include "daemon/transport/streams.h"
#include "fwd/fwd.h"
#include "proto/overlay_ops.h"
#include "proto/view.h"

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
	for (unsigned i = 0; i < N_DROPS; i++)
		put_labelled(o, "drops_total", "reason", drop_name((enum drop_reason)i), drop[i]);
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

	put_counter(o, "control_tx_messages_total", "Control messages sent.", c->tx_msgs);
	put_counter(o, "control_tx_bytes_total", "Bytes of control messages sent.", c->tx_bytes);
	put_counter(o, "control_rx_messages_total", "Control messages received.", c->rx_msgs);
	put_counter(o, "control_rx_bytes_total", "Bytes of control messages received.",
		    c->rx_bytes);
	put_head(o, "control_refused_total", "counter", "Control messages refused by reason.");
#define AS_PUT(reason) put_labelled(o, "control_refused_total", "reason", #reason, c->rx_##reason);
	OVERLAY_RX_REASONS(AS_PUT)
#undef AS_PUT
}

static void put_tls(struct out *o)
{
	struct stream_counts n = streams_counts(o->d);

	if (!o->conf->transport_tls)
		return;
	put_gauge(o, "tls_connections", "TLS connections that carry datagrams.",
		  streams_links(o->d));
	put_counter(o, "tls_tx_datagrams_total", "Datagrams sent over TLS.", n.tx_datagrams);
	put_counter(o, "tls_tx_bytes_total", "Bytes sent over TLS.", n.tx_bytes);
	put_counter(o, "tls_tx_dropped_total",
		    "Datagrams dropped because they waited too long for TCP.", n.tx_dropped);
	put_counter(o, "tls_rx_datagrams_total", "Datagrams received over TLS.", n.rx_datagrams);
	put_counter(o, "tls_rx_bytes_total", "Bytes received over TLS.", n.rx_bytes);
	put_counter(o, "tls_accepted_total", "TCP connections accepted.", n.accepted);
	put_counter(o, "tls_refused_total",
		    "TCP connections closed because other strangers had their places.", n.refused);
	put_counter(o, "tls_failed_total", "TLS handshakes that failed.", n.failed);
	put_counter(o, "tls_expired_total", "Connections closed because no member used them.",
		    n.expired);
}

static void put_port_mapping(struct out *o)
{
	struct portmap_view v;

	if (!portmap_view(o->d, &v))
		return;
	put_gauge(o, "port_mapped", "1 if the record of this node has a mapped address.",
		  v.state == PORTMAP_IS_MAPPED);
	put_counter(o, "port_mapping_failures_total",
		    "Attempts to map or renew the port that failed.", v.failures);
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

static void put_offloads(struct out *o)
{
	put_head(o, "offload_used", "gauge", "1 if the offload is in use.");
	for (unsigned i = 0; i < N_OFFLOADS; i++)
		put_labelled(o, "offload_used", "offload", offload_name(i),
			     offload_unused(o->d, i) == NULL);
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
	put_label(o, "cipher_library", aead_library());
	put_u64(o, 1);
	put_metric(o, "uptime_seconds", "gauge", MICROSECONDS,
		   "Time since the start of the daemon.", (uint64_t)uptime_us);
	put_offloads(o);
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
		  guard_state(d->guard) == GUARD_BLOCKED);
	put_gauge(o, "loop_guard_vlans_forwarded",
		  "VLANs that this node forwards and shares with another node on the LAN.",
		  guard_count(d->guard, GUARD_SHARED));
	put_gauge(o, "loop_guard_vlans_blocked", "VLANs forwarded by another node on the LAN.",
		  guard_count(d->guard, GUARD_BLOCKED));
	put_gauge(o, "local_loop", "1 if frames of this node return over the local segment.",
		  d->guard->local_loop);
	put_gauge(o, "interface_mtu_bytes", "MTU of the interface.", d->device.mtu.mtu);
	put_gauge(o, "reassembly_bytes", "Memory held by reassembly.",
		  fwd_reassembly_bytes(d->fwd));
	put_gauge(o, "resident_memory_bytes", "Resident memory of the daemon.", resident_bytes());
	/* For comparison with rate(leon_critical_extra_bytes_total[5m]). */
	if (policy_uses_pairs(&d->conf->policy))
		put_gauge(o, "critical_budget_bytes_per_second",
			  "Rate limit of second copies or parities of critical frames.",
			  (uint64_t)d->conf->policy.budget_kbits * 125);
	put_counter(o, "events_total", "Events since the start.", events_total(d->events));
}

/* --- acceleration --- */

static void put_directions(struct out *o, const char *name, const char *help, uint64_t out,
			   uint64_t in)
{
	put_head(o, name, "counter", help);
	put_labelled(o, name, "direction", "out", out);
	put_labelled(o, name, "direction", "in", in);
}

static void put_accelerators(struct out *o)
{
	struct nodedb *nodes = overlay_nodes(o->overlay);
	struct accel_node counted;

	put_head(o, "accel_reached", "gauge",
		 "1 where there is a carrier to the accelerator of the node.");
	for (const struct node *n = NULL; (n = nodedb_next(nodes, n));) {
		if (!accel_reports_node(o->d, n->id, &counted))
			continue;
		put_node_sample(o, "accel_reached", n);
		put_u64(o, counted.reached);
	}
	put_head(o, "accel_bypassed", "gauge",
		 "1 where TCP to and from the node, which is near, bypasses leon-accel.");
	for (const struct node *n = NULL; (n = nodedb_next(nodes, n));) {
		if (!accel_queues_reach(o->d, n->slot))
			continue;
		put_node_sample(o, "accel_bypassed", n);
		put_u64(o, accel_queues_bypassed(o->d, n->slot));
	}
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
	put_counter(o, "accel_leond_queue_full_total",
		    "Frames dropped because the queue to leond was full.", t->leond_queue_full);
	put_kinds(o, t);
	put_directions(o, "accel_bytes_total", "Bytes of hosts carried by accelerators.",
		       t->bytes.out, t->bytes.in);
	put_directions(o, "accel_carried_bytes_total",
		       "Bytes of hosts after compression, as carried by accelerators.",
		       t->bytes.carried_out, t->bytes.carried_in);
	put_metric(o, "accel_with_seconds_total", "counter", MICROSECONDS,
		   "Time in which data of intercepted connections flowed.", t->time.with_ms * 1000);
	put_metric(o, "accel_without_seconds_total", "counter", MICROSECONDS,
		   "Estimated minimum time for the same data without acceleration.",
		   t->time.without_ms * 1000);
	put_accelerators(o);
}

static void put_acceleration(struct out *o)
{
	const struct accel_totals *t = accel_reports_totals(o->d);

	if (!o->conf->acceleration)
		return;
	put_gauge(o, "accel_up", "1 where leon-accel is there.", t != NULL);
	if (t)
		put_accelerator(o, t);
}

enum command_result show_metrics(struct command *c)
{
	struct out o = { .d = c->d,
			 .conf = c->d->conf,
			 .overlay = c->overlay,
			 .ipsec = c->d->ipsec,
			 .now = c->now };
	char *text = NULL;
	size_t len = 0;

	o.f = open_memstream(&text, &len);
	if (!o.f)
		bug("out of memory for metrics");
	put_daemon(&o);
	put_nodes(&o);
	put_peers(&o);
	put_lines(&o);
	put_control(&o);
	put_tls(&o);
	put_port_mapping(&o);
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
