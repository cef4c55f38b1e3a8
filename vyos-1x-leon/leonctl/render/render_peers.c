// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show peers`: one row for each address of a configured peer. The first row also describes the
 * peer.
 */
#include <stdio.h>
#include <string.h>

#include "base/defs.h"
#include "render/render.h"
#include "text/table.h"
#include "text/value.h"

/* Prints the state of the peer, or of one of its addresses. */
static void address_cells(struct table *t, struct jsonr_node *peer, struct jsonr_node *address)
{
	const char *reason = text_optional(peer, "reason");

	table_cell(t, "%s", address ? text_str(address, "endpoint") : UNKNOWN);
	table_cell(t, "%s", address ? text_number(address, "requested") : UNKNOWN);
	table_cell(t, "%s", address ? text_age(address, "requested_seconds") : UNKNOWN);
	table_cell(t, "%s", address ? text_optional(address, "result") : "");
	table_cell(t, "%s", *reason && address ? text_optional(address, "text") : reason);
}

/* "udp", "tls", "udp, backup tls", or UDP in use with a TLS connection that begins or is idle. */
static const char *transport(struct jsonr_node *peer)
{
	const char *in_use = text_str(peer, "transport"), *tls = text_optional(peer, "tls_state");
	char *out = text_buffer();

	if (!*tls || strcmp(in_use, "tls") == 0)
		return in_use;
	if (strcmp(tls, "connected") == 0)
		snprintf(out, TEXT_MAX, "%s, backup tls", in_use);
	else
		snprintf(out, TEXT_MAX, "%s, tls %s", in_use, tls);
	return out;
}

static void peer_rows(struct table *t, struct jsonr_node *peer)
{
	struct jsonr_node *list = jsonr_array(peer, "addresses");
	size_t n = jsonr_len(list);

	for (size_t i = 0; i == 0 || i < n; i++) {
		table_cell(t, "%s", i ? "" : text_str(peer, "name"));
		table_cell(t, "%s", i ? "" : text_str(peer, "state"));
		table_cell(t, "%s", i ? "" : text_age(peer, "since_seconds"));
		table_cell(t, "%s", i ? "" : text_node(peer, "node_id", "node_name"));
		table_cell(t, "%s", i ? "" : transport(peer));
		table_cell(t, "%s", i ? "" : text_optional(peer, "description"));
		address_cells(t, peer, n ? jsonr_at(list, i) : NULL);
	}
}

int render_peers(struct jsonr_node *root, FILE *out)
{
	static const struct table_column columns[] = {
		LEFT("PEER", NULL, NULL),      LEFT("STATE", NULL, NULL),
		RIGHT("SINCE", NULL, NULL),    LEFT("NODE", NULL, NULL),
		LEFT("TRANSPORT", NULL, NULL), LEFT("DESCRIPTION", NULL, NULL),
		LEFT("ADDRESS", NULL, NULL),   RIGHT("REQUESTS", NULL, NULL),
		RIGHT("LAST", NULL, NULL),     LEFT("ANSWER", NULL, NULL),
		LEFT("WHY NOT", NULL, NULL),
	};
	struct table *t = table_new(columns, array_size(columns));
	struct jsonr_node *list = jsonr_array(root, "peers");

	for (size_t i = 0; i < jsonr_len(list); i++)
		peer_rows(t, jsonr_at(list, i));
	if (table_rows(t) == 0)
		fputs("No peer is configured. Other nodes can join through this node.\n", out);
	else
		table_print(t, out);
	table_free(t);
	return 0;
}
