// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Commands whose answer is one table: nodes, paths, routes, ipsec, fdb, events, identity.
 */
#include <string.h>

#include "base/defs.h"
#include "render.h"
#include "table.h"
#include "value.h"

/* Prints and frees a table. An empty table is replaced by a sentence. */
static int finish(struct table *t, FILE *out, const char *nothing)
{
	if (table_rows(t) == 0)
		fprintf(out, "%s\n", nothing);
	else
		table_print(t, out);
	table_free(t);
	return 0;
}

/* Joins the notes that apply, separated by commas. */
static void node_notes(struct jsonr_node *n, char *out, size_t len)
{
	const char *left = text_age(n, "session_ends_seconds");
	char ends[64];
	const struct {
		bool holds;
		const char *text;
	} notes[] = {
		{ value_bool(n, "transit_disabled"), "no transit" },
		{ value_u64(n, "data_loss_permille") > 0, "loses data" },
		{ strcmp(text_str(n, "lan"), "blocked") == 0, "LAN blocked" },
		{ strcmp(text_str(n, "lan"), "down") == 0, "LAN down" },
		{ strcmp(text_str(n, "encryption"), "none") == 0, "not encrypted" },
		{ strcmp(text_str(n, "protected"), "ipsec") == 0, "ipsec" },
		{ strcmp(text_str(n, "secret"), "other") == 0, ends },
		{ jsonr_object(n, "duplicate") != NULL, "node-id used twice" },
	};
	size_t at = 0;

	if (strcmp(left, UNKNOWN) == 0)
		snprintf(ends, sizeof(ends), "other secret");
	else
		snprintf(ends, sizeof(ends), "other secret, session ends in %s", left);
	out[0] = '\0';
	for (size_t i = 0; i < array_size(notes) && at < len; i++)
		if (notes[i].holds)
			at += (size_t)snprintf(out + at, len - at, "%s%s", at ? ", " : "",
					       notes[i].text);
}

static void node_row(struct table *t, struct jsonr_node *n)
{
	char notes[160];

	table_cell(t, "%s", text_str(n, "node_id"));
	table_cell(t, "%s", text_str(n, "name"));
	table_cell(t, "%s", text_str(n, "state"));
	table_cell(t, "%s", text_age(n, "since_seconds"));
	table_cell(t, "%s", text_str(n, "link"));
	table_cell(t, "%s", text_us(n, "rtt_us"));
	table_cell(t, "%s", text_us(n, "variation_us"));
	table_cell(t, "%s", text_permille(n, "loss_permille"));
	table_cell(t, "%s", text_number(n, "link_mtu"));
	table_cell(t, "%s", text_number(n, "macs"));
	table_cell(t, "%s%s", text_str(n, "endpoint"), value_bool(n, "behind_nat") ? " (NAT)" : "");
	node_notes(n, notes, sizeof(notes));
	table_cell(t, "%s", notes);
}

int render_nodes(struct jsonr_node *root, FILE *out)
{
	static const struct table_column columns[] = {
		{ "NODE-ID", ALIGN_LEFT },    { "NAME", ALIGN_LEFT },
		{ "STATE", ALIGN_LEFT },      { "SINCE", ALIGN_RIGHT },
		{ "LINK", ALIGN_LEFT },	      { "RTT", ALIGN_RIGHT },
		{ "VARIATION", ALIGN_RIGHT }, { "LOSS", ALIGN_RIGHT },
		{ "LINK MTU", ALIGN_RIGHT },  { "MACS", ALIGN_RIGHT },
		{ "ENDPOINT", ALIGN_LEFT },   { "NOTES", ALIGN_LEFT },
	};
	struct table *t = table_new(columns, array_size(columns));
	struct jsonr_node *list = jsonr_array(root, "nodes");

	for (size_t i = 0; i < jsonr_len(list); i++)
		node_row(t, jsonr_at(list, i));
	return finish(t, out, "No node is known.");
}

/* Prints "10.99.0.3/32 +2": the first entry and the number of further entries. */
static void exported_cell(struct table *t, struct jsonr_node *list)
{
	const char *first = "";
	size_t n = jsonr_len(list);

	if (n)
		jsonr_str_at(list, 0, &first);
	if (n > 1)
		table_cell(t, "%s +%zu", first, n - 1);
	else
		table_cell(t, "%s", first);
}

static void path_row(struct table *t, struct jsonr_node *n, const char *source)
{
	table_cell(t, "%s", text_str(n, "destination"));
	table_cell(t, "%s", text_str(n, "name"));
	table_cell(t, "%s", text_hops(n, "hop_names", source));
	table_cell(t, "%s", text_latency(n, "latency_us", "unresponsive"));
	table_cell(t, "%s", text_latency(n, "direct_latency_us", "direct_unresponsive"));
	table_cell(t, "%s", text_us(n, "jitter_us"));
	table_cell(t, "%s", text_us(n, "forward_variation_us"));
	table_cell(t, "%s", text_us(n, "return_variation_us"));
	table_cell(t, "%s", text_permille(n, "loss_permille"));
	table_cell(t, "%s", text_us(n, "cost_us"));
	table_cell(t, "%s", text_us(n, "best_cost_us"));
	table_cell(t, "%s", text_number(n, "mtu"));
	table_cell(t, "%s", text_age(n, "since_seconds"));
	table_cell(t, "%s", text_number(n, "changes"));
	table_cell(t, "%s", text_str(n, "reason"));
	exported_cell(t, jsonr_array(n, "exported"));
	table_cell(t, "%s", text_list(n, "avoided_names"));
}

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
		fprintf(out, "Relays replaced direct links that were down for %s in total.\n",
			text_age(gain, "without_direct_seconds"));
}

int render_paths(struct jsonr_node *root, FILE *out)
{
	static const struct table_column columns[] = {
		{ "DESTINATION", ALIGN_LEFT },	  { "NAME", ALIGN_LEFT },
		{ "PATH", ALIGN_LEFT },		  { "LATENCY", ALIGN_RIGHT },
		{ "DIRECT", ALIGN_RIGHT },	  { "JITTER", ALIGN_RIGHT },
		{ "FORWARD", ALIGN_RIGHT },	  { "RETURN", ALIGN_RIGHT },
		{ "LOSS", ALIGN_RIGHT },	  { "COST", ALIGN_RIGHT },
		{ "BEST COST", ALIGN_RIGHT },	  { "MTU", ALIGN_RIGHT },
		{ "SINCE", ALIGN_RIGHT },	  { "CHANGES", ALIGN_RIGHT },
		{ "REASON", ALIGN_LEFT },	  { "EXPORTED", ALIGN_LEFT },
		{ "AVOIDED RELAYS", ALIGN_LEFT },
	};
	struct table *t = table_new(columns, array_size(columns));
	struct jsonr_node *list = jsonr_array(root, "paths");
	const char *source = NULL;

	jsonr_str(root, "source_name", &source);
	for (size_t i = 0; i < jsonr_len(list); i++)
		path_row(t, jsonr_at(list, i), source);
	finish(t, out, "No other node is known.");
	print_gain(root, out);
	return 0;
}

static void route_row(struct table *t, struct jsonr_node *n)
{
	const char *reason = text_str(n, "reason");

	table_cell(t, "%s", text_str(n, "destination"));
	table_cell(t, "%s", text_str(n, "type"));
	table_cell(t, "%s", text_str(n, "node_id"));
	table_cell(t, "%s", text_str(n, "name"));
	table_cell(t, "%s", text_str(n, "gateway"));
	table_cell(t, "%s", text_number(n, "distance"));
	table_cell(t, "%s", text_number(n, "metric"));
	table_cell(t, "%s", text_us(n, "latency_us"));
	table_cell(t, "%s", text_age(n, "since_seconds"));
	table_cell(t, "%s", text_str(n, "state"));
	table_cell(t, "%s", strcmp(reason, UNKNOWN) == 0 ? "" : reason);
}

static void own_prefixes(struct jsonr_node *list, FILE *out)
{
	static const struct table_column columns[] = {
		{ "OWN PREFIX", ALIGN_LEFT },
		{ "ANNOUNCED", ALIGN_LEFT },
		{ "SINCE", ALIGN_RIGHT },
		{ "REASON", ALIGN_LEFT },
	};
	struct table *t;

	if (jsonr_len(list) == 0)
		return;
	t = table_new(columns, array_size(columns));
	for (size_t i = 0; i < jsonr_len(list); i++) {
		struct jsonr_node *n = jsonr_at(list, i);

		table_cell(t, "%s", text_str(n, "prefix"));
		table_cell(t, "%s", value_bool(n, "announced") ? "yes" : "no");
		table_cell(t, "%s", text_age(n, "since_seconds"));
		table_cell(t, "%s", text_str(n, "reason"));
	}
	fputc('\n', out);
	finish(t, out, "");
}

int render_routes(struct jsonr_node *root, FILE *out)
{
	static const struct table_column columns[] = {
		{ "DESTINATION", ALIGN_LEFT }, { "TYPE", ALIGN_LEFT },
		{ "NODE-ID", ALIGN_LEFT },     { "NAME", ALIGN_LEFT },
		{ "GATEWAY", ALIGN_LEFT },     { "DISTANCE", ALIGN_RIGHT },
		{ "METRIC", ALIGN_RIGHT },     { "LATENCY", ALIGN_RIGHT },
		{ "SINCE", ALIGN_RIGHT },      { "STATE", ALIGN_LEFT },
		{ "REASON", ALIGN_LEFT },
	};
	struct table *t = table_new(columns, array_size(columns));
	struct jsonr_node *list = jsonr_array(root, "routes");

	for (size_t i = 0; i < jsonr_len(list); i++)
		route_row(t, jsonr_at(list, i));
	finish(t, out, "No other node announces an address or a prefix.");
	if (!value_bool(root, "exporting"))
		fprintf(out, "\nNo route is exported: %s\n", text_str(root, "reason"));
	own_prefixes(jsonr_array(root, "prefixes"), out);
	return 0;
}

static void endpoint_row(struct table *t, struct jsonr_node *n)
{
	table_cell(t, "%s", text_str(n, "address"));
	table_cell(t, "%s", text_number(n, "port"));
	table_cell(t, "%s", text_str(n, "node_id"));
	table_cell(t, "%s", text_str(n, "name"));
	table_cell(t, "%s", text_str(n, "protected"));
	table_cell(t, "%s", text_str(n, "reason"));
}

#define REPORT_OLD_S 30 /* life of a report in leond */

static void ipsec_end(struct jsonr_node *root, FILE *out)
{
	struct jsonr_node *list = jsonr_array(root, "problems");
	const char *text;

	fputc('\n', out);
	for (size_t i = 0; i < jsonr_len(list); i++)
		if (jsonr_str_at(list, i, &text))
			fprintf(out, "problem: %s\n", text);
	fprintf(out, "last report of leon-ipsec: %s%s\n", text_age(root, "reported_seconds"),
		value_u64(root, "reported_seconds") > REPORT_OLD_S
			? " ago: leon-ipsec does not run, see its log"
			: "");
}

int render_ipsec(struct jsonr_node *root, FILE *out)
{
	static const struct table_column columns[] = {
		{ "ADDRESS", ALIGN_LEFT }, { "PORT", ALIGN_RIGHT },	{ "NODE-ID", ALIGN_LEFT },
		{ "NAME", ALIGN_LEFT },	   { "PROTECTED", ALIGN_LEFT }, { "REASON", ALIGN_LEFT },
	};
	struct jsonr_node *list = jsonr_array(root, "endpoints");
	struct table *t;

	if (strcmp(text_age(root, "reported_seconds"), UNKNOWN) == 0) {
		fputs("IPsec is not in use: leon-ipsec has not reported.\n", out);
		return 0;
	}
	t = table_new(columns, array_size(columns));
	for (size_t i = 0; i < jsonr_len(list); i++)
		endpoint_row(t, jsonr_at(list, i));
	finish(t, out, "No address of another node is known.");
	ipsec_end(root, out);
	return 0;
}

static void fdb_row(struct table *t, struct jsonr_node *n)
{
	bool local = value_bool(n, "local"), frozen = value_bool(n, "frozen");

	table_cell(t, "%s", text_str(n, "mac"));
	table_cell(t, "%s", text_number(n, "vlan"));
	table_cell(t, "%s", text_str(n, "node_id"));
	table_cell(t, "%s", text_str(n, "name"));
	table_cell(t, "%s", text_age(n, "age_seconds"));
	table_cell(t, "%s", text_number(n, "moves"));
	table_cell(t, "%s%s%s", local ? "local" : "", local && frozen ? ", " : "",
		   frozen ? "frozen" : "");
}

int render_fdb(struct jsonr_node *root, FILE *out)
{
	static const struct table_column columns[] = {
		{ "MAC", ALIGN_LEFT },	 { "VLAN", ALIGN_RIGHT }, { "NODE-ID", ALIGN_LEFT },
		{ "NAME", ALIGN_LEFT },	 { "AGE", ALIGN_RIGHT },  { "MOVES", ALIGN_RIGHT },
		{ "NOTES", ALIGN_LEFT },
	};
	struct table *t = table_new(columns, array_size(columns));
	struct jsonr_node *list = jsonr_array(root, "entries");

	for (size_t i = 0; i < jsonr_len(list); i++)
		fdb_row(t, jsonr_at(list, i));
	finish(t, out, "No MAC is known.");
	fprintf(out, "\n%s of at most %s entries\n", text_number(root, "count"),
		text_number(root, "maximum"));
	return 0;
}

int render_events(struct jsonr_node *root, FILE *out)
{
	static const struct table_column columns[] = {
		{ "TIME", ALIGN_LEFT },
		{ "AGE", ALIGN_RIGHT },
		{ "EVENT", ALIGN_LEFT },
		{ "DESCRIPTION", ALIGN_LEFT },
	};
	struct table *t = table_new(columns, array_size(columns));
	struct jsonr_node *list = jsonr_array(root, "events");

	for (size_t i = 0; i < jsonr_len(list); i++) {
		struct jsonr_node *n = jsonr_at(list, i);

		table_cell(t, "%s", text_str(n, "at"));
		table_cell(t, "%s", text_age(n, "age_seconds"));
		table_cell(t, "%s", text_str(n, "event"));
		table_cell(t, "%s", text_str(n, "text"));
	}
	return finish(t, out, "No event is recorded.");
}

static void identity_row(struct table *t, struct jsonr_node *n, bool restricted)
{
	table_cell(t, "%s", text_str(n, "identity"));
	table_cell(t, "%s", text_str(n, "node_id"));
	table_cell(t, "%s", text_str(n, "name"));
	table_cell(t, "%s", text_str(n, "state"));
	if (!restricted)
		table_cell(t, "%s", "");
	else
		table_cell(t, "%s", value_bool(n, "listed") ? "yes" : "no");
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

int render_identity(struct jsonr_node *root, FILE *out)
{
	static const struct table_column columns[] = {
		{ "IDENTITY", ALIGN_LEFT }, { "NODE-ID", ALIGN_LEFT }, { "NAME", ALIGN_LEFT },
		{ "STATE", ALIGN_LEFT },    { "LISTED", ALIGN_LEFT },
	};
	struct table *t = table_new(columns, array_size(columns));
	struct jsonr_node *list = jsonr_array(root, "identities");
	bool restricted = value_bool(root, "restricted");

	fprintf(out, "identity of this node: %s\n", text_str(root, "identity"));
	fprintf(out, "kept in: %s\n\n", text_str(root, "file"));
	for (size_t i = 0; i < jsonr_len(list); i++)
		identity_row(t, jsonr_at(list, i), restricted);
	finish(t, out, "No identity is known.");
	fprintf(out, "\n%s\n",
		restricted ? "Only listed identities may be members."
			   : "No list is configured: every node with the secret may be a member.");
	own_duplicate(jsonr_object(root, "duplicate"), out);
	return 0;
}
