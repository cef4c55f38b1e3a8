// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rules of `leonctl status` for configured peers: one finding for each peer that is not reached, or
 * is reached over TLS. The cause is the diagnosis of the daemon (`result` of `show peers`). Pure.
 */
#include <string.h>

#include "base/defs.h"
#include "status/status.h"
#include "text/value.h"

/* A node that just started is still joining, which is no problem. */
#define JOINING_SECONDS 10

enum argument { NO_ARGUMENT, WITH_ADDRESS, WITH_INTERFACE };

struct advice {
	const char *result, *remedy, *command;
	enum argument argument;
};

static const struct advice advices[] = {
	{ "nothing",
	  "run `leonctl status` on the peer: a note on refused datagrams of this node means another "
	  "secret, VNI or release. Without a note, UDP does not arrive. `transport tls` passes "
	  "networks that block UDP",
	  "ping -c 3 %s", WITH_ADDRESS },
	{ "refused", "start leond on the peer, or correct address and port of the peer here",
	  "leond --config /etc/leon/%s.json --check", WITH_INTERFACE },
	{ "unreachable", "correct the route, or the firewall that rejects UDP", "ip route get %s",
	  WITH_ADDRESS },
	{ "not-sent", "correct `source-address`, the route or the firewall of this host",
	  "ip route get %s", WITH_ADDRESS },
	{ "one-way",
	  "run `leonctl status` on the peer: a firewall drops datagrams of this node, or the "
	  "peer does not trust the identity of this node",
	  "leonctl -i %s show identity", WITH_INTERFACE },
	{ "other-secret", "make `authentication pre-shared-secret` equal on both nodes, then run",
	  "leonctl -i %s reload", WITH_INTERFACE },
	{ "no-secret-there", "configure `authentication pre-shared-secret` on the peer, then run",
	  "leonctl -i %s reload", WITH_INTERFACE },
	{ "no-secret-here", "configure `authentication pre-shared-secret` on this node, then run",
	  "leonctl -i %s reload", WITH_INTERFACE },
	{ "other-vni", "make `vni` equal on both nodes, then restart the corrected node",
	  "systemctl restart leond@%s", WITH_INTERFACE },
	{ "other-version", "upgrade the older of the two nodes", "leond --version", NO_ARGUMENT },
	{ "other-curve", "make `encryption curve` equal on all nodes, then run",
	  "leonctl -i %s reload", WITH_INTERFACE },
	{ "not-trusted",
	  "add the identity that `leonctl show identity` prints on the peer to `authentication "
	  "trusted-identity` of this node, then run",
	  "leonctl -i %s reload", WITH_INTERFACE },
	{ "other-identity", "give each node a `node-id` of its own", "leonctl -i %s show events",
	  WITH_INTERFACE },
	{ "self", "remove the peer from the configuration of this node", "leonctl -i %s reload",
	  WITH_INTERFACE },
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
	struct jsonr_node *list = jsonr_array(peer, "addresses");
	const char *reason = text_str(peer, "reason");

	for (size_t i = 0; i < jsonr_len(list); i++) {
		struct jsonr_node *a = jsonr_at(list, i);

		if (a && strcmp(text_str(a, "text"), reason) == 0)
			return a;
	}
	return jsonr_len(list) ? jsonr_at(list, 0) : NULL;
}

static void put_command(struct status_diagnosis *f, const struct advice *a, const char *address,
			const char *interface)
{
	const char *at = strstr(a->command, "%s");

	if (!at) {
		status_put(f->command, "%s", a->command);
		return;
	}
	status_put(f->command, "%.*s%s%s", (int)(at - a->command), a->command,
		   a->argument == WITH_ADDRESS ? address : interface, at + 2);
}

static bool is_joining(struct jsonr_node *peer, const char *result)
{
	return value_u64(peer, "since_seconds") < JOINING_SECONDS &&
	       (strcmp(result, "nothing") == 0 || strcmp(result, "not-asked") == 0);
}

/* Narrows the four causes of silence: a node that others accept has the right secret. */
static const char *why_of(const struct status *s, struct jsonr_node *peer, const char *result)
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
static void put_why(const struct status *s, struct status_diagnosis *f, struct jsonr_node *peer,
		    const char *result)
{
	const char *tls = text_optional(peer, "tls_reason");

	status_put(f->why, "%s%s%s", why_of(s, peer, result), *tls ? "; TLS failed: " : "", tls);
}

static void over_tls(struct status *s, struct jsonr_node *peer)
{
	struct status_diagnosis *f = status_add(s, "over-tls", STATUS_NOTE);

	status_put(f->what, "peer %s is reached over TLS", text_str(peer, "name"));
	status_put(f->why, "UDP gets no answer from the peer");
	f->remedy = "open UDP for lower latency, if the network between the nodes permits it";
	status_put(f->command, "leonctl show peers");
}

static void not_reached(struct status *s, struct jsonr_node *peer, const char *interface)
{
	struct jsonr_node *address = telling_address(peer);
	const char *endpoint = address ? text_str(address, "endpoint") : text_str(peer, "address");
	const char *result = address ? text_str(address, "result") : "nothing";
	bool joining = is_joining(peer, result), self = status_is(peer, "state", "self");
	const struct advice *a = advice_of(result);
	struct status_diagnosis *f = status_add(s,
						joining ? "joining"
						: a	? a->result
							: "nothing",
						joining || self ? STATUS_NOTE : STATUS_PROBLEM);

	status_put(f->what, "peer %s (%s) %s for %s", text_str(peer, "name"), endpoint,
		   self ? "has been this node itself" : "has not been reached",
		   text_age(peer, "since_seconds"));
	if (joining)
		status_put(f->why, "this node is joining");
	else
		put_why(s, f, peer, result);
	if (joining || !a)
		return;
	f->remedy = a->remedy;
	put_command(f, a, status_bare(endpoint), interface);
}

static void unresolved(struct status *s, struct jsonr_node *peer)
{
	bool failed = jsonr_is_str(peer, "resolve_error");
	struct status_diagnosis *f = status_add(s, failed ? "unresolved" : "joining",
						failed ? STATUS_PROBLEM : STATUS_NOTE);

	status_put(f->what, "peer %s (%s) has not been reached for %s", text_str(peer, "name"),
		   text_str(peer, "address"), text_age(peer, "since_seconds"));
	status_put(f->why, "%s", text_str(peer, "reason"));
	if (!failed)
		return;
	f->remedy = "correct the name, or the DNS servers of this host";
	status_put(f->command, "getent ahosts %s", text_str(peer, "address"));
}

void status_find_peers(const struct status_input *in, struct status *s)
{
	struct jsonr_node *list = jsonr_array(in->peers, "peers");
	const char *interface = text_str(in->peers, "interface");

	for (size_t i = 0; i < jsonr_len(list); i++) {
		struct jsonr_node *peer = jsonr_at(list, i);

		if (!peer || status_is(peer, "state", "disabled"))
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
