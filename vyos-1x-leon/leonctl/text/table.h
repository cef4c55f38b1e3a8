// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A table of text cells: collected row by row, printed with columns as wide as their widest cell. A
 * column names the key of an answer and the function that turns the value into text. Owns copies of
 * all cells. leonctl only, one thread.
 */
#pragma once

#include <stdio.h>

#include "base/json/jsonr.h"

enum table_align { ALIGN_LEFT, ALIGN_RIGHT };

struct table_column {
	const char *title;
	enum table_align align;
	const char *key;
	const char *(*text)(struct jsonr_node *n, const char *key);
	const char *(*hops)(struct jsonr_node *n, const char *key, const char *source);
	const char *object; /* that has the key; NULL: the object of the row */
	const char *rows;   /* list with a row for each element, which has the key; or NULL */
};

/* Initializers of a column with text of value.h, or with a function of the same form. */
#define LEFT(title, key, text)                                                                     \
	{                                                                                          \
		title, ALIGN_LEFT, key, text, NULL, NULL, NULL                                     \
	}
#define RIGHT(title, key, text)                                                                    \
	{                                                                                          \
		title, ALIGN_RIGHT, key, text, NULL, NULL, NULL                                    \
	}
#define HOPS(title, key, hops)                                                                     \
	{                                                                                          \
		title, ALIGN_LEFT, key, NULL, hops, NULL, NULL                                     \
	}

struct table;
/* `columns` must outlive the table. */
struct table *table_new(const struct table_column *columns, unsigned n_columns);
void table_free(struct table *t); /* NULL ok */
/* Adds the next cell, from left to right. A row ends after the last column. */
void table_cell(struct table *t, const char *text);
/* Adds a row with the text of every column. If the last column has `rows`, adds a row for each
 * element of this list. The other columns are empty from the second row on. Lists of hops begin
 * with the name `source`, or NULL. */
void table_row(struct table *t, struct jsonr_node *n, const char *source);
unsigned table_rows(const struct table *t);
/* Prints titles and rows. Columns without any text are left out. */
void table_print(const struct table *t, FILE *f);
/* Prints a table of the elements of a list, or the sentence `nothing`. NULL prints nothing. */
void table_show(FILE *f, const struct table_column *columns, unsigned n_columns,
		struct jsonr_node *list, const char *source, const char *nothing);
