// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show acceleration`: what leon-accel does and what it is worth, then a line for each node; and
 * `show acceleration connections`: a line for each. leonctl only.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/defs.h"
#include "render.h"
#include "table.h"
#include "value.h"

#define FIGURE_MAX 32

/* "3.9:1", bytes of hosts for each that was carried. */
static const char *ratio_text(struct jsonr_node *n, char buf[FIGURE_MAX])
{
	uint64_t permille = value_u64(n, "ratio_permille");

	if (!permille)
		return UNKNOWN;
	snprintf(buf, FIGURE_MAX, "%" PRIu64 ".%" PRIu64 ":1", permille / 1000,
		 permille % 1000 / 100);
	return buf;
}

/* "12.3 s". */
static const char *seconds_text(struct jsonr_node *n, const char *key, char buf[FIGURE_MAX])
{
	uint64_t ms = value_u64(n, key);

	snprintf(buf, FIGURE_MAX, "%" PRIu64 ".%" PRIu64 " s", ms / 1000, ms % 1000 / 100);
	return buf;
}

/* "10.1 W" of thousandths. */
static const char *thousandth_text(struct jsonr_node *n, const char *key, const char *unit,
				   char buf[FIGURE_MAX])
{
	uint64_t v = value_u64(n, key);

	snprintf(buf, FIGURE_MAX, "%" PRIu64 ".%" PRIu64 " %s", v / 1000, v % 1000 / 100, unit);
	return buf;
}

/* --- all of them --- */

static void print_bytes(FILE *out, struct jsonr_node *root)
{
	struct jsonr_node *from = jsonr_object(root, "out"), *to = jsonr_object(root, "in");
	char ratio[FIGURE_MAX];

	fprintf(out, "from hosts      %s, carried as %s\n", text_bytes(from, "bytes"),
		text_bytes(from, "carried_bytes"));
	fprintf(out, "to hosts        %s, carried as %s\n", text_bytes(to, "bytes"),
		text_bytes(to, "carried_bytes"));
	fprintf(out, "ratio           %s\n", ratio_text(root, ratio));
}

static void print_worth(FILE *out, struct jsonr_node *root)
{
	struct jsonr_node *time = jsonr_object(root, "time"), *power = jsonr_object(root, "power"),
			  *energy = jsonr_object(root, "energy");
	char a[FIGURE_MAX], b[FIGURE_MAX], c[FIGURE_MAX], d[FIGURE_MAX], e[FIGURE_MAX];

	fprintf(out, "time            %s in which data flowed, at least %s without: %s saved\n",
		seconds_text(time, "with_ms", a), seconds_text(time, "without_ms", b),
		seconds_text(time, "saved_ms", c));
	fprintf(out, "energy          %s, %s without (a port of %s, %s when fast, %s asleep)\n",
		thousandth_text(energy, "with_mj", "J", a),
		thousandth_text(energy, "without_mj", "J", b),
		thousandth_text(power, "slow_mw", "W", c),
		thousandth_text(power, "fast_mw", "W", d),
		thousandth_text(power, "sleep_mw", "W", e));
}

/* Counters of refused input and of faults, if not 0. */
static void print_nonzero(FILE *out, struct jsonr_node *n)
{
	static const struct {
		const char *title, *key;
	} rows[] = {
		{ "refused", "stray_frames" },	  { "refused", "data_beyond_credit" },
		{ "refused", "bad_messages" },	  { "refused", "unwanted_connections" },
		{ "refused", "foreign_packets" }, { "refused", "bad_frames" },
		{ "refused", "over_share" },	  { "faults", "socket_denied" },
		{ "faults", "socket_in_use" },	  { "faults", "socket_files" },
		{ "faults", "socket_memory" },	  { "faults", "socket_other" },
		{ "faults", "numbers_differ" },	  { "faults", "fin_differs" },
		{ "faults", "options_differ" },	  { "faults", "clocks_differ" },
		{ "faults", "urgent_frames" },	  { "faults", "unproved" },
	};

	for (size_t i = 0; i < array_size(rows); i++)
		if (value_u64(n, rows[i].key))
			fprintf(out, "%-15s %s %s\n", rows[i].title, text_number(n, rows[i].key),
				rows[i].key);
}

static void print_counted(FILE *out, struct jsonr_node *root)
{
	struct jsonr_node *n = jsonr_object(root, "counted");

	fprintf(out, "connections     %s intercepted now, %s tracked, %s of frames held\n",
		text_number(root, "connections"), text_number(root, "tracked"),
		text_bytes(root, "held_bytes"));
	fprintf(out, "counted         %s intercepted, %s released, %s refused, %s reset\n",
		text_number(n, "intercepted"), text_number(n, "released"),
		text_number(n, "refused"), text_number(n, "reset"));
	if (value_u64(root, "fast_enough"))
		fprintf(out, "fast enough     %s without a benefit\n",
			text_number(root, "fast_enough"));
	if (value_u64(n, "queue_full") || value_u64(n, "held_dropped"))
		fprintf(out, "dropped         %s where the queue to leond was full, %s not held\n",
			text_number(n, "queue_full"), text_number(n, "held_dropped"));
	print_nonzero(out, n);
}

/* Connections of these nodes are not tracked, which an operator should know. */
static void print_bypassed(FILE *out, struct jsonr_node *list)
{
	unsigned n = 0;

	for (size_t i = 0; i < jsonr_len(list); i++)
		n += strcmp(text_str(jsonr_at(list, i), "tcp"), "bypassed") == 0;
	if (n)
		fprintf(out, "bypassed        TCP with near nodes (%u) bypasses leon-accel\n", n);
}

static void print_nodes(FILE *out, struct jsonr_node *list)
{
	static const struct table_column columns[] = {
		{ "NODE-ID", ALIGN_LEFT },	{ "NAME", ALIGN_LEFT },
		{ "LATENCY", ALIGN_RIGHT },	{ "ACCELERATOR", ALIGN_LEFT },
		{ "TCP", ALIGN_LEFT },		{ "NOW", ALIGN_RIGHT },
		{ "INTERCEPTED", ALIGN_RIGHT }, { "RELEASED", ALIGN_RIGHT },
		{ "REFUSED", ALIGN_RIGHT },	{ "RESET", ALIGN_RIGHT },
	};
	struct table *t = table_new(columns, array_size(columns));

	for (size_t i = 0; i < jsonr_len(list); i++) {
		struct jsonr_node *n = jsonr_at(list, i);

		table_cell(t, "%s", text_str(n, "node_id"));
		table_cell(t, "%s", text_str(n, "name"));
		table_cell(t, "%s", text_us(n, "latency_us"));
		table_cell(t, "%s", value_bool(n, "reached") ? "reached" : UNKNOWN);
		table_cell(t, "%s", text_str(n, "tcp"));
		table_cell(t, "%s", text_number(n, "connections"));
		table_cell(t, "%s", text_number(n, "intercepted"));
		table_cell(t, "%s", text_number(n, "released"));
		table_cell(t, "%s", text_number(n, "refused"));
		table_cell(t, "%s", text_number(n, "reset"));
	}
	if (table_rows(t)) {
		fputc('\n', out);
		table_print(t, out);
	}
	table_free(t);
}

/* False where there is nothing more to show. */
static bool print_state(FILE *out, struct jsonr_node *root)
{
	const char *state = text_str(root, "state");

	if (strcmp(state, "off") == 0) {
		fputs("No TCP connection is intercepted: acceleration is not configured.\n", out);
		return false;
	}
	if (strcmp(state, "running") == 0)
		return true;
	if (!value_bool(root, "installed")) {
		fputs("leon-accel is not installed, so no TCP connection is intercepted: install "
		      "the package leon-accel.\n",
		      out);
		return false;
	}
	fprintf(out,
		"leon-accel does not run, so no TCP connection is intercepted; its unit is "
		"leon-accel@%s.\n",
		text_str(root, "interface"));
	return false;
}

int render_acceleration(struct jsonr_node *root, FILE *out)
{
	if (!print_state(out, root))
		return 0;
	fprintf(out,
		"intercepted are connections of at least %s segments to nodes of %s and more\n",
		text_number(root, "minimum_segments"), text_us(root, "threshold_us"));
	print_counted(out, root);
	print_bypassed(out, jsonr_array(root, "nodes"));
	print_bytes(out, root);
	print_worth(out, root);
	print_nodes(out, jsonr_array(root, "nodes"));
	return 0;
}

/* --- each of them --- */

static void connection_row(struct table *t, struct jsonr_node *n)
{
	struct jsonr_node *from = jsonr_object(n, "out"), *to = jsonr_object(n, "in");
	char buf[FIGURE_MAX];

	table_cell(t, "%s", text_str(n, "state"));
	table_cell(t, "%s", text_str(n, "reason"));
	table_cell(t, "%s", text_age(n, "since_seconds"));
	table_cell(t, "%s", value_u64(n, "vlan") ? text_number(n, "vlan") : "");
	table_cell(t, "%s", text_str(n, "near"));
	table_cell(t, "%s", text_str(n, "far"));
	table_cell(t, "%s", text_node(n, "node_id", "name"));
	table_cell(t, "%s", text_bytes(from, "bytes"));
	table_cell(t, "%s", text_bytes(to, "bytes"));
	table_cell(t, "%s", ratio_text(n, buf));
	table_cell(t, "%s", seconds_text(jsonr_object(n, "time"), "saved_ms", buf));
	table_cell(t, "%s", thousandth_text(jsonr_object(n, "energy"), "with_mj", "J", buf));
	table_cell(t, "%s", thousandth_text(jsonr_object(n, "energy"), "without_mj", "J", buf));
}

int render_acceleration_connections(struct jsonr_node *root, FILE *out)
{
	static const struct table_column columns[] = {
		{ "STATE", ALIGN_LEFT },    { "WHY", ALIGN_LEFT },    { "SINCE", ALIGN_RIGHT },
		{ "VLAN", ALIGN_RIGHT },    { "HOST", ALIGN_LEFT },   { "FAR HOST", ALIGN_LEFT },
		{ "NODE", ALIGN_LEFT },	    { "OUT", ALIGN_RIGHT },   { "IN", ALIGN_RIGHT },
		{ "RATIO", ALIGN_RIGHT },   { "SAVED", ALIGN_RIGHT }, { "ENERGY", ALIGN_RIGHT },
		{ "WITHOUT", ALIGN_RIGHT },
	};
	struct jsonr_node *list = jsonr_array(root, "connections");
	struct table *t;

	if (!print_state(out, root))
		return 0;
	t = table_new(columns, array_size(columns));
	for (size_t i = 0; i < jsonr_len(list); i++)
		connection_row(t, jsonr_at(list, i));
	if (table_rows(t))
		table_print(t, out);
	else
		fputs("No TCP connection is tracked.\n", out);
	if (value_u64(root, "omitted"))
		fprintf(out, "and %s more\n", text_number(root, "omitted"));
	table_free(t);
	return 0;
}
