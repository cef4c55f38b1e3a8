// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The difference between two configurations of conf.h: which parts of the daemon a reload has to
 * touch, and which keys it cannot apply without a restart. Called by daemon/ at reload, on the
 * control thread. Never prints a value, so the secret stays where it is.
 */
#include "state/conf.h"

#include <stdio.h>
#include <string.h>

#include "base/defs.h"
#include "state/conf_section.h"

#define DIFFERS(a, b, member) ((a)->member != (b)->member)

/* Both are sorted by name. */
static bool peers_differ(const struct conf *a, const struct conf *b)
{
	if (a->n_peers != b->n_peers)
		return true;
	for (uint32_t i = 0; i < a->n_peers; i++) {
		const struct conf_peer *p = &a->peer[i], *q = &b->peer[i];

		if (strcmp(p->name, q->name) != 0 || strcmp(p->host, q->host) != 0 ||
		    p->ep.port != q->ep.port || p->disable != q->disable ||
		    strcmp(p->description, q->description) != 0)
			return true;
	}
	return false;
}

static bool device_differs(const struct conf *a, const struct conf *b)
{
	return DIFFERS(a, b, has_mac) || mac_to_u64(a->mac) != mac_to_u64(b->mac) ||
	       DIFFERS(a, b, mtu);
}

static bool probing_differs(const struct conf *a, const struct conf *b)
{
	return DIFFERS(a, b, interval_ms) || DIFFERS(a, b, fast_interval_ms) ||
	       DIFFERS(a, b, dead_multiplier) || DIFFERS(a, b, lasting_s);
}

static bool paths_differ(const struct conf *a, const struct conf *b)
{
	return DIFFERS(a, b, threshold_percent) || DIFFERS(a, b, threshold_min_us) ||
	       DIFFERS(a, b, noise_percent) || DIFFERS(a, b, lasting_percent) ||
	       DIFFERS(a, b, hold_time_ms) || DIFFERS(a, b, maximum_relays) ||
	       DIFFERS(a, b, relay_cost_us);
}

static bool fdb_differs(const struct conf *a, const struct conf *b)
{
	return DIFFERS(a, b, fdb_aging_s) || DIFFERS(a, b, fdb_maximum);
}

static bool frames_differ(const struct conf *a, const struct conf *b)
{
	return DIFFERS(a, b, storm_broadcast) || DIFFERS(a, b, storm_multicast) ||
	       DIFFERS(a, b, storm_unknown) || DIFFERS(a, b, suppress_arp) ||
	       DIFFERS(a, b, suppress_nd) || DIFFERS(a, b, mss_clamp) ||
	       DIFFERS(a, b, busy_poll_us) || DIFFERS(a, b, guard) ||
	       DIFFERS(a, b, guard_interval_ms);
}

static bool record_differs(const struct conf *a, const struct conf *b)
{
	return strcmp(a->node_name, b->node_name) != 0 || DIFFERS(a, b, transit_disable) ||
	       conf_announced_differ(a, b);
}

static bool members_differ(const struct conf *a, const struct conf *b)
{
	return DIFFERS(a, b, nodes_maximum) || DIFFERS(a, b, forget_ms);
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

static bool port_differs(const struct conf *a, const struct conf *b)
{
	return DIFFERS(a, b, port);
}

static bool vni_differs(const struct conf *a, const struct conf *b)
{
	return DIFFERS(a, b, vni);
}

static bool node_id_differs(const struct conf *a, const struct conf *b)
{
	return DIFFERS(a, b, node_id);
}

static bool workers_differ(const struct conf *a, const struct conf *b)
{
	return DIFFERS(a, b, workers);
}

static bool control_socket_differs(const struct conf *a, const struct conf *b)
{
	return strcmp(a->control_socket, b->control_socket) != 0;
}

static bool log_differs(const struct conf *a, const struct conf *b)
{
	return DIFFERS(a, b, log_level);
}

/* The key is named where a restart is needed; NULL elsewhere. */
static const struct {
	enum conf_change change;
	const char *key;
	bool (*differs)(const struct conf *a, const struct conf *b);
} parts[] = {
	{ CONF_PEERS, NULL, peers_differ },
	{ CONF_PROBING, NULL, probing_differs },
	{ CONF_PATHS, NULL, paths_differ },
	{ CONF_FDB, NULL, fdb_differs },
	{ CONF_FRAMES, NULL, frames_differ },
	{ CONF_DEVICE, NULL, device_differs },
	{ CONF_RECORD, NULL, record_differs },
	{ CONF_LOG, NULL, log_differs },
	{ CONF_MEMBERS, NULL, members_differ },
	{ CONF_ROUTES, NULL, conf_routes_differ },
	{ CONF_RESTART, "interface", interface_differs },
	{ CONF_RESTART, "source-address", source_address_differs },
	{ CONF_RESTART, "source-interface", source_interface_differs },
	{ CONF_RESTART, "port", port_differs },
	{ CONF_RESTART, "vni", vni_differs },
	{ CONF_RESTART, "node-id", node_id_differs },
	{ CONF_RESTART, "authentication.pre-shared-secret", conf_has_secret_differs },
	{ CONF_KEYS, NULL, conf_keys_differ },
	{ CONF_DATAGRAMS, NULL, conf_datagrams_differ },
	{ CONF_RESTART, "identity-file", conf_identity_differs },
	{ CONF_RESTART, "system.workers", workers_differ },
	{ CONF_RESTART, "system.control-socket", control_socket_differs },
};

unsigned conf_diff(const struct conf *a, const struct conf *b)
{
	unsigned changes = CONF_SAME;

	for (size_t i = 0; i < array_size(parts); i++)
		if (parts[i].differs(a, b))
			changes |= parts[i].change;
	return changes;
}

void conf_restart_keys(const struct conf *a, const struct conf *b, char *out, size_t len)
{
	size_t at = 0;

	if (len)
		out[0] = '\0';
	for (size_t i = 0; i < array_size(parts) && at < len; i++) {
		if (parts[i].key && parts[i].differs(a, b))
			at += (size_t)snprintf(out + at, len - at, "%s%s", at ? ", " : "",
					       parts[i].key);
	}
}
