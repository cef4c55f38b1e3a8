// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Inputs of the route planner, see routes.h: members with their latencies, addresses of
 * this host, and underlay addresses of other nodes. Control thread.
 */
#include "daemon/guard/loop_guard.h"
#include "daemon/routes/routes.h"
#include "daemon/states.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "daemon/report/report.h"
#include "io/tap.h"
#include "proto/overlay_seeds.h"
#include "proto/view.h"
#include "state/latency/choice.h"

/* Routing table of datagrams to other nodes: that of the source-interface's VRF. */
static uint32_t underlay_table(const struct leond *d)
{
	struct nl_link link;

	if (!d->conf->source_interface[0] ||
	    nl_link_by_name(d->nl, d->conf->source_interface, &link) < 0)
		return NL_TABLE_MAIN;
	return nl_link_table(d->nl, &link);
}

static int compare_ips(const void *a, const void *b)
{
	return ip_compare(a, b);
}

const char *routes_why_unusable(const struct leond *d)
{
	if (!d->conf->export_next_hop && !d->conf->n_imports)
		return "neither export next-hop nor import prefix is configured";
	if (d->states->routes->stopping)
		return "the daemon is stopping";
	if (d->device.is_port)
		return "the interface is a port of a bridge or bond";
	if (!d->device.up)
		return "the interface is down";
	if (guard_vlan_state(d->guard, 0) == GUARD_BLOCKED)
		return "the loop guard blocks";
	return NULL;
}

bool routes_are_apart(const struct routes *r)
{
	return r->table != NL_TABLE_MAIN && r->table != r->underlay_table;
}

static void add_underlay(struct routes *r, const struct ip_addr *ip)
{
	if (!ip->family)
		return;
	x_double(r->underlay, r->n_underlay, r->cap_underlay);
	r->underlay[r->n_underlay++] = *ip;
}

static void add_link(struct routes *r, uint16_t slot)
{
	const struct overlay *o = r->d->overlay;
	struct overlay_pair_view v;
	struct overlay_link link;

	if (!overlay_link(o, slot, &link) || (!link.up && mono_is_never(link.last_received)))
		return;
	add_underlay(r, &link.ep.ip);
	add_underlay(r, &link.backup.ip);
	for (unsigned i = 0; i < LINE_PAIRS; i++)
		if (overlay_line_pair(o, slot, i, &v) && v.verified)
			add_underlay(r, &v.ep.ip);
}

/* Addresses of all transports and lines of members, addresses of configured peers, and the proxy.
 * Addresses known from records only do not count: a private address behind a NAT is not used from
 * here and may belong to a LAN. */
void routes_gather_underlay(struct routes *r)
{
	struct leond *d = r->d;
	uint16_t n_slots = nodedb_slots(overlay_nodes(d->overlay));
	struct overlay_seed s;

	r->n_underlay = r->n_tcp = 0;
	if (routes_are_apart(r))
		return;
	for (uint16_t slot = SLOT_SELF + 1; slot < n_slots; slot++)
		add_link(r, slot);
	r->n_tcp = d->ops->stream_ends(d, &r->tcp);
	if (r->n_tcp)
		qsort(r->tcp, r->n_tcp, sizeof(*r->tcp), compare_ips);
	for (uint32_t i = 0; i < d->conf->n_configured_peers; i++) {
		if (d->conf->peer[i].is_ip)
			add_underlay(r, &d->conf->peer[i].ep.ip);
		else if (overlay_seed(d->overlay, i, &s))
			for (unsigned k = 0; k < s.n; k++)
				if (!endpoint_is_stream(&s.address[k].ep))
					add_underlay(r, &s.address[k].ep.ip);
	}
	if (r->n_underlay)
		qsort(r->underlay, r->n_underlay, sizeof(*r->underlay), compare_ips);
}

unsigned routes_gather_nodes(struct routes *r)
{
	struct nodedb *db = overlay_nodes(r->d->overlay);
	uint16_t n_slots = nodedb_slots(db);
	struct overlay_pair_view v;
	unsigned n_nodes = 0;

	if (n_slots > r->cap_nodes) {
		r->cap_nodes = n_slots;
		r->node = x_realloc(r->node, n_slots, sizeof(*r->node));
	}
	for (uint16_t slot = SLOT_SELF + 1; slot < n_slots; slot++) {
		const struct node *n = nodedb_at(db, slot);
		const struct choice *c = overlay_choice(r->d->overlay, slot);

		if (!n || n->state != NODE_REACHABLE || !n->has_record || !c ||
		    !path_works(&c->path))
			continue;
		r->node[n_nodes] = (struct rib_node){
			.slot = slot,
			.id = n->id,
			.latency_us = c->path.rtt_us,
			.rec = &n->rec,
		};
		for (unsigned i = 0; !routes_are_apart(r) && i < LINE_PAIRS; i++)
			if (overlay_line_pair(r->d->overlay, slot, i, &v))
				r->node[n_nodes].line[i] = v.ep.ip;
		n_nodes++;
	}
	return n_nodes;
}

/* Routing table of a link; 0: the link is gone. */
static uint32_t table_of(const struct routes *r, int index)
{
	struct nl_link link;

	return nl_link_by_index(r->d->nl, index, &link) < 0 ? 0 : nl_link_table(r->d->nl, &link);
}

/* Ignores addresses and networks of other VRFs, which may overlap. */
void routes_gather_own(struct routes *r)
{
	struct nl_addr addr[ROUTE_ADDRS_MAX];
	int n = nl_addrs(r->d->nl, 0, addr, ROUTE_ADDRS_MAX), last = 0;
	uint32_t table = 0;

	if (n < 0) {
		log_warn("routes", "addresses cannot be listed: %s", strerror(-n));
		return;
	}
	r->underlay_table = underlay_table(r->d);
	r->n_own = r->n_connected = 0;
	for (int i = 0; i < n && i < ROUTE_ADDRS_MAX; i++) {
		struct prefix p = { .ip = addr[i].ip, .len = addr[i].prefix_len };

		if (addr[i].index != last)
			table = table_of(r, addr[i].index);
		last = addr[i].index;
		if (table != r->d->device.table)
			continue;
		r->own[r->n_own++] = addr[i].ip;
		if (addr[i].index == r->d->tap->ifindex || p.len == prefix_host_len(&p.ip))
			continue;
		prefix_mask(&p);
		r->connected[r->n_connected++] = p;
	}
	qsort(r->own, r->n_own, sizeof(r->own[0]), compare_ips);
}
