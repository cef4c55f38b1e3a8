// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show acceleration`: what leon-accel does and what it is worth, then a line for each node; and
 * `show acceleration connections`: a line for each. leonctl only.
 */
#include <stdio.h>
#include <string.h>

#include "base/defs.h"
#include "render/render.h"
#include "show/cells.h"
#include "show/show.h"
#include "text/value.h"

/* --- all of them --- */

static void print_bytes(FILE *out, struct jsonr_node *root)
{
	struct jsonr_node *from = jsonr_object(root, "out"), *to = jsonr_object(root, "in");

	fprintf(out, "from hosts      %s, carried as %s\n", text_bytes(from, "bytes"),
		text_bytes(from, "carried_bytes"));
	fprintf(out, "to hosts        %s, carried as %s\n", text_bytes(to, "bytes"),
		text_bytes(to, "carried_bytes"));
	fprintf(out, "ratio           %s\n", cell_ratio(root, "ratio_permille"));
}

static void print_worth(FILE *out, struct jsonr_node *root)
{
	struct jsonr_node *time = jsonr_object(root, "time"), *power = jsonr_object(root, "power"),
			  *energy = jsonr_object(root, "energy");

	fprintf(out, "time            %s in which data flowed, at least %s without: %s saved\n",
		cell_seconds(time, "with_ms"), cell_seconds(time, "without_ms"),
		cell_seconds(time, "saved_ms"));
	fprintf(out, "energy          %s, %s without (a port of %s, %s when fast, %s asleep)\n",
		cell_joules(energy, "with_mj"), cell_joules(energy, "without_mj"),
		text_thousandths(power, "slow_mw", "W"), text_thousandths(power, "fast_mw", "W"),
		text_thousandths(power, "sleep_mw", "W"));
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
	if (value_u64(n, "leond_queue_full") || value_u64(n, "held_dropped"))
		fprintf(out, "dropped         %s where the queue to leond was full, %s not held\n",
			text_number(n, "leond_queue_full"), text_number(n, "held_dropped"));
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

/* False where there is nothing more to show. */
static bool print_state(FILE *out, struct jsonr_node *root)
{
	const char *state = text_str(root, "state");

	if (strcmp(state, "off") == 0) {
		fputs("No TCP connection is intercepted: acceleration is not configured.\n", out);
		return false;
	}
	if (strcmp(state, "releasing") == 0) {
		fputs("Acceleration is not configured any more, and leon-accel releases the "
		      "intercepted connections.\n",
		      out);
		return true;
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
	if (strcmp(text_str(root, "state"), "running") == 0)
		fprintf(out,
			"intercepted are connections of at least %s segments to nodes of %s and "
			"more\n",
			text_number(root, "minimum_segments"), text_us(root, "threshold_us"));
	print_counted(out, root);
	print_bypassed(out, jsonr_array(root, "nodes"));
	print_bytes(out, root);
	print_worth(out, root);
	show_below("show acceleration", "nodes", root, out);
	return 0;
}

/* --- each of them --- */

int render_acceleration_connections(struct jsonr_node *root, FILE *out)
{
	if (!print_state(out, root))
		return 0;
	show_table("show acceleration connections", "connections", root, out);
	if (value_u64(root, "omitted"))
		fprintf(out, "and %s more\n", text_number(root, "omitted"));
	return 0;
}
