// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show queues`: a table of the backlog between the TAP and the overlay. leonctl only.
 */
#include <stdio.h>

#include "base/defs.h"
#include "render.h"
#include "table.h"
#include "value.h"

#define FIGURES                                                                                    \
	{ "BYTES", ALIGN_RIGHT }, { "FRAMES", ALIGN_RIGHT }, { "SENT", ALIGN_RIGHT },              \
		{ "P50 us", ALIGN_RIGHT }, { "P99 us", ALIGN_RIGHT }, { "MARKED", ALIGN_RIGHT },   \
		{ "FULL", ALIGN_RIGHT },                                                           \
	{                                                                                          \
		"LATE", ALIGN_RIGHT                                                                \
	}

static void figures(struct table *t, struct jsonr_node *n)
{
	table_cell(t, "%s", text_number(n, "backlog_bytes"));
	table_cell(t, "%s", text_number(n, "backlog_frames"));
	table_cell(t, "%s", text_number(n, "frames"));
	table_cell(t, "%s", text_number(n, "wait_p50_us"));
	table_cell(t, "%s", text_number(n, "wait_p99_us"));
	table_cell(t, "%s", text_number(n, "marked"));
	table_cell(t, "%s", text_number(n, "dropped_full"));
	table_cell(t, "%s", text_number(n, "dropped_late"));
}

static void print_workers(struct jsonr_node *list, FILE *out)
{
	static const struct table_column columns[] = { { "WORKER", ALIGN_RIGHT },
						       FIGURES,
						       { "SOCKET P50 us", ALIGN_RIGHT },
						       { "P99 us", ALIGN_RIGHT } };
	struct table *t = table_new(columns, array_size(columns));

	for (size_t i = 0; i < jsonr_len(list); i++) {
		table_cell(t, "%s", text_number(jsonr_at(list, i), "worker"));
		figures(t, jsonr_at(list, i));
		table_cell(t, "%s", text_number(jsonr_at(list, i), "socket_wait_p50_us"));
		table_cell(t, "%s", text_number(jsonr_at(list, i), "socket_wait_p99_us"));
	}
	table_print(t, out);
	table_free(t);
}

static void print_tiers(struct jsonr_node *list, FILE *out)
{
	static const struct table_column columns[] = { { "TIER", ALIGN_LEFT },
						       { "SHARE", ALIGN_RIGHT },
						       FIGURES };
	struct table *t = table_new(columns, array_size(columns));

	for (size_t i = 0; i < jsonr_len(list); i++) {
		table_cell(t, "%s", text_str(jsonr_at(list, i), "tier"));
		table_cell(t, "%s %%", text_number(jsonr_at(list, i), "share_percent"));
		figures(t, jsonr_at(list, i));
	}
	fputs("\n", out);
	table_print(t, out);
	table_free(t);
}

/* Prints nothing without rate limits. */
static void print_next_hops(struct jsonr_node *list, FILE *out)
{
	static const struct table_column columns[] = { { "NEXT HOP", ALIGN_LEFT },
						       { "LIMIT kbit/s", ALIGN_RIGHT },
						       { "REQUESTED", ALIGN_RIGHT },
						       FIGURES };
	struct table *t;

	if (!jsonr_len(list))
		return;
	t = table_new(columns, array_size(columns));
	for (size_t i = 0; i < jsonr_len(list); i++) {
		struct jsonr_node *n = jsonr_at(list, i);

		table_cell(t, "%s", text_node(n, "node_id", "name"));
		table_cell(t, "%s", text_number(n, "limit_kbits"));
		table_cell(t, "%s", text_number(n, "requested_kbits"));
		figures(t, n);
	}
	fputs("\n", out);
	table_print(t, out);
	table_free(t);
}

/* Prints nothing without `shaper ingress`. */
static void print_senders(struct jsonr_node *list, FILE *out)
{
	static const struct table_column columns[] = { { "SENDER", ALIGN_LEFT },
						       { "RECEIVED kbit/s", ALIGN_RIGHT },
						       { "SHARE kbit/s", ALIGN_RIGHT } };
	struct table *t;

	if (!jsonr_len(list))
		return;
	t = table_new(columns, array_size(columns));
	for (size_t i = 0; i < jsonr_len(list); i++) {
		struct jsonr_node *n = jsonr_at(list, i);

		table_cell(t, "%s", text_node(n, "node_id", "name"));
		table_cell(t, "%s", text_number(n, "received_kbits"));
		table_cell(t, "%s", text_number(n, "share_kbits"));
	}
	fputs("\n", out);
	table_print(t, out);
	table_free(t);
}

/* Prints the result of `shaper automatic`. */
static void print_bottleneck(struct jsonr_node *line, FILE *out)
{
	if (!value_bool(line, "automatic"))
		return;
	if (!value_u64(line, "limit_kbits")) {
		fprintf(out, "shaper automatic: %s, no limit.\n\n", text_str(line, "state"));
		return;
	}
	fprintf(out,
		"shaper automatic: %s, limit %s kbit/s, verified rate of the access link %s "
		"kbit/s, queueing delay %s.\n\n",
		text_str(line, "state"), text_number(line, "limit_kbits"),
		text_number(line, "capacity_kbits"), text_us(line, "queue_us"));
}

/* Prints the reason why frames queue on this node. */
static void print_rates(struct jsonr_node *root, FILE *out)
{
	bool to_hops = jsonr_len(jsonr_array(root, "next_hops")) > 0;

	if (value_u64(root, "shaper_egress_kbits"))
		fprintf(out, "Shaped to %s kbit/s.\n\n", text_number(root, "shaper_egress_kbits"));
	if (value_u64(root, "shaper_ingress_kbits"))
		fprintf(out, "All senders together may send %s kbit/s to this node.\n\n",
			text_number(root, "shaper_ingress_kbits"));
	if (to_hops)
		fputs("Traffic to each next hop is limited to its rate.\n\n", out);
	if (!to_hops && !value_u64(jsonr_object(root, "bottleneck"), "limit_kbits"))
		fputs("Frames from the local segment queue here only while bulk flows have a backlog.\n\n",
		      out);
}

int render_queues(struct jsonr_node *root, FILE *out)
{
	print_bottleneck(jsonr_object(root, "bottleneck"), out);
	print_rates(root, out);
	print_workers(jsonr_array(root, "queues"), out);
	print_tiers(jsonr_array(root, "tiers"), out);
	print_next_hops(jsonr_array(root, "next_hops"), out);
	print_senders(jsonr_array(root, "senders"), out);
	return 0;
}
