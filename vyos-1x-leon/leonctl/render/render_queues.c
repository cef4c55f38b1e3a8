// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show queues`: a table of the backlog between the TAP and the overlay. leonctl only.
 */
#include <stdio.h>

#include "base/defs.h"
#include "render/render.h"
#include "text/table.h"
#include "text/value.h"

/* clang-format off */
#define FIGURES                                                                                    \
	RIGHT("BYTES", "backlog_bytes", text_number),                                              \
	RIGHT("FRAMES", "backlog_frames", text_number),                                            \
	RIGHT("SENT", "frames", text_number),                                                      \
	RIGHT("P50 us", "wait_p50_us", text_number),                                               \
	RIGHT("P99 us", "wait_p99_us", text_number),                                               \
	RIGHT("MARKED", "marked", text_number),                                                    \
	RIGHT("FULL", "dropped_full", text_number),                                                \
	RIGHT("LATE", "dropped_late", text_number)
/* clang-format on */

static void print_workers(struct jsonr_node *list, FILE *out)
{
	static const struct table_column columns[] = {
		RIGHT("WORKER", "worker", text_number),
		FIGURES,
		RIGHT("SOCKET P50 us", "socket_wait_p50_us", text_number),
		RIGHT("P99 us", "socket_wait_p99_us", text_number),
	};

	table_show(out, columns, array_size(columns), list, NULL, NULL);
}

static const char *percent(struct jsonr_node *n, const char *key)
{
	char *out = text_buffer();

	snprintf(out, TEXT_MAX, "%s %%", text_number(n, key));
	return out;
}

static void print_tiers(struct jsonr_node *list, FILE *out)
{
	static const struct table_column columns[] = {
		LEFT("TIER", "tier", text_str),
		RIGHT("SHARE", "share_percent", percent),
		FIGURES,
	};

	fputs("\n", out);
	table_show(out, columns, array_size(columns), list, NULL, NULL);
}

static const char *node_and_name(struct jsonr_node *n, const char *key)
{
	return text_node(n, key, "name");
}

/* Prints nothing without rate limits. */
static void print_next_hops(struct jsonr_node *list, FILE *out)
{
	static const struct table_column columns[] = {
		LEFT("NEXT HOP", "node_id", node_and_name),
		RIGHT("LIMIT kbit/s", "limit_kbits", text_number),
		RIGHT("REQUESTED", "requested_kbits", text_number),
		FIGURES,
	};

	fputs(jsonr_len(list) ? "\n" : "", out);
	table_show(out, columns, array_size(columns), list, NULL, NULL);
}

/* Prints nothing without `shaper ingress`. */
static void print_senders(struct jsonr_node *list, FILE *out)
{
	static const struct table_column columns[] = {
		LEFT("SENDER", "node_id", node_and_name),
		RIGHT("RECEIVED kbit/s", "received_kbits", text_number),
		RIGHT("SHARE kbit/s", "share_kbits", text_number),
	};

	fputs(jsonr_len(list) ? "\n" : "", out);
	table_show(out, columns, array_size(columns), list, NULL, NULL);
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
