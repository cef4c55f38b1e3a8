// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares two configurations of conf.h: the parts of the daemon that a reload touches, and the
 * keys that need a restart. Called by daemon/ at reload, on the control thread. Never prints a
 * value, which may be a secret.
 */
#include "state/conf/conf.h"

#include <stdio.h>
#include <string.h>

#include "base/defs.h"
#include "state/conf/conf_section.h"

#define DIFFERS(a, b, member) ((a)->member != (b)->member)

/* Both lists are sorted by name. */
static bool peers_differ(const struct conf *a, const struct conf *b)
{
	if (a->n_peers != b->n_peers)
		return true;
	for (uint32_t i = 0; i < a->n_peers; i++) {
		const struct conf_peer *p = &a->peer[i], *q = &b->peer[i];

		if (strcmp(p->name, q->name) != 0 || strcmp(p->host, q->host) != 0 ||
		    p->ep.port != q->ep.port || p->tls_port != q->tls_port ||
		    p->disable != q->disable || strcmp(p->description, q->description) != 0)
			return true;
	}
	return false;
}

static bool record_differs(const struct conf *a, const struct conf *b)
{
	return strcmp(a->node_name, b->node_name) != 0 || conf_announced_differ(a, b);
}

static bool interface_differs(const struct conf *a, const struct conf *b)
{
	return strcmp(a->interface, b->interface) != 0;
}

static bool source_address_differs(const struct conf *a, const struct conf *b)
{
	return !ip_equal(&a->source4, &b->source4) || !ip_equal(&a->source6, &b->source6);
}

static bool source_interface_differs(const struct conf *a, const struct conf *b)
{
	return strcmp(a->source_interface, b->source_interface) != 0;
}

static bool node_id_differs(const struct conf *a, const struct conf *b)
{
	return DIFFERS(a, b, node_id);
}

static bool control_socket_differs(const struct conf *a, const struct conf *b)
{
	return strcmp(a->control_socket, b->control_socket) != 0;
}

static bool collector_differs(const struct conf *a, const struct conf *b)
{
	return !ip_equal(&a->flow_collector, &b->flow_collector);
}

/* Items outside the leaves of conf.def. The key is set if a change needs a restart, else NULL. */
static const struct {
	enum conf_change change;
	const char *key;
	bool (*differs)(const struct conf *a, const struct conf *b);
} parts[] = {
	{ CONF_PEERS, NULL, peers_differ },
	{ CONF_DEVICE, NULL, conf_device_differs },
	{ CONF_RECORD, NULL, record_differs },
	{ CONF_DATAGRAMS, NULL, conf_dscp_differs },
	{ CONF_FLOWS, NULL, collector_differs },
	{ CONF_FRAMES, NULL, conf_vlans_differ },
	{ CONF_FRAMES, NULL, conf_segments_differ },
	{ CONF_FRAMES, NULL, conf_shaper_differs },
	{ CONF_ROUTES, NULL, conf_routes_differ },
	{ CONF_RESTART, "interface", interface_differs },
	{ CONF_RESTART, "source-address", source_address_differs },
	{ CONF_RESTART, "source-interface", source_interface_differs },
	{ CONF_RESTART, "line", conf_lines_differ },
	{ CONF_RESTART, "node-id", node_id_differs },
	{ CONF_RESTART, "authentication.pre-shared-secret", conf_has_secret_differs },
	{ CONF_KEYS, NULL, conf_keys_differ },
	{ CONF_TRANSPORT, NULL, conf_transport_differs },
	{ CONF_POLICY, NULL, conf_policy_differs },
	{ CONF_ACCELERATION, NULL, conf_acceleration_differs },
	{ CONF_RESTART, "identity-file", conf_identity_differs },
	{ CONF_RESTART, "system.control-socket", control_socket_differs },
};

unsigned conf_diff(const struct conf *a, const struct conf *b)
{
	unsigned changes = conf_diff_leaves(a, b);

	for (size_t i = 0; i < array_size(parts); i++)
		if (parts[i].differs(a, b))
			changes |= parts[i].change;
	return changes;
}

/* Appends a key. The blanks of its path become dots. */
static size_t add_key(const char *key, char *out, size_t at, size_t len)
{
	size_t from = at + (at ? 2 : 0);

	if (at >= len)
		return at;
	at += (size_t)snprintf(out + at, len - at, "%s%s", at ? ", " : "", key);
	for (size_t i = from; i < len && out[i]; i++)
		if (out[i] == ' ')
			out[i] = '.';
	return at;
}

void conf_restart_keys(const struct conf *a, const struct conf *b, char *out, size_t len)
{
	size_t at = 0, leaf = 0;
	const char *path;

	if (len)
		out[0] = '\0';
	for (size_t i = 0; i < array_size(parts); i++)
		if (parts[i].key && parts[i].differs(a, b))
			at = add_key(parts[i].key, out, at, len);
	while ((path = conf_next_restart_leaf(a, b, &leaf)) != NULL)
		at = add_key(path, out, at, len);
}
