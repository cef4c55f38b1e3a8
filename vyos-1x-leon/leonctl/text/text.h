// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Values of an answer as text, and tables of text. leonctl only, one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/defs.h"
#include "base/json/jsonr.h"

/* --- value.c ---
 * Values of an answer as text: "21.0 ms", "3 min 20 s", "inagi > seoul", "-" for unknown. leonctl
 * only. Results use a small set of rotating buffers, enough for the arguments of one printf.
 */

#define UNKNOWN "-"

#define TEXT_MAX 320

char *text_buffer(void); /* TEXT_MAX bytes */
const char *text_format(const char *fmt, ...) attr_printf(1, 2);
/* Appends an element to a list, which is cut at `room` bytes. */
void text_add(char *list, size_t room, const char *separator, const char *element);
const char *text_str(struct jsonr_node *n, const char *key);	  /* UNKNOWN if absent */
const char *text_optional(struct jsonr_node *n, const char *key); /* "" if absent */
const char *text_yes_no(struct jsonr_node *n, const char *key);
const char *text_us(struct jsonr_node *n, const char *key); /* "21.0 ms" */
/* Returns "no answer" if the answer has the flag "unresponsive" or "direct_unresponsive": the
 * latency is then an estimate that grows with the silence. */
const char *text_path_latency(struct jsonr_node *n, const char *key);
const char *text_direct_latency(struct jsonr_node *n, const char *key);
const char *text_number(struct jsonr_node *n, const char *key);
const char *text_count(uint64_t n, const char *noun);		  /* "1 group", "2 groups" */
const char *text_permille(struct jsonr_node *n, const char *key); /* "1.5 %" */
/* Returns "10.1 W" for 10100 thousandths and the unit "W". */
const char *text_thousandths(struct jsonr_node *n, const char *key, const char *unit);
const char *text_age(struct jsonr_node *n, const char *key);   /* "3 min 20 s" */
const char *text_bytes(struct jsonr_node *n, const char *key); /* "4.2 MiB" */
/* Returns "seoul (10.0.0.3)", or the node-id alone. */
const char *text_node(struct jsonr_node *n, const char *id_key, const char *name_key);
/* Returns "inagi, seoul", or an empty string. */
const char *text_list(struct jsonr_node *n, const char *key);
/* Returns "fujisawa > inagi > seoul". `from` is NULL if the list begins with the source. */
const char *text_hops(struct jsonr_node *n, const char *key, const char *from);

uint64_t value_u64(struct jsonr_node *n, const char *key); /* 0 if unknown */
bool value_bool(struct jsonr_node *n, const char *key);	   /* false if unknown */

/* --- table.c ---
 * A table of text cells: collected row by row, printed with columns as wide as their widest cell. A
 * column names the key of an answer and the function that turns the value into text. Owns copies of
 * all cells. leonctl only, one thread.
 */

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
