// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Column table. An array holds the cells row by row. An incomplete last row is not printed.
 */
#include "text/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define GAP 2

struct table {
	const struct table_column *columns;
	unsigned n_columns;
	size_t n_cells, cap;
	char **cell;
};

struct table *table_new(const struct table_column *columns, unsigned n_columns)
{
	struct table *t = x_new(struct table);

	t->columns = columns;
	t->n_columns = n_columns;
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cell[i]);
	free(t->cell);
	free(t);
}

void table_cell(struct table *t, const char *text)
{
	x_double(t->cell, t->n_cells, t->cap);
	t->cell[t->n_cells++] = x_strdup(text);
}

static const char *text_of(const struct table_column *c, struct jsonr_node *n, const char *source)
{
	if (c->object)
		n = jsonr_object(n, c->object);
	return c->hops ? c->hops(n, c->key, source) : c->text(n, c->key);
}

void table_row(struct table *t, struct jsonr_node *n, const char *source)
{
	const char *rows = t->columns[t->n_columns - 1].rows;
	struct jsonr_node *list = rows ? jsonr_array(n, rows) : NULL;
	size_t n_rows = jsonr_len(list);

	for (size_t k = 0; k == 0 || k < n_rows; k++) {
		struct jsonr_node *element = n_rows ? jsonr_at(list, k) : n;

		for (unsigned i = 0; i < t->n_columns; i++) {
			const struct table_column *c = &t->columns[i];

			if (c->rows)
				table_cell(t, text_of(c, element, source));
			else
				table_cell(t, k ? "" : text_of(c, n, source));
		}
	}
}

unsigned table_rows(const struct table *t)
{
	return (unsigned)(t->n_cells / t->n_columns);
}

/* Returns the width of the widest cell, 0 for an empty column. */
static size_t column_width(const struct table *t, unsigned column)
{
	size_t width = 0;

	for (unsigned row = 0; row < table_rows(t); row++)
		width = max_of(width, strlen(t->cell[row * t->n_columns + column]));
	return width ? max_of(width, strlen(t->columns[column].title)) : 0;
}

/* Padding is printed only before further text, because trailing blanks are a nuisance in copied
 * text. */
static void print_cell(FILE *f, const char *text, size_t width, enum table_align align,
		       size_t *blanks)
{
	size_t len = strlen(text), room = width - len;

	if (align == ALIGN_RIGHT)
		*blanks += room;
	if (len > 0) {
		fprintf(f, "%*s%s", (int)*blanks, "", text);
		*blanks = 0;
	}
	*blanks += GAP + (align == ALIGN_LEFT ? room : 0);
}

static void print_row(const struct table *t, const size_t *width, unsigned row, FILE *f)
{
	size_t blanks = 0;

	for (unsigned c = 0; c < t->n_columns; c++) {
		const char *text =
			row == 0 ? t->columns[c].title : t->cell[(row - 1) * t->n_columns + c];

		if (width[c])
			print_cell(f, text, width[c], t->columns[c].align, &blanks);
	}
	fputc('\n', f);
}

void table_print(const struct table *t, FILE *f)
{
	size_t *width = x_calloc(t->n_columns, sizeof(*width));

	for (unsigned c = 0; c < t->n_columns; c++)
		width[c] = column_width(t, c);
	for (unsigned row = 0; row <= table_rows(t); row++)
		print_row(t, width, row, f);
	free(width);
}

void table_show(FILE *f, const struct table_column *columns, unsigned n_columns,
		struct jsonr_node *list, const char *source, const char *nothing)
{
	struct table *t = table_new(columns, n_columns);

	for (size_t i = 0; i < jsonr_len(list); i++)
		table_row(t, jsonr_at(list, i), source);
	if (table_rows(t))
		table_print(t, f);
	else if (nothing)
		fprintf(f, "%s\n", nothing);
	table_free(t);
}
