// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rules of `leonctl status` for nodes and for this daemon. Pure.
 */
#include <string.h>

#include "status/status.h"

#include "show/show.h"

/* A member that this node learned of a moment ago is not reached yet. */
#define KNOWN_SECONDS 10

static bool is_live(struct jsonr_node *node)
{
	return !status_is(node, "state", "left") && !status_is(node, "state", "refused");
}

/* --- nodes --- */

/* A configured peer that is this node has a finding with a cause already. */
static bool is_unreached_peer(const struct status_input *in, struct jsonr_node *node)
{
	struct jsonr_node *list = jsonr_array(in->peers, "peers"), *p;

	for (size_t i = 0; (p = jsonr_at(list, i)); i++)
		if (status_is(p, "state", "trying") &&
		    status_is(p, "node_id", text_str(node, "node_id")))
			return true;
	return false;
}

static void not_reachable(struct status *s, struct jsonr_node *node)
{
	bool known = status_is(node, "state", "known");

	status_add(s, known ? "never-reached" : "unreachable", STATUS_PROBLEM,
		   text_format("node %s %s for %s", cell_node(node, "node_id"),
			       known ? "has not been reached" : "has been unreachable",
			       text_age(node, "since_seconds")),
		   known ? "no path: UDP between the two nodes is dropped, and no relay helps"
			 : "no path: the node stopped or lost its connection, or UDP is dropped",
		   "run `leonctl status` on the node", "leonctl show latency");
}

static void no_direct_link(struct status *s, struct jsonr_node *node)
{
	status_add(s, "no-direct-link", STATUS_NOTE,
		   text_format("the direct link to node %s is down", cell_node(node, "node_id")),
		   value_bool(node, "behind_nat")
			   ? "relays carry the frames; the NAT of the node may drop UDP of this "
			     "node"
			   : "relays carry the frames; UDP between the two nodes is dropped",
		   "open the UDP port of both nodes, or forward it through the NAT",
		   text_format("leonctl explain path %s", text_str(node, "node_id")));
}

static void other_secret(struct status *s, struct jsonr_node *node)
{
	status_add(s, "secret-not-common", STATUS_PROBLEM,
		   text_format("the session with node %s ends in %s", cell_node(node, "node_id"),
			       text_age(node, "session_ends_seconds")),
		   "after a change of the secret the two nodes have no common secret",
		   "make `authentication pre-shared-secret` equal on both nodes, then run",
		   "leonctl reload");
}

static void duplicate_id(struct status *s, struct jsonr_node *node, struct jsonr_node *duplicate)
{
	status_add(s, "duplicate-id", STATUS_PROBLEM,
		   text_format("two live nodes use the node-id of %s%s",
			       status_is(node, "state", "self") ? "this node, " : "",
			       cell_node(node, "node_id")),
		   text_format("a second node was seen at %s %s ago",
			       text_str(duplicate, "endpoint"),
			       text_age(duplicate, "seen_seconds")),
		   "give each node another `node-id` and identity file", "leonctl show events");
}

static void check_node(const struct status_input *in, struct status *s, struct jsonr_node *node)
{
	bool self = status_is(node, "state", "self"),
	     reachable = status_is(node, "state", "reachable");
	bool fresh = value_u64(node, "since_seconds") < KNOWN_SECONDS;
	struct jsonr_node *duplicate =
		jsonr_has(node, "duplicate") ? jsonr_object(node, "duplicate") : NULL;

	if (duplicate)
		duplicate_id(s, node, duplicate);
	if (self)
		return;
	if (!reachable && !is_unreached_peer(in, node) &&
	    !(status_is(node, "state", "known") && fresh))
		not_reachable(s, node);
	if (reachable && !status_is(node, "link", "up") && !fresh)
		no_direct_link(s, node);
	if (status_is(node, "secret", "other"))
		other_secret(s, node);
}

/* --- values that only one node may have --- */

static void twice(struct status *s, const char *id, const char *what, const char *value,
		  struct jsonr_node *a, struct jsonr_node *b)
{
	status_add(s, id, STATUS_PROBLEM,
		   text_format("nodes %s and %s have the %s %s", text_str(a, "node_id"),
			       text_str(b, "node_id"), what, value),
		   "the configuration of one node was copied to the other",
		   "correct one of the two nodes, then run there", "leonctl reload");
}

static bool has_address(struct jsonr_node *node, const char *address)
{
	struct jsonr_node *list = jsonr_array(node, "overlay_addresses");
	const char *other;

	for (size_t i = 0; i < jsonr_len(list); i++)
		if (jsonr_str_at(list, i, &other) && strcmp(other, address) == 0)
			return true;
	return false;
}

static void compare(struct status *s, struct jsonr_node *a, struct jsonr_node *b)
{
	struct jsonr_node *list = jsonr_array(a, "overlay_addresses");
	const char *name = text_str(a, "name"), *address;

	if (strcmp(name, UNKNOWN) != 0 && status_is(b, "name", name))
		twice(s, "name-twice", "node-name", name, a, b);
	for (size_t i = 0; i < jsonr_len(list); i++)
		if (jsonr_str_at(list, i, &address) && has_address(b, address))
			twice(s, "address-twice", "overlay address", address, a, b);
}

static void check_nodes(const struct status_input *in, struct status *s)
{
	struct jsonr_node *list = jsonr_array(in->nodes, "nodes");
	struct jsonr_node *node, *other;

	for (size_t i = 0; (node = jsonr_at(list, i)); i++) {
		if (!is_live(node))
			continue;
		check_node(in, s, node);
		for (size_t k = i + 1; (other = jsonr_at(list, k)); k++)
			if (is_live(other))
				compare(s, node, other);
	}
}

/* --- this daemon --- */

static void full(struct status *s, struct jsonr_node *memory, const char *used, const char *limit,
		 const char *id, const char *leaf)
{
	if (value_u64(memory, limit) == 0 || value_u64(memory, used) < value_u64(memory, limit))
		return;
	status_add(s, id, STATUS_PROBLEM,
		   text_format("%s (%s) is reached", leaf, text_number(memory, limit)),
		   "further entries are refused", "raise the limit in the configuration, then run",
		   "leonctl reload");
}

static void offload_broken(struct status *s, struct jsonr_node *broken)
{
	status_add(s, "offload-broken", STATUS_NOTE,
		   text_format("data to %s%s was lost with UDP segmentation",
			       cell_node(jsonr_at(broken, 0), "node_id"),
			       jsonr_len(broken) > 1 ? " and others" : ""),
		   "a network card, driver, kernel or hypervisor is faulty; this node sends the "
		   "data without",
		   "set `system offload udp-segmentation disable` for all nodes, then run",
		   "leonctl reload");
}

static void no_port_mapping(struct status *s, struct jsonr_node *mapping)
{
	if (!status_is(mapping, "state", "failed") && !status_is(mapping, "state", "private"))
		return;
	status_add(
		s, "no-port-mapping", STATUS_NOTE,
		text_format("gateway %s gives no port mapping", text_str(mapping, "gateway")),
		text_str(mapping, "reason"),
		"enable NAT-PMP or UPnP at the gateway, or forward the UDP port there and delete "
		"`port-mapping`",
		"leonctl show statistics");
}

static void check_self(const struct status_input *in, struct status *s)
{
	struct jsonr_node *memory = jsonr_object(in->statistics, "memory");
	struct jsonr_node *drops = jsonr_object(in->statistics, "drops");
	struct jsonr_node *offloads = jsonr_object(in->statistics, "offloads");
	bool sealed = false;

	if (memory) {
		full(s, memory, "nodes", "nodes_maximum", "table-full", "`member maximum`");
		full(s, memory, "fdb_entries", "fdb_maximum", "fdb-full", "`fdb maximum`");
	}
	if (value_bool(in->statistics, "bridge_missing"))
		status_add(s, "bridge-missing", STATUS_PROBLEM, "the interface is in no bridge",
			   text_format("%s, the `bridge` of the configuration, does not exist",
				       text_str(in->statistics, "bridge")),
			   "create the bridge, or correct `bridge`, then run", "leonctl reload");
	if (offloads && jsonr_len(jsonr_array(offloads, "udp_gso_broken")))
		offload_broken(s, jsonr_array(offloads, "udp_gso_broken"));
	if (jsonr_has(in->statistics, "port_mapping"))
		no_port_mapping(s, jsonr_object(in->statistics, "port_mapping"));
	if (drops && value_u64(drops, "too_big"))
		status_add(s, "too-big", STATUS_NOTE, "frames were dropped because of their size",
			   "the host uses a larger MTU than the overlay interface",
			   "lower the MTU of the hosts, or raise the MTU of the interface",
			   "leonctl show statistics");
	if (jsonr_bool(in->statistics, "authenticated", &sealed) && !sealed)
		status_add(s, "no-secret", STATUS_NOTE, "the overlay has no pre-shared secret",
			   "the configuration has `authentication disable`: every host that "
			   "reaches the UDP port can read and send frames",
			   "configure `authentication pre-shared-secret` on all nodes",
			   "leonctl generate secret");
	if (s->nodes == 0 && s->peers == 0)
		status_add(s, "alone", STATUS_NOTE, "this node is alone",
			   "no peer is configured, and no node has joined",
			   "print a token for another machine", "leonctl invite");
}

/* --- all --- */

static void count(const struct status_input *in, struct status *s)
{
	struct jsonr_node *nodes = jsonr_array(in->nodes, "nodes"), *n;
	struct jsonr_node *peers = jsonr_array(in->peers, "peers"), *p;

	for (size_t i = 0; (n = jsonr_at(nodes, i)); i++) {
		if (!is_live(n) || status_is(n, "state", "self"))
			continue;
		s->nodes++;
		s->nodes_reachable += status_is(n, "state", "reachable");
	}
	for (size_t i = 0; (p = jsonr_at(peers, i)); i++) {
		if (status_is(p, "state", "disabled"))
			continue;
		s->peers++;
		s->peers_reached += status_is(p, "state", "reached");
	}
}

void status_find(const struct status_input *in, struct status *out)
{
	*out = (struct status){ 0 };
	count(in, out);
	status_find_peers(in, out);
	check_nodes(in, out);
	check_self(in, out);
	status_find_lines(in, out);
	status_find_events(in, out);
}
