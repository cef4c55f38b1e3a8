// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show segments`: a table of VLANs with their segments, and a table of the nodes that serve the
 * segments. leonctl only.
 */
#include <stdio.h>
#include <string.h>

#include "base/defs.h"
#include "render.h"
#include "table.h"
#include "value.h"

/* Prints "10, 20-29", "none", or "all" if the answer has null. */
static void ranges_text(struct jsonr_node *n, const char *key, char *buf, size_t len)
{
	struct jsonr_node *list = jsonr_array(n, key);
	size_t at = 0;

	snprintf(buf, len, "%s", jsonr_has(n, key) && list ? "none" : "all");
	for (size_t i = 0; i < jsonr_len(list) && at < len; i++) {
		struct jsonr_node *r = jsonr_at(list, i);
		unsigned long long first = value_u64(r, "first"), last = value_u64(r, "last");

		at += (size_t)snprintf(buf + at, len - at, "%s%llu", at ? ", " : "", first);
		if (last > first && at < len)
			at += (size_t)snprintf(buf + at, len - at, "-%llu", last);
	}
}

/* Returns the reason for the election of the forwarder, "" if the state implies the reason. */
static const char *why(struct jsonr_node *n)
{
	static const struct {
		const char *reason, *text;
	} known[] = {
		{ "preference", "highest preference" },
		{ "rank", "hash rank of this VLAN" },
		{ "holding", "previous forwarder is still active" },
		{ "no-path", "this node reaches no other site" },
		{ "stall", "this node stalled" },
		{ "silence", "no other node is ready" },
	};
	const char *reason = text_str(n, "reason");

	if (!jsonr_has(n, "reason"))
		return "-";
	for (size_t i = 0; i < array_size(known); i++)
		if (strcmp(reason, known[i].reason) == 0)
			return known[i].text;
	return reason;
}

/* Prints "70010 (storage)", or the number alone. */
static const char *segment_text(struct jsonr_node *n, char *buf, size_t len)
{
	if (!jsonr_has(n, "name"))
		return text_number(n, "segment");
	snprintf(buf, len, "%s (%s)", text_number(n, "segment"), text_str(n, "name"));
	return buf;
}

static void segment_row(struct table *t, struct jsonr_node *n)
{
	char segment[64];

	table_cell(t, "%s", text_number(n, "vlan"));
	table_cell(t, "%s", segment_text(n, segment, sizeof(segment)));
	table_cell(t, "%s", text_str(n, "state"));
	table_cell(t, "%s", text_node(n, "forwarder", "forwarder_name"));
	table_cell(t, "%s", why(n));
	table_cell(t, "%s", text_number(n, "nodes"));
	table_cell(t, "%s", text_number(n, "macs"));
	table_cell(t, "%s", text_number(n, "flooded"));
	table_cell(t, "%s", text_number(n, "pruned"));
	table_cell(t, "%s", text_number(n, "limited"));
}

static void print_segments(struct jsonr_node *list, FILE *out)
{
	static const struct table_column columns[] = {
		{ "VLAN", ALIGN_RIGHT },     { "SEGMENT", ALIGN_LEFT },	 { "STATE", ALIGN_LEFT },
		{ "FORWARDER", ALIGN_LEFT }, { "WHY", ALIGN_LEFT },	 { "NODES", ALIGN_RIGHT },
		{ "MACS", ALIGN_RIGHT },     { "FLOODED", ALIGN_RIGHT }, { "PRUNED", ALIGN_RIGHT },
		{ "LIMITED", ALIGN_RIGHT },
	};
	struct table *t = table_new(columns, array_size(columns));

	for (size_t i = 0; i < jsonr_len(list); i++)
		segment_row(t, jsonr_at(list, i));
	if (table_rows(t))
		table_print(t, out);
	table_free(t);
}

static void print_nodes(struct jsonr_node *list, FILE *out)
{
	static const struct table_column columns[] = {
		{ "NODE-ID", ALIGN_LEFT },
		{ "NAME", ALIGN_LEFT },
		{ "SERVES SEGMENTS", ALIGN_LEFT },
	};
	struct table *t = table_new(columns, array_size(columns));
	char segments[512];

	for (size_t i = 0; i < jsonr_len(list); i++) {
		struct jsonr_node *n = jsonr_at(list, i);

		ranges_text(n, "segments", segments, sizeof(segments));
		table_cell(t, "%s", text_str(n, "node_id"));
		table_cell(t, "%s", text_str(n, "name"));
		table_cell(t, "%s", segments);
	}
	if (table_rows(t)) {
		fputc('\n', out);
		table_print(t, out);
	}
	table_free(t);
}

int render_segments(struct jsonr_node *root, FILE *out)
{
	const char *source = text_str(root, "source");
	char vlans[2048];

	ranges_text(root, "vlans", vlans, sizeof(vlans));
	if (strcmp(source, "any") == 0)
		fputs("This node serves all VLANs. The table lists the VLANs in use.\n\n", out);
	else
		fprintf(out, "This node serves VLANs %s (source: %s).\n\n", vlans, source);
	print_segments(jsonr_array(root, "segments"), out);
	print_nodes(jsonr_array(root, "nodes"), out);
	return 0;
}
