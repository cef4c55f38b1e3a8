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

/* An item outside the leaves of conf.def. Readers write each value once into zeroed memory, and
 * sort lists, so equal items have equal bytes. */
struct part {
	enum conf_change change;
	const char *key; /* of an item that needs a restart, else NULL */
	size_t at, size; /* bytes in struct conf; of a list: its pointer, and bytes of an element */
	size_t count;	 /* of a list: the number of elements in struct conf, else 0 */
	bool (*differs)(const struct conf *a, const struct conf *b); /* for all other items */
};

#define MEMBER(m) .at = offsetof(struct conf, m), .size = sizeof(((struct conf *)NULL)->m)
#define BYTES(part, m)                                                                             \
	{                                                                                          \
		.change = CONF_##part, MEMBER(m)                                                   \
	}
#define FIXED(words, m)                                                                            \
	{                                                                                          \
		.change = CONF_RESTART, .key = words, MEMBER(m)                                    \
	}
#define LIST(part, m, n)                                                                           \
	{                                                                                          \
		.change = CONF_##part, .at = offsetof(struct conf, m),                             \
		.size = sizeof(*((struct conf *)NULL)->m), .count = offsetof(struct conf, n)       \
	}

static const struct part parts[] = {
	LIST(PEERS, peer, n_peers),
	BYTES(DEVICE, has_mac),
	BYTES(DEVICE, mac),
	BYTES(DEVICE, address),
	BYTES(DEVICE, bridge),
	BYTES(RECORD, node_name),
	BYTES(RECORD, overlay),
	BYTES(RECORD, prefix),
	BYTES(DATAGRAMS, dscp_set),
	BYTES(DATAGRAMS, dscp_control),
	BYTES(FLOWS, flow_collector),
	BYTES(CAPTURE, capture),
	BYTES(FRAMES, has_vlans),
	BYTES(FRAMES, vlans),
	LIST(FRAMES, segment, n_segments),
	LIST(FRAMES, rate, n_rates),
	BYTES(ROUTES, overlay),
	BYTES(ROUTES, prefix),
	BYTES(ROUTES, import_address),
	LIST(ROUTES, import, n_imports),
	FIXED("interface", interface),
	FIXED("source-address", source4),
	FIXED("source-address", source6),
	FIXED("source-interface", source_interface),
	FIXED("line", line),
	FIXED("node-id", node_id),
	{ .change = CONF_RESTART,
	  .key = "authentication.pre-shared-secret",
	  .differs = conf_has_secret_differs },
	{ .change = CONF_KEYS, .differs = conf_secrets_differ },
	LIST(KEYS, trusted, n_trusted),
	{ .change = CONF_TRANSPORT, .differs = conf_transport_differs },
	BYTES(POLICY, policy.critical),
	{ .change = CONF_ACCELERATION, .differs = conf_acceleration_differs },
	FIXED("identity-file", identity_file),
	FIXED("system.control-socket", control_socket),
};

static bool lists_differ(const struct part *p, const char *a, const char *b)
{
	const void *x, *y;
	uint32_t n, m;

	memcpy(&n, a + p->count, sizeof(n));
	memcpy(&m, b + p->count, sizeof(m));
	memcpy(&x, a + p->at, sizeof(x));
	memcpy(&y, b + p->at, sizeof(y));
	return n != m || (n && memcmp(x, y, n * p->size) != 0);
}

static bool differs(const struct part *p, const struct conf *a, const struct conf *b)
{
	const char *x = (const char *)a, *y = (const char *)b;

	if (p->differs)
		return p->differs(a, b);
	if (p->count)
		return lists_differ(p, x, y);
	return memcmp(x + p->at, y + p->at, p->size) != 0;
}

unsigned conf_diff(const struct conf *a, const struct conf *b)
{
	unsigned changes = conf_diff_leaves(a, b);

	for (size_t i = 0; i < array_size(parts); i++)
		if (differs(&parts[i], a, b))
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
	const char *path, *last = "";

	if (len)
		out[0] = '\0';
	for (size_t i = 0; i < array_size(parts); i++)
		if (parts[i].key && strcmp(parts[i].key, last) != 0 && differs(&parts[i], a, b))
			at = add_key(last = parts[i].key, out, at, len);
	while ((path = conf_next_restart_leaf(a, b, &leaf)) != NULL)
		at = add_key(path, out, at, len);
}
