// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show statistics`: counters since the start or the last reset, and the state of parts without a
 * command: offloads, loop guard, MTU, memory. Control thread.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/version.h"
#include "daemon/answer/answer.h"
#include "daemon/device/device.h"
#include "daemon/guard/loop_guard.h"
#include "daemon/leond.h"
#include "daemon/metrics/metrics.h"
#include "daemon/states.h"
#include "daemon/transport/transport.h"
#include "fwd/fwd.h"
#include "io/netlink/netlink.h"
#include "io/tap.h"
#include "io/udp.h"
#include "proto/overlay_ops.h"
#include "proto/view.h"
#include "state/conf/conf.h"

#define ADDRS_MAX 64

static void write_counters(struct command *c)
{
	uint64_t counter[N_COUNTERS], drop[N_DROPS];

	counters_read(c->d, counter, drop);
	jsonw_object(c->w, "counters");
	for (unsigned i = 0; i < N_COUNTERS; i++)
		jsonw_u64(c->w, counter_stats[i].name, counter[i]);
	jsonw_end(c->w);
	jsonw_object(c->w, "drops");
	for (unsigned i = 0; i < N_DROPS; i++)
		jsonw_u64(c->w, drop_stats[i].name, drop[i]);
	jsonw_end(c->w);
	jsonw_array(c->w, "drop_reasons");
	for (unsigned i = 0; i < N_DROPS; i++) {
		if (drop[i] == 0)
			continue;
		jsonw_object(c->w, NULL);
		jsonw_str(c->w, "reason", drop_stats[i].name);
		jsonw_u64(c->w, "count", drop[i]);
		jsonw_str(c->w, "text", drop_stats[i].text);
		jsonw_end(c->w);
	}
	jsonw_end(c->w);
}

static void write_by_type(struct jsonw *w, const char *key, const uint64_t count[MSG_TYPES])
{
	jsonw_object(w, key);
	for (uint8_t type = MSG_HELLO; type < MSG_TYPES; type++)
		jsonw_u64(w, msg_type_name(type), count[type]);
	jsonw_end(w);
}

static void write_control(struct command *c)
{
	const struct overlay_counters *o = overlay_counters(c->overlay);
	struct jsonw *w = c->w;

	jsonw_object(w, "control");
	jsonw_u64(w, "tx_messages", o->tx_msgs);
	jsonw_u64(w, "tx_bytes", o->tx_bytes);
	jsonw_u64(w, "rx_messages", o->rx_msgs);
	jsonw_u64(w, "rx_bytes", o->rx_bytes);
#define AS_WRITE(reason) jsonw_u64(w, "rx_" #reason, o->rx_##reason);
	OVERLAY_RX_REASONS(AS_WRITE)
#undef AS_WRITE
	jsonw_u64(w, "rx_foreign_rows", o->rx_foreign_rows);
	jsonw_u64(w, "key_exchanges", o->key_exchanges);
	jsonw_u64(w, "path_runs", o->path_runs);
	jsonw_u64(w, "path_run_us_max", o->path_run_ns_max / 1000);
	write_by_type(w, "tx_by_type", o->tx_by_type);
	write_by_type(w, "rx_by_type", o->rx_by_type);
	jsonw_end(w);
}

static void write_broken(struct command *c, const struct node *n)
{
	struct overlay_link link;

	if (!overlay_link(c->overlay, n->slot, &link) || !link.segmentation_broken)
		return;
	answer_begin_node(c->w, "node_id", c->d, n->id);
	jsonw_end(c->w);
}

static void write_offloads(struct command *c)
{
	const struct leond *d = c->d;

	jsonw_object(c->w, "offloads");
	/* A vnet header always precedes frames on the TAP; the offloads that it may request
	 * vary. */
	jsonw_bool(c->w, "tap_vnet_header", true);
	for (unsigned i = 0; i < N_OFFLOADS; i++)
		jsonw_bool(c->w, offload_name(i), offload_unused(d, i) == NULL);
	jsonw_bool(c->w, "timestamps", d->udp->timestamps);
	jsonw_object(c->w, "unused");
	for (unsigned i = 0; i < N_OFFLOADS; i++)
		jsonw_str(c->w, offload_name(i), offload_unused(d, i));
	jsonw_end(c->w);
	answer_nodes(c, "udp_gso_broken", write_broken);
	jsonw_end(c->w);
}

static void write_guard_vlan(struct command *c, const struct guard_vlan *v)
{
	jsonw_object(c->w, NULL);
	jsonw_u64(c->w, "vlan", v->id);
	jsonw_str(c->w, "state", guard_state_name(guard_vlan_state(c->d->guard, v->id)));
	answer_forwarder(c->w, c->d, v->id);
	answer_age(c->w, "since_seconds", c->now, v->since);
	jsonw_array(c->w, "nodes");
	for (unsigned i = 0; i < v->n_received; i++) {
		const struct guard_neighbor *h = &v->received[i];

		answer_begin_node(c->w, "node_id", c->d, h->node);
		jsonw_u64(c->w, "segment", h->segment);
		jsonw_bool(c->w, "forwards", h->flags & GUARD_FORWARDS);
		jsonw_bool(c->w, "ready", h->flags & GUARD_READY);
		jsonw_bool(c->w, "receives_us", h->hears_us);
		jsonw_bool(c->w, "silent", guard_is_silent(c->d->guard, h));
		jsonw_u64(c->w, "preference", h->rank.preference);
		jsonw_end(c->w);
	}
	jsonw_end(c->w);
	jsonw_end(c->w);
}

static void write_guard(struct command *c)
{
	const struct guard *g = c->d->guard;

	jsonw_object(c->w, "loop_guard");
	jsonw_str(c->w, "state", guard_state_name(guard_state(g)));
	answer_id(c->w, "other", guard_other(g));
	answer_name(c->w, "other_name", c->d, guard_other(g));
	answer_age(c->w, "since_seconds", c->now, g->since);
	jsonw_bool(c->w, "local_loop", g->local_loop);
	jsonw_u64(c->w, "interval_ms", g->conf.interval_ms);
	jsonw_u64(c->w, "preference", g->conf.preference);
	jsonw_u64(c->w, "frames_sent", g->n_sent);
	jsonw_u64(c->w, "frames_received", g->n_received);
	jsonw_u64(c->w, "frames_not_authentic", g->n_not_authentic);
	jsonw_u64(c->w, "frames_replayed", g->n_replayed);
	jsonw_u64(c->w, "frames_unconfirmed", g->n_unconfirmed);
	jsonw_u64(c->w, "frames_forged", g->n_forged);
	jsonw_u64(c->w, "times_blocked", g->n_blocked);
	jsonw_u64(c->w, "times_silent", g->n_silenced);
	jsonw_u64(c->w, "stalls", g->n_stalls);
	jsonw_u64(c->w, "hosts_announced", g->n_announced);
	jsonw_u64(c->w, "hosts_probed", g->n_requested);
	jsonw_array(c->w, "vlans");
	for (unsigned i = 0; i < g->n_used; i++)
		write_guard_vlan(c, g->vlan[g->used[i]]);
	jsonw_end(c->w);
	jsonw_end(c->w);
}

static void write_tls(struct command *c)
{
	struct stream_counts n = streams_counts(c->d);

	if (!c->d->conf->transport_tls) {
		jsonw_null(c->w, "tls");
		return;
	}
	jsonw_object(c->w, "tls");
	jsonw_u64(c->w, "connections", streams_links(c->d));
#define AS_WRITE(member, help) jsonw_u64(c->w, #member, n.member);
	STREAM_COUNTS_OF(AS_WRITE)
#undef AS_WRITE
	jsonw_end(c->w);
}

static void write_port_mapping(struct command *c)
{
	const struct portmap_view *v = portmap_view(c->d);
	int64_t left_ms;
	bool mapped;

	if (!v) {
		jsonw_null(c->w, "port_mapping");
		return;
	}
	mapped = v->external.port != 0;
	left_ms = mapped ? max_of(mono_sub_ms(v->expires_at, c->now), (int64_t)0) : 0;
	jsonw_object(c->w, "port_mapping");
	jsonw_str(c->w, "state", portmap_state_name(v->state));
	answer_ip(c->w, "gateway", &v->gateway);
	jsonw_str(c->w, "protocol", mapped ? portmap_method_name(v->method) : NULL);
	answer_endpoint(c->w, "external", &v->external);
	answer_known(c->w, "expires_seconds", mapped, (uint64_t)left_ms / 1000);
	jsonw_str(c->w, "reason", v->reason[0] ? v->reason : NULL);
	jsonw_u64(c->w, "reports", v->reports);
	jsonw_u64(c->w, "failures", v->failures);
	jsonw_end(c->w);
}

static void write_memory(struct command *c)
{
	struct leond *d = c->d;
	uint64_t resident = resident_bytes();

	jsonw_object(c->w, "memory");
	answer_known(c->w, "resident_bytes", resident != 0, resident);
	jsonw_u64(c->w, "reassembly_bytes", fwd_reassembly_bytes(d->fwd));
	jsonw_u64(c->w, "fdb_entries", fdb_count(d->fdb));
	jsonw_u64(c->w, "fdb_maximum", fdb_maximum(d->fdb));
	jsonw_u64(c->w, "neighbors", neigh_count(d->neigh));
	jsonw_u64(c->w, "nodes", nodedb_members(overlay_nodes(d->overlay)));
	jsonw_u64(c->w, "nodes_maximum", d->conf->nodes_maximum);
	jsonw_end(c->w);
}

static void write_interface(struct command *c)
{
	struct leond *d = c->d;
	struct nl_addr addr[ADDRS_MAX];
	int n = nl_addrs(d->nl, d->tap->ifindex, addr, ADDRS_MAX);
	struct nl_link bridge;

	jsonw_array(c->w, "interface_addresses");
	for (int i = 0; i < n && i < ADDRS_MAX; i++) {
		const struct prefix p = { addr[i].ip, addr[i].prefix_len };

		if (!addr[i].link_scope)
			answer_prefix(c->w, NULL, &p);
	}
	jsonw_end(c->w);
	jsonw_bool(c->w, "bridge_port", d->device.bridge_port);
	if (d->device.bridge_port && nl_link_by_index(d->nl, d->device.master, &bridge) == 0)
		jsonw_str(c->w, "bridge", bridge.name);
	else
		jsonw_str(c->w, "bridge", d->conf->bridge[0] ? d->conf->bridge : NULL);
	jsonw_bool(c->w, "bridge_missing", d->device.bridge_missing);
}

enum command_result show_statistics(struct command *c)
{
	struct leond *d = c->d;

	write_counters(c);
	write_control(c);
	write_offloads(c);
	write_guard(c);
	write_tls(c);
	write_port_mapping(c);
	write_memory(c);
	jsonw_str(c->w, "daemon_version", leon_version);
	answer_node(c->w, "node_id", d, d->self);
	jsonw_u64(c->w, "vni", d->conf->vni);
	jsonw_u64(c->w, "port", d->udp->port);
	answer_mac(c->w, "mac", d->device.mac);
	jsonw_u64(c->w, "workers", d->tap->n_queues);
	jsonw_str(c->w, "scheduling", d->device.realtime ? "realtime" : "normal");
	jsonw_str(c->w, "cipher_library", aead_library());
	jsonw_u64(c->w, "interface_mtu", d->device.mtu.mtu);
	jsonw_str(c->w, "interface_mtu_source", mtu_source_name(d->device.mtu.source));
	write_interface(c);
	jsonw_bool(c->w, "authenticated", keyring_sealed(overlay_keyring(d->overlay)));
	answer_age(c->w, "uptime_seconds", c->now, d->started);
	answer_age(c->w, "counted_seconds", c->now, counters_since(d));
	return CMD_DONE;
}

/* --- counters of the packet path --- */

/* Workers own the counters, so a reset stores the values and later subtracts the stored values. */

/* Values at the last reset. */
struct counters_reset {
	uint64_t counter[N_COUNTERS], drop[N_DROPS];
	mono_t at;
};

void counters_read(struct leond *d, uint64_t counter[N_COUNTERS], uint64_t drop[N_DROPS])
{
	const struct counters_reset *r = d->states->counters_reset;

	fwd_stats(d->fwd, counter, drop);
	for (unsigned i = 0; r && i < N_COUNTERS; i++)
		counter[i] -= r->counter[i];
	for (unsigned i = 0; r && i < N_DROPS; i++)
		drop[i] -= r->drop[i];
}

mono_t counters_since(const struct leond *d)
{
	return d->states->counters_reset ? d->states->counters_reset->at : d->started;
}

uint64_t resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long long size, resident = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%llu %llu", &size, &resident) != 2)
		resident = 0;
	fclose(f);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

enum command_result reset_statistics(struct command *c)
{
	struct counters_reset *r = c->d->states->counters_reset;

	if (!r)
		r = c->d->states->counters_reset = leond_memory(c->d, sizeof(*r));
	fwd_stats(c->d->fwd, r->counter, r->drop);
	r->at = c->now;
	return CMD_DONE;
}
