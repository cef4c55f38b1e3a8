// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rules of `leonctl status` for configured peers: one finding for each peer that is not reached, or
 * is reached over TLS. The cause is the diagnosis of the daemon (`result` of `show peers`). Pure.
 */
#include <string.h>

#include "base/defs.h"
#include "status/status.h"

/* A node that just started is still joining, which is no problem. */
#define JOINING_SECONDS 10

struct advice {
	const char *result, *remedy;
	const char *command; /* with "{address}" of the peer, or "{interface}" */
};

static const struct advice advices[] = {
	{ "nothing",
	  "run `leonctl status` on the peer: a note on refused datagrams of this node means another "
	  "secret, VNI or release. Without a note, UDP does not arrive. `transport tls` passes "
	  "networks that block UDP",
	  "ping -c 3 {address}" },
	{ "refused", "start leond on the peer, or correct address and port of the peer here",
	  "leond --config /etc/leon/{interface}.json --check" },
	{ "unreachable", "correct the route, or the firewall that rejects UDP",
	  "ip route get {address}" },
	{ "not-sent", "correct `source-address`, the route or the firewall of this host",
	  "ip route get {address}" },
	{ "one-way",
	  "run `leonctl status` on the peer: a firewall drops datagrams of this node, or the "
	  "peer does not trust the identity of this node",
	  "leonctl -i {interface} show identity" },
	{ "other-secret", "make `authentication pre-shared-secret` equal on both nodes, then run",
	  "leonctl -i {interface} reload" },
	{ "no-secret-there", "configure `authentication pre-shared-secret` on the peer, then run",
	  "leonctl -i {interface} reload" },
	{ "no-secret-here", "configure `authentication pre-shared-secret` on this node, then run",
	  "leonctl -i {interface} reload" },
	{ "other-vni", "make `vni` equal on both nodes, then restart the corrected node",
	  "systemctl restart leond@{interface}" },
	{ "other-version", "upgrade the older of the two nodes", "leond --version" },
	{ "other-curve", "make `encryption curve` equal on all nodes, then run",
	  "leonctl -i {interface} reload" },
	{ "not-trusted",
	  "add the identity that `leonctl show identity` prints on the peer to `authentication "
	  "trusted-identity` of this node, then run",
	  "leonctl -i {interface} reload" },
	{ "other-identity", "give each node a `node-id` of its own",
	  "leonctl -i {interface} show events" },
	{ "self", "remove the peer from the configuration of this node",
	  "leonctl -i {interface} reload" },
};

static const struct advice *advice_of(const char *result)
{
	for (size_t i = 0; i < array_size(advices); i++)
		if (strcmp(advices[i].result, result) == 0)
			return &advices[i];
	return NULL;
}

/* Returns the address with the diagnosis that became the reason of the peer, or the first one. */
static struct jsonr_node *telling_address(struct jsonr_node *peer)
{
	struct jsonr_node *list = jsonr_array(peer, "addresses"), *a;
	const char *reason = text_str(peer, "reason");

	for (size_t i = 0; (a = jsonr_at(list, i)); i++)
		if (strcmp(text_str(a, "text"), reason) == 0)
			return a;
	return jsonr_len(list) ? jsonr_at(list, 0) : NULL;
}

static const char *command_of(const struct advice *a, const char *address, const char *interface)
{
	const char *at = strchr(a->command, '{');

	if (!at)
		return a->command;
	return text_format("%.*s%s%s", (int)(at - a->command), a->command,
			   at[1] == 'a' ? address : interface, strchr(at, '}') + 1);
}

static bool is_joining(struct jsonr_node *peer, const char *result)
{
	return value_u64(peer, "since_seconds") < JOINING_SECONDS &&
	       (strcmp(result, "nothing") == 0 || strcmp(result, "not-asked") == 0);
}

/* Narrows the four causes of silence: a node that others accept has the right secret. */
static const char *cause_of(const struct status *s, struct jsonr_node *peer, const char *result)
{
	if (strcmp(result, "nothing") != 0)
		return text_str(peer, "reason");
	if (s->peers_reached || s->nodes_reachable)
		return "no answer, and other nodes accept this node: leond of the peer is down, "
		       "UDP is dropped, or its secret, VNI or trusted-identity list differs";
	return "no answer from any node: UDP is dropped, leond of the peers does not run, or the "
	       "secret or VNI of this node is wrong";
}

/* The cause, and for a peer with `tls-port` the end of the last attempt over TLS. */
static const char *why_of(const struct status *s, struct jsonr_node *peer, const char *result)
{
	const char *tls = text_optional(peer, "tls_reason");

	return text_format("%s%s%s", cause_of(s, peer, result), *tls ? "; TLS failed: " : "", tls);
}

static void over_tls(struct status *s, struct jsonr_node *peer)
{
	status_add(s, "over-tls", STATUS_NOTE,
		   text_format("peer %s is reached over TLS", text_str(peer, "name")),
		   "UDP gets no answer from the peer",
		   "open UDP for lower latency, if the network between the nodes permits it",
		   "leonctl show peers");
}

static void not_reached(struct status *s, struct jsonr_node *peer, const char *interface)
{
	struct jsonr_node *address = telling_address(peer);
	const char *endpoint = address ? text_str(address, "endpoint") : text_str(peer, "address");
	const char *result = address ? text_str(address, "result") : "nothing";
	bool joining = is_joining(peer, result), self = status_is(peer, "state", "self");
	const struct advice *a = joining ? NULL : advice_of(result);

	status_add(s,
		   joining ? "joining"
		   : a	   ? a->result
			   : "nothing",
		   joining || self ? STATUS_NOTE : STATUS_PROBLEM,
		   text_format("peer %s (%s) %s for %s", text_str(peer, "name"), endpoint,
			       self ? "has been this node itself" : "has not been reached",
			       text_age(peer, "since_seconds")),
		   joining ? "this node is joining" : why_of(s, peer, result), a ? a->remedy : NULL,
		   a ? command_of(a, status_bare(endpoint), interface) : NULL);
}

static void unresolved(struct status *s, struct jsonr_node *peer)
{
	const char *name = text_str(peer, "address");
	bool failed = jsonr_is_str(peer, "resolve_error");

	status_add(s, failed ? "unresolved" : "joining", failed ? STATUS_PROBLEM : STATUS_NOTE,
		   text_format("peer %s (%s) has not been reached for %s", text_str(peer, "name"),
			       name, text_age(peer, "since_seconds")),
		   text_str(peer, "reason"),
		   failed ? "correct the name, or the DNS servers of this host" : NULL,
		   failed ? text_format("getent ahosts %s", name) : NULL);
}

void status_find_peers(const struct status_input *in, struct status *s)
{
	struct jsonr_node *list = jsonr_array(in->peers, "peers"), *peer;
	const char *interface = text_str(in->peers, "interface");

	for (size_t i = 0; (peer = jsonr_at(list, i)); i++) {
		if (status_is(peer, "state", "disabled"))
			continue;
		if (status_is(peer, "state", "reached")) {
			if (strcmp(text_optional(peer, "transport"), "tls") == 0)
				over_tls(s, peer);
			continue;
		}
		if (status_is(peer, "state", "unresolved"))
			unresolved(s, peer);
		else
			not_reached(s, peer, interface);
	}
}

/* --- lines of this node: a lost line, and a line without answers --- */

/* Single lost PINGs are no silence. */
#define SILENT_SECONDS 10

static void lost(struct status *s, struct jsonr_node *line)
{
	const char *interface = text_optional(line, "line_interface");

	status_add(s, "line-lost", STATUS_NOTE,
		   text_format("line %s cannot be used", text_str(line, "name")),
		   text_format("%s; the other line carries the data", text_str(line, "reason")),
		   "restore the interface or address of the line, or correct `line`",
		   text_format("ip address show%s%s", *interface ? " dev " : "", interface));
}

static bool is_silent(struct jsonr_node *pair)
{
	return (status_is(pair, "state", "silent") || status_is(pair, "state", "no-answer")) &&
	       (strcmp(text_number(pair, "answered_seconds"), UNKNOWN) == 0 ||
		value_u64(pair, "answered_seconds") > SILENT_SECONDS);
}

/* Returns a pair of the line if all pairs of the line are silent, else NULL. */
static struct jsonr_node *silent_pair(struct jsonr_node *pairs, const char *line)
{
	struct jsonr_node *pair;
	struct jsonr_node *found = NULL;

	for (size_t i = 0; (pair = jsonr_at(pairs, i)); i++) {
		if (!status_is(pair, "line", line))
			continue;
		if (!is_silent(pair))
			return NULL;
		found = pair;
	}
	return found;
}

static void silent(struct status *s, struct jsonr_node *line, struct jsonr_node *pair)
{
	const char *source = text_optional(line, "line_interface");

	if (!*source)
		source = text_optional(line, "address");
	status_add(
		s, "line-silent", STATUS_NOTE,
		text_format("no node answers over line %s", text_str(line, "name")),
		"the line failed, has no default route, or a firewall drops UDP on it; the other "
		"line carries the data",
		"check the line and its default route",
		text_format("ping -c 3 -I %s %s", source, status_bare(text_str(pair, "endpoint"))));
}

void status_find_lines(const struct status_input *in, struct status *s)
{
	struct jsonr_node *list = jsonr_array(in->lines, "lines"), *pair, *line;
	bool started = value_u64(in->statistics, "uptime_seconds") > SILENT_SECONDS;

	for (size_t i = 0; (line = jsonr_at(list, i)); i++) {
		pair = silent_pair(jsonr_array(in->lines, "pairs"), text_str(line, "name"));
		if (status_is(line, "state", "lost"))
			lost(s, line);
		else if (pair && started)
			silent(s, line, pair);
	}
}
