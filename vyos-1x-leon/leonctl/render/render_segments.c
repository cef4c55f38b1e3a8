// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show segments`: a table of VLANs with their segments, and a table of the nodes that serve the
 * segments. leonctl only.
 */
#include <stdio.h>
#include <string.h>

#include "base/defs.h"
#include "render/render.h"
#include "text/table.h"
#include "text/value.h"

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
static const char *why(struct jsonr_node *n, const char *key)
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
	const char *reason = text_str(n, key);

	for (size_t i = 0; i < array_size(known); i++)
		if (strcmp(reason, known[i].reason) == 0)
			return known[i].text;
	return reason;
}

/* Returns "70010 (storage)", or the number alone. */
static const char *segment(struct jsonr_node *n, const char *key)
{
	char *out = text_buffer();

	if (!jsonr_has(n, "name"))
		return text_number(n, key);
	snprintf(out, TEXT_MAX, "%s (%s)", text_number(n, key), text_str(n, "name"));
	return out;
}

static const char *forwarder(struct jsonr_node *n, const char *key)
{
	return text_node(n, key, "forwarder_name");
}

static void print_segments(struct jsonr_node *list, FILE *out)
{
	static const struct table_column columns[] = {
		RIGHT("VLAN", "vlan", text_number),
		LEFT("SEGMENT", "segment", segment),
		LEFT("STATE", "state", text_str),
		LEFT("FORWARDER", "forwarder", forwarder),
		LEFT("WHY", "reason", why),
		RIGHT("NODES", "nodes", text_number),
		RIGHT("MACS", "macs", text_number),
		RIGHT("FLOODED", "flooded", text_number),
		RIGHT("PRUNED", "pruned", text_number),
		RIGHT("LIMITED", "limited", text_number),
	};

	table_show(out, columns, array_size(columns), list, NULL, NULL);
}

static const char *served(struct jsonr_node *n, const char *key)
{
	static char text[512];

	ranges_text(n, key, text, sizeof(text));
	return text;
}

static void print_nodes(struct jsonr_node *list, FILE *out)
{
	static const struct table_column columns[] = {
		LEFT("NODE-ID", "node_id", text_str),
		LEFT("NAME", "name", text_str),
		LEFT("SERVES SEGMENTS", "segments", served),
	};

	fputs(jsonr_len(list) ? "\n" : "", out);
	table_show(out, columns, array_size(columns), list, NULL, NULL);
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
