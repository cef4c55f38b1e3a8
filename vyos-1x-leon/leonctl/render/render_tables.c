// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Answers of tables and few sentences: paths, routes, ipsec, fdb, identity, segments, multicast,
 * queues.
 */
#include <stdlib.h>
#include <string.h>

#include "render/render.h"
#include "show/show.h"
#include "text/text.h"

/* Prints the mean latency of the paths in use beside that of the direct links. */
static void print_gain(struct jsonr_node *root, FILE *out)
{
	struct jsonr_node *gain = jsonr_object(root, "gain");
	uint64_t used, direct, alone = 0;
	int percent;

	if (!gain || !jsonr_u64(gain, "mean_latency_us", 0, UINT64_MAX, &used) ||
	    !jsonr_u64(gain, "mean_direct_latency_us", 0, UINT64_MAX, &direct) || !direct)
		return;
	percent = (int)(100 * (used <= direct ? direct - used : used - direct) / direct);
	fprintf(out, "\nAverage since start: %s (direct links: %s, difference %s%d %%).\n",
		text_us(gain, "mean_latency_us"), text_us(gain, "mean_direct_latency_us"),
		percent == 0 ? "" : (used <= direct ? "-" : "+"), percent);
	if (jsonr_u64(gain, "without_direct_seconds", 0, UINT64_MAX, &alone) && alone)
		show_text("Relays replaced direct links that were down for "
			  "{seconds without_direct_seconds} in total.\n",
			  gain, out);
}

void render_paths(struct jsonr_node *root, FILE *out)
{
	show_table("show paths", "paths", root, out);
	print_gain(root, out);
}

void render_routes(struct jsonr_node *root, FILE *out)
{
	show_table("show routes", "routes", root, out);
	if (!value_bool(root, "exporting"))
		show_text("\nNo route is exported: {reason}\n", root, out);
	show_below("show routes", "prefixes", root, out);
}

#define REPORT_OLD_S 30 /* life of a report in leond */

void render_ipsec(struct jsonr_node *root, FILE *out)
{
	struct jsonr_node *list = jsonr_array(root, "problems");
	const char *text;

	if (strcmp(text_age(root, "reported_seconds"), UNKNOWN) == 0) {
		fputs("IPsec is not in use: leon-ipsec has not reported.\n", out);
		return;
	}
	show_table("show ipsec", "endpoints", root, out);
	fputc('\n', out);
	for (size_t i = 0; jsonr_str_at(list, i, &text); i++)
		fprintf(out, "problem: %s\n", text);
	fprintf(out, "last report of leon-ipsec: %s%s\n", text_age(root, "reported_seconds"),
		value_u64(root, "reported_seconds") > REPORT_OLD_S
			? " ago: leon-ipsec does not run, see its log"
			: "");
}

void render_fdb(struct jsonr_node *root, FILE *out)
{
	uint64_t shown = jsonr_len(jsonr_array(root, "entries")), count = value_u64(root, "count");

	show_table("show fdb", "entries", root, out);
	if (count > shown)
		fprintf(out, "%s not shown.\n", text_count(count - shown, "more MAC"));
	show_text("\n{number count} of at most {number maximum} entries\n", root, out);
}

static void own_duplicate(struct jsonr_node *d, FILE *out)
{
	const char *at = NULL, *by = NULL;

	if (!d)
		return;
	jsonr_str(d, "endpoint", &at);
	jsonr_str(d, "reported_by", &by);
	fprintf(out, "\nAnother node uses the node-id of this one%s%s%s, seen %s ago%s%s.\n",
		value_bool(d, "same_identity") ? " and its identity (a clone)" : "",
		at ? ", at " : "", at ? at : "", text_age(d, "seen_seconds"),
		by ? ", reported by " : "", by ? by : "");
}

void render_identity(struct jsonr_node *root, FILE *out)
{
	unsigned n_columns;
	struct table_column *columns = show_columns("show identity", "identities", &n_columns);
	bool restricted = value_bool(root, "restricted");

	show_text("identity of this node: {identity}\nkept in: {file}\n\n", root, out);
	/* Without a list, no identity is listed. */
	table_show(out, columns, n_columns - !restricted, jsonr_array(root, "identities"), NULL,
		   "No identity is known.");
	free(columns);
	fprintf(out, "\n%s\n",
		restricted ? "Only listed identities may be members."
			   : "No list is configured: every node with the secret may be a member.");
	own_duplicate(jsonr_object(root, "duplicate"), out);
}

void render_segments(struct jsonr_node *root, FILE *out)
{
	const char *source = text_str(root, "source");

	if (strcmp(source, "any") == 0)
		fputs("This node serves all VLANs. The table lists the VLANs in use.\n\n", out);
	else
		fprintf(out, "This node serves VLANs %s (source: %s).\n\n",
			cell_ranges(root, "vlans"), source);
	show_answer("show segments", root, out);
}

void render_multicast(struct jsonr_node *root, FILE *out)
{
	uint64_t left_out = value_u64(root, "left_out");
	uint64_t queries = value_u64(root, "queries");

	if (!value_bool(root, "snooping")) {
		fputs("Multicast snooping is off: this node sends multicast to all nodes and "
		      "receives all.\n",
		      out);
		return;
	}
	if (value_bool(root, "querier"))
		fprintf(out, "This node is a querier and has sent %s %s.\n\n",
			text_number(root, "queries"), queries == 1 ? "query" : "queries");
	show_table("show multicast", "vlans", root, out);
	show_below("show multicast", "groups", root, out);
	if (left_out)
		fprintf(out, "%s not shown.\n", text_count(left_out, "more listener"));
	show_below("show multicast", "nodes", root, out);
}

/* Prints the result of `shaper automatic`. */
static void print_bottleneck(struct jsonr_node *line, FILE *out)
{
	if (!value_bool(line, "automatic"))
		return;
	show_text(
		value_u64(line, "limit_kbits")
			? "shaper automatic: {state}, limit {number limit_kbits} kbit/s, verified "
			  "rate of the access link {number capacity_kbits} kbit/s, queueing delay "
			  "{us queue_us}.\n\n"
			: "shaper automatic: {state}, no limit.\n\n",
		line, out);
}

/* Prints the reason why frames queue on this node. */
static void print_rates(struct jsonr_node *root, FILE *out)
{
	bool to_hops = jsonr_len(jsonr_array(root, "next_hops")) > 0;

	if (value_u64(root, "shaper_egress_kbits"))
		show_text("Shaped to {number shaper_egress_kbits} kbit/s.\n\n", root, out);
	if (value_u64(root, "shaper_ingress_kbits"))
		show_text("All senders together may send {number shaper_ingress_kbits} kbit/s to "
			  "this node.\n\n",
			  root, out);
	if (to_hops)
		fputs("Traffic to each next hop is limited to its rate.\n\n", out);
	if (!to_hops && !value_u64(jsonr_object(root, "bottleneck"), "limit_kbits"))
		fputs("Frames from the local segment queue here only while bulk flows have a backlog.\n\n",
		      out);
}

void render_queues(struct jsonr_node *root, FILE *out)
{
	print_bottleneck(jsonr_object(root, "bottleneck"), out);
	print_rates(root, out);
	show_answer("show queues", root, out);
}

/* --- trace, ping and reload --- */

int verdict_trace(struct jsonr_node *root)
{
	return value_bool(root, "complete") ? 0 : 1;
}

int verdict_ping(struct jsonr_node *root)
{
	return value_u64(root, "received") > 0 ? 0 : 1;
}

void render_trace(struct jsonr_node *root, FILE *out)
{
	show_table("trace", "hops", root, out);
}

void render_ping(struct jsonr_node *root, FILE *out)
{
	struct jsonr_node *list = jsonr_array(root, "replies"), *n;

	for (size_t i = 0; (n = jsonr_at(list, i)); i++) {
		fprintf(out, "%s: sequence %s, %s\n", text_node(root, "destination", "name"),
			text_number(n, "sequence"), cell_rtt_or_error(n, "rtt_us"));
	}
	show_text("{number sent} sent, {number received} received, {permille loss_permille} loss, "
		  "minimum/average/maximum {us min_us} / {us avg_us} / {us max_us}\n",
		  root, out);
}

/* The daemon applied nothing, so `systemctl reload` must fail. */
int verdict_reload(struct jsonr_node *root)
{
	return jsonr_len(jsonr_array(root, "restart_keys")) > 0 ? 1 : 0;
}

void render_reload(struct jsonr_node *root, FILE *out)
{
	struct jsonr_node *warnings = jsonr_array(root, "warnings");
	const char *text;

	fprintf(out, "%s: %s\n", text_str(root, "interface"), text_str(root, "verdict"));
	for (size_t i = 0; i < jsonr_len(warnings) && jsonr_str_at(warnings, i, &text); i++)
		fprintf(out, "warning: %s\n", text);
}
