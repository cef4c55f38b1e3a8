// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show latency`: a matrix of round-trip times (row: measuring node) if it fits a terminal, else a
 * list of links.
 */
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"
#include "render/render.h"
#include "text/text.h"

#define MATRIX_NODES_MAX 10

static const char *call(struct jsonr_node *n)
{
	return text_str(n, jsonr_has(n, "name") ? "name" : "node_id");
}

/* Returns the label of the node with this id. */
static const char *call_of(struct jsonr_node *nodes, const char *id)
{
	struct jsonr_node *n;

	for (size_t i = 0; (n = jsonr_at(nodes, i)); i++)
		if (strcmp(text_str(n, "node_id"), id) == 0)
			return call(n);
	return id;
}

static struct jsonr_node *find_entry(struct jsonr_node *row, const char *node)
{
	struct jsonr_node *entries = jsonr_array(row, "entries"), *e;

	for (size_t i = 0; (e = jsonr_at(entries, i)); i++)
		if (strcmp(text_str(e, "node"), node) == 0)
			return e;
	return NULL;
}

static void matrix_cell(struct table *t, struct jsonr_node *row, struct jsonr_node *to)
{
	const char *to_id = text_str(to, "node_id");
	struct jsonr_node *e = find_entry(row, to_id);

	if (strcmp(text_str(row, "origin"), to_id) == 0)
		table_cell(t, ".");
	else if (!e)
		table_cell(t, UNKNOWN);
	else if (!value_bool(e, "up"))
		table_cell(t, jsonr_has(e, "rtt_us") ? "down" : UNKNOWN);
	else
		table_cell(t, text_us(e, "rtt_us"));
}

static void matrix(struct jsonr_node *nodes, struct jsonr_node *rows, FILE *out)
{
	struct jsonr_node *row;
	unsigned n_columns = (unsigned)jsonr_len(nodes) + 1;
	struct table_column *columns = x_calloc(n_columns, sizeof(*columns));
	struct table *t = table_new(columns, n_columns);

	columns[0] = (struct table_column){ .title = "FROM \\ TO" };
	for (size_t i = 0; i < jsonr_len(nodes); i++)
		columns[i + 1] = (struct table_column){ .title = call(jsonr_at(nodes, i)),
							.align = ALIGN_RIGHT };
	for (size_t i = 0; (row = jsonr_at(rows, i)); i++) {
		table_cell(t, call_of(nodes, text_str(row, "origin")));
		for (size_t k = 0; k < jsonr_len(nodes); k++)
			matrix_cell(t, row, jsonr_at(nodes, k));
	}
	table_print(t, out);
	table_free(t);
	free(columns);
}

static const char *link_state(struct jsonr_node *e)
{
	if (!value_bool(e, "up"))
		return "down";
	return value_bool(e, "silent") ? "silent" : "up";
}

static void list_row(struct table *t, struct jsonr_node *nodes, const char *from,
		     struct jsonr_node *e)
{
	if (!value_bool(e, "up") && !jsonr_has(e, "rtt_us"))
		return;
	table_cell(t, from);
	table_cell(t, call_of(nodes, text_str(e, "node")));
	table_cell(t, link_state(e));
	table_cell(t, text_us(e, "rtt_us"));
	table_cell(t, text_us(e, "variation_us"));
	table_cell(t, text_permille(e, "loss_permille"));
	table_cell(t, text_number(e, "mtu"));
}

static void list(struct jsonr_node *nodes, struct jsonr_node *rows, FILE *out)
{
	static const struct table_column columns[] = {
		{ .title = "FROM" },
		{ .title = "TO" },
		{ .title = "LINK" },
		{ "RTT", ALIGN_RIGHT, .key = NULL },
		{ "VARIATION", ALIGN_RIGHT, .key = NULL },
		{ "LOSS", ALIGN_RIGHT, .key = NULL },
		{ "MTU", ALIGN_RIGHT, .key = NULL },
	};
	struct table *t = table_new(columns, array_size(columns));
	struct jsonr_node *row;

	for (size_t i = 0; (row = jsonr_at(rows, i)); i++) {
		struct jsonr_node *entries = jsonr_array(row, "entries");
		const char *from = call_of(nodes, text_str(row, "origin"));

		for (size_t k = 0; k < jsonr_len(entries); k++)
			list_row(t, nodes, from, jsonr_at(entries, k));
	}
	table_print(t, out);
	table_free(t);
}

void render_latency(struct jsonr_node *root, FILE *out)
{
	struct jsonr_node *nodes = jsonr_array(root, "nodes");
	struct jsonr_node *rows = jsonr_array(root, "rows");

	if (jsonr_len(nodes) > MATRIX_NODES_MAX)
		list(nodes, rows, out);
	else
		matrix(nodes, rows, out);
}
