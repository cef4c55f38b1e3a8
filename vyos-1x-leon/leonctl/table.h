// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A table of text cells: collected row by row, printed with columns as wide as their widest cell.
 * Owns copies of all cells. leonctl only, one thread.
 */
#pragma once

#include <stdio.h>

#include "base/defs.h"

enum table_align { ALIGN_LEFT, ALIGN_RIGHT };

struct table_column {
	const char *title;
	enum table_align align;
};

struct table;
/* `columns` must outlive the table. */
struct table *table_new(const struct table_column *columns, unsigned n_columns);
void table_free(struct table *t); /* NULL ok */
/* Adds the next cell, from left to right. A row ends after the last column. */
void table_cell(struct table *t, const char *fmt, ...) attr_printf(2, 3);
unsigned table_rows(const struct table *t);
/* Prints titles and rows. Columns without any text are left out. */
void table_print(const struct table *t, FILE *f);
