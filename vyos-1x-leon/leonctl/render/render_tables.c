// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Commands whose answer is one table: nodes, paths, routes, ipsec, fdb, events, identity.
 */
#include <string.h>

#include "base/defs.h"
#include "render/render.h"
#include "text/table.h"
#include "text/value.h"

/* Joins the notes that apply, separated by commas. */
static const char *node_notes(struct jsonr_node *n, const char *key)
{
	const char *left = text_age(n, "session_ends_seconds");
	char ends[64], *out = text_buffer();
	size_t at = 0;
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

	(void)key;
	if (strcmp(left, UNKNOWN) == 0)
		snprintf(ends, sizeof(ends), "other secret");
	else
		snprintf(ends, sizeof(ends), "other secret, session ends in %s", left);
	out[0] = '\0';
	for (size_t i = 0; i < array_size(notes) && at < TEXT_MAX; i++)
		if (notes[i].holds)
			at += (size_t)snprintf(out + at, TEXT_MAX - at, "%s%s", at ? ", " : "",
					       notes[i].text);
	return out;
}

static const char *node_endpoint(struct jsonr_node *n, const char *key)
{
	char *out = text_buffer();

	snprintf(out, TEXT_MAX, "%s%s%s", text_str(n, key),
		 strcmp(text_str(n, "transport"), "tls") == 0 ? " (TLS)" : "",
		 value_bool(n, "behind_nat") ? " (NAT)" : "");
	return out;
}

int render_nodes(struct jsonr_node *root, FILE *out)
{
	static const struct table_column columns[] = {
		LEFT("NODE-ID", "node_id", text_str),
		LEFT("NAME", "name", text_str),
		LEFT("STATE", "state", text_str),
		RIGHT("SINCE", "since_seconds", text_age),
		LEFT("LINK", "link", text_str),
		RIGHT("RTT", "rtt_us", text_us),
		RIGHT("VARIATION", "variation_us", text_us),
		RIGHT("LOSS", "loss_permille", text_permille),
		RIGHT("LINK MTU", "link_mtu", text_number),
		RIGHT("MACS", "macs", text_number),
		LEFT("ENDPOINT", "endpoint", node_endpoint),
		LEFT("NOTES", "", node_notes),
	};

	table_show(out, columns, array_size(columns), jsonr_array(root, "nodes"), NULL,
		   "No node is known.");
	return 0;
}

/* Returns "10.99.0.3/32 +2": the first entry and the number of further entries. */
static const char *exported(struct jsonr_node *n, const char *key)
{
	struct jsonr_node *list = jsonr_array(n, key);
	const char *first = "";
	char *out = text_buffer();

	jsonr_str_at(list, 0, &first);
	if (jsonr_len(list) < 2)
		return first;
	snprintf(out, TEXT_MAX, "%s +%zu", first, jsonr_len(list) - 1);
	return out;
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
		LEFT("DESTINATION", "destination", text_str),
		LEFT("NAME", "name", text_str),
		HOPS("PATH", "hop_names", text_hops),
		RIGHT("LATENCY", "latency_us", text_path_latency),
		RIGHT("DIRECT", "direct_latency_us", text_direct_latency),
		RIGHT("JITTER", "jitter_us", text_us),
		RIGHT("FORWARD", "forward_variation_us", text_us),
		RIGHT("RETURN", "return_variation_us", text_us),
		RIGHT("LOSS", "loss_permille", text_permille),
		RIGHT("COST", "cost_us", text_us),
		RIGHT("BEST COST", "best_cost_us", text_us),
		RIGHT("MTU", "mtu", text_number),
		RIGHT("SINCE", "since_seconds", text_age),
		RIGHT("CHANGES", "changes", text_number),
		LEFT("REASON", "reason", text_str),
		LEFT("EXPORTED", "exported", exported),
		LEFT("AVOIDED RELAYS", "avoided_names", text_list),
	};

	table_show(out, columns, array_size(columns), jsonr_array(root, "paths"),
		   text_optional(root, "source_name"), "No other node is known.");
	print_gain(root, out);
	return 0;
}

static void own_prefixes(struct jsonr_node *list, FILE *out)
{
	static const struct table_column columns[] = {
		LEFT("OWN PREFIX", "prefix", text_str),
		LEFT("ANNOUNCED", "announced", text_yes_no),
		RIGHT("SINCE", "since_seconds", text_age),
		LEFT("REASON", "reason", text_str),
	};

	if (jsonr_len(list) == 0)
		return;
	fputc('\n', out);
	table_show(out, columns, array_size(columns), list, NULL, NULL);
}

int render_routes(struct jsonr_node *root, FILE *out)
{
	static const struct table_column columns[] = {
		LEFT("DESTINATION", "destination", text_str),
		LEFT("TYPE", "type", text_str),
		LEFT("NODE-ID", "node_id", text_str),
		LEFT("NAME", "name", text_str),
		LEFT("GATEWAY", "gateway", text_str),
		RIGHT("DISTANCE", "distance", text_number),
		RIGHT("METRIC", "metric", text_number),
		RIGHT("LATENCY", "latency_us", text_us),
		RIGHT("SINCE", "since_seconds", text_age),
		LEFT("STATE", "state", text_str),
		LEFT("REASON", "reason", text_optional),
	};

	table_show(out, columns, array_size(columns), jsonr_array(root, "routes"), NULL,
		   "No other node announces an address or a prefix.");
	if (!value_bool(root, "exporting"))
		fprintf(out, "\nNo route is exported: %s\n", text_str(root, "reason"));
	own_prefixes(jsonr_array(root, "prefixes"), out);
	return 0;
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
		LEFT("ADDRESS", "address", text_str),	  RIGHT("PORT", "port", text_number),
		LEFT("NODE-ID", "node_id", text_str),	  LEFT("NAME", "name", text_str),
		LEFT("PROTECTED", "protected", text_str), LEFT("REASON", "reason", text_str),
	};

	if (strcmp(text_age(root, "reported_seconds"), UNKNOWN) == 0) {
		fputs("IPsec is not in use: leon-ipsec has not reported.\n", out);
		return 0;
	}
	table_show(out, columns, array_size(columns), jsonr_array(root, "endpoints"), NULL,
		   "No address of another node is known.");
	ipsec_end(root, out);
	return 0;
}

static const char *fdb_notes(struct jsonr_node *n, const char *key)
{
	bool local = value_bool(n, "local"), frozen = value_bool(n, "frozen");

	(void)key;
	if (local)
		return frozen ? "local, frozen" : "local";
	return frozen ? "frozen" : "";
}

int render_fdb(struct jsonr_node *root, FILE *out)
{
	static const struct table_column columns[] = {
		LEFT("MAC", "mac", text_str),	       RIGHT("VLAN", "vlan", text_number),
		LEFT("NODE-ID", "node_id", text_str),  LEFT("NAME", "name", text_str),
		RIGHT("AGE", "age_seconds", text_age), RIGHT("MOVES", "moves", text_number),
		LEFT("NOTES", "", fdb_notes),
	};

	table_show(out, columns, array_size(columns), jsonr_array(root, "entries"), NULL,
		   "No MAC is known.");
	fprintf(out, "\n%s of at most %s entries\n", text_number(root, "count"),
		text_number(root, "maximum"));
	return 0;
}

int render_events(struct jsonr_node *root, FILE *out)
{
	static const struct table_column columns[] = {
		LEFT("TIME", "at", text_str),
		RIGHT("AGE", "age_seconds", text_age),
		LEFT("EVENT", "event", text_str),
		LEFT("DESCRIPTION", "text", text_str),
	};

	table_show(out, columns, array_size(columns), jsonr_array(root, "events"), NULL,
		   "No event is recorded.");
	return 0;
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
		LEFT("IDENTITY", "identity", text_str), LEFT("NODE-ID", "node_id", text_str),
		LEFT("NAME", "name", text_str),		LEFT("STATE", "state", text_str),
		LEFT("LISTED", "listed", text_yes_no),
	};
	bool restricted = value_bool(root, "restricted");

	fprintf(out, "identity of this node: %s\n", text_str(root, "identity"));
	fprintf(out, "kept in: %s\n\n", text_str(root, "file"));
	/* Without a list, no identity is listed. */
	table_show(out, columns, array_size(columns) - !restricted, jsonr_array(root, "identities"),
		   NULL, "No identity is known.");
	fprintf(out, "\n%s\n",
		restricted ? "Only listed identities may be members."
			   : "No list is configured: every node with the secret may be a member.");
	own_duplicate(jsonr_object(root, "duplicate"), out);
	return 0;
}
