// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show acceleration`: the work of leon-accel, its benefit, and a line for each node. `show
 * acceleration connections`: a line for each. `explain connection`: the checks of leon-accel, in
 * order, with their figures. leonctl only.
 */
#include <stdio.h>
#include <string.h>

#include "base/defs.h"
#include "render/render.h"
#include "show/show.h"
#include "text/text.h"

/* --- all of them --- */

static const char counted[] =
	"connections     {number connections} intercepted now, {number tracked} tracked, "
	"{bytes held_bytes} of frames held\n"
	"counted         {number counted.intercepted} intercepted, {number counted.released} "
	"released, {number counted.refused} refused, {number counted.reset} reset\n";
static const char *const worth[] = {
	"from hosts      {bytes out.bytes}, carried as {bytes out.carried_bytes}\n",
	"to hosts        {bytes in.bytes}, carried as {bytes in.carried_bytes}\n",
	"ratio           {ratio ratio_permille}\n",
	"time            {ms time.with_ms} in which data flowed, at least {ms time.without_ms} "
	"without: {ms time.saved_ms} saved\n",
	"energy          {mj energy.with_mj}, {mj energy.without_mj} without (a port of "
	"{mw power.slow_mw}, {mw power.fast_mw} when fast, {mw power.sleep_mw} asleep)\n",
};

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

	show_text(counted, root, out);
	if (value_u64(root, "fast_enough"))
		show_text("fast enough     {number fast_enough} without a benefit\n", root, out);
	if (value_u64(n, "leond_queue_full") || value_u64(n, "held_dropped"))
		show_text("dropped         {number leond_queue_full} where the queue to leond was "
			  "full, {number held_dropped} not held\n",
			  n, out);
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
	show_text("leon-accel does not run, so no TCP connection is intercepted; its unit is "
		  "leon-accel@{interface}.\n",
		  root, out);
	return false;
}

void render_acceleration(struct jsonr_node *root, FILE *out)
{
	if (!print_state(out, root))
		return;
	if (strcmp(text_str(root, "state"), "running") == 0)
		show_text("intercepted are connections of at least {number minimum_segments} "
			  "segments to nodes of {us threshold_us} and more\n",
			  root, out);
	print_counted(out, root);
	print_bypassed(out, jsonr_array(root, "nodes"));
	for (size_t i = 0; i < array_size(worth); i++)
		show_text(worth[i], root, out);
	show_below("show acceleration", "nodes", root, out);
}

/* --- each of them --- */

void render_acceleration_connections(struct jsonr_node *root, FILE *out)
{
	if (!print_state(out, root))
		return;
	show_table("show acceleration connections", "connections", root, out);
	if (value_u64(root, "omitted"))
		show_text("and {number omitted} more\n", root, out);
}

/* --- explain connection --- */

static void print_connection(struct jsonr_node *n, FILE *out)
{
	show_text("host here       {near}\n"
		  "far host        {far}, behind node {node}\n",
		  n, out);
	if (value_u64(n, "vlan"))
		show_text("vlan            {number vlan}\n", n, out);
	show_text("state           {state}\n", n, out);
	if (jsonr_has(n, "reason"))
		show_text("reason          {reason}: {reason_text}\n", n, out);
	else if (strcmp(text_str(n, "state"), "plain") == 0)
		fputs("reason          no check fails: its next frame begins an attempt\n", out);
	else
		fputs("reason          only a plain connection is checked\n", out);
	show_below("explain connection", "checks", n, out);
}

void render_explain_connection(struct jsonr_node *root, FILE *out)
{
	struct jsonr_node *answer = jsonr_object(root, "accelerator");
	struct jsonr_node *list = jsonr_array(answer, "connections");

	for (size_t i = 0; i < jsonr_len(list); i++) {
		if (i)
			fputc('\n', out);
		print_connection(jsonr_at(list, i), out);
	}
	if (!jsonr_len(list))
		show_text("leon-accel follows no connection between {first} and {second}; TCP with "
			  "a near node goes past it.\n",
			  root, out);
}
