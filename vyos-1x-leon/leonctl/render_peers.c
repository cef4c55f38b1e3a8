// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show peers`: one row for each address of a configured peer. The first row also describes the
 * peer.
 */
#include "base/defs.h"
#include "render.h"
#include "table.h"
#include "value.h"

static const char *or_empty(struct jsonr_node *n, const char *key)
{
	const char *s = "";

	jsonr_str(n, key, &s);
	return s;
}

/* Prints the state of the peer, or of one of its addresses. */
static void address_cells(struct table *t, struct jsonr_node *peer, struct jsonr_node *address)
{
	const char *reason = or_empty(peer, "reason");

	table_cell(t, "%s", address ? text_str(address, "endpoint") : UNKNOWN);
	table_cell(t, "%s", address ? text_number(address, "requested") : UNKNOWN);
	table_cell(t, "%s", address ? text_age(address, "requested_seconds") : UNKNOWN);
	table_cell(t, "%s", address ? or_empty(address, "result") : "");
	table_cell(t, "%s", *reason && address ? or_empty(address, "text") : reason);
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
		table_cell(t, "%s", i ? "" : or_empty(peer, "description"));
		address_cells(t, peer, n ? jsonr_at(list, i) : NULL);
	}
}

int render_peers(struct jsonr_node *root, FILE *out)
{
	static const struct table_column columns[] = {
		{ "PEER", ALIGN_LEFT },	       { "STATE", ALIGN_LEFT },
		{ "SINCE", ALIGN_RIGHT },      { "NODE", ALIGN_LEFT },
		{ "DESCRIPTION", ALIGN_LEFT }, { "ADDRESS", ALIGN_LEFT },
		{ "REQUESTS", ALIGN_RIGHT },   { "LAST", ALIGN_RIGHT },
		{ "ANSWER", ALIGN_LEFT },      { "WHY NOT", ALIGN_LEFT },
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
