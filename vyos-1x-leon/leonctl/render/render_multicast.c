// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show multicast`: a table of VLANs with their queriers, a table of groups with their listeners,
 * and a table of the nodes. leonctl only.
 */
#include <stdio.h>

#include "base/defs.h"
#include "render/render.h"
#include "text/table.h"
#include "text/value.h"

/* Returns "here, berlin, 10.0.0.4". */
static const char *listeners(struct jsonr_node *n, const char *key)
{
	struct jsonr_node *list = jsonr_array(n, key);
	static char text[512];
	size_t at = (size_t)snprintf(text, sizeof(text), "%s", value_bool(n, "here") ? "here" : "");

	for (size_t i = 0; i < jsonr_len(list) && at < sizeof(text); i++) {
		struct jsonr_node *node = jsonr_at(list, i);
		const char *name = text_str(node, jsonr_has(node, "name") ? "name" : "node_id");

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", at ? ", " : "", name);
	}
	return text;
}

static const char *receives(struct jsonr_node *n, const char *key)
{
	char *out = text_buffer();
	uint64_t lists = value_u64(n, key);

	if (!value_bool(n, "snooping"))
		return "all groups (no snooping)";
	if (!lists)
		return "all groups";
	snprintf(out, TEXT_MAX, "%s in %s and %s, all in others",
		 text_count(value_u64(n, "groups"), "group"), text_count(lists, "VLAN"),
		 lists == 1 ? "family" : "families");
	return out;
}

static void print_vlans(struct jsonr_node *list, FILE *out)
{
	static const struct table_column columns[] = {
		RIGHT("VLAN", "vlan", text_number),   RIGHT("SEGMENT", "segment", text_number),
		LEFT("FAMILY", "family", text_str),   LEFT("STATE", "state", text_str),
		LEFT("QUERIER", "querier", text_str), RIGHT("GROUPS", "groups", text_number),
	};

	table_show(out, columns, array_size(columns), list, NULL,
		   "No multicast report or query was received.");
}

static void print_groups(struct jsonr_node *list, FILE *out)
{
	static const struct table_column columns[] = {
		RIGHT("VLAN", "vlan", text_number),
		LEFT("GROUP", "group", text_str),
		LEFT("LISTENERS", "nodes", listeners),
	};

	fputs(jsonr_len(list) ? "\n" : "", out);
	table_show(out, columns, array_size(columns), list, NULL, NULL);
}

static void print_nodes(struct jsonr_node *list, FILE *out)
{
	static const struct table_column columns[] = {
		LEFT("NODE-ID", "node_id", text_str),
		LEFT("NAME", "name", text_str),
		LEFT("RECEIVES", "limited", receives),
	};

	fputs(jsonr_len(list) ? "\n" : "", out);
	table_show(out, columns, array_size(columns), list, NULL, NULL);
}

int render_multicast(struct jsonr_node *root, FILE *out)
{
	uint64_t left_out = value_u64(root, "left_out");
	uint64_t queries = value_u64(root, "queries");

	if (!value_bool(root, "snooping")) {
		fputs("Multicast snooping is off: this node sends multicast to all nodes and "
		      "receives all.\n",
		      out);
		return 0;
	}
	if (value_bool(root, "querier"))
		fprintf(out, "This node is a querier and has sent %s %s.\n\n",
			text_number(root, "queries"), queries == 1 ? "query" : "queries");
	print_vlans(jsonr_array(root, "vlans"), out);
	print_groups(jsonr_array(root, "groups"), out);
	if (left_out)
		fprintf(out, "%s not shown.\n", text_count(left_out, "more listener"));
	print_nodes(jsonr_array(root, "nodes"), out);
	return 0;
}
