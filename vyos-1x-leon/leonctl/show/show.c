// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rows of show.def as one array, in which a table is the part from its list to the END. Pure
 * except for the writing.
 */
#include "show/show.h"

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/log.h"
#include "base/mem.h"
#include "text/text.h"

struct show_row {
	enum { ROW_ANSWER, ROW_LIST, ROW_ROWS, ROW_OBJECT, ROW_END, ROW_EMPTY, ROW_COLUMN } kind;
	const char *key; /* the command of an answer, the sentence of an empty list */
	const char *type, *title;
	cell_fn *cell; /* NULL: the text of the type */
};

#define ANSWER(command)	 { ROW_ANSWER, command, NULL, NULL, NULL },
#define LIST(key, ...)	 { ROW_LIST, key, NULL, NULL, NULL },
#define ROWS(key, ...)	 { ROW_ROWS, key, NULL, NULL, NULL },
#define OBJECT(key, ...) { ROW_OBJECT, key, NULL, NULL, NULL },
#define END		 { ROW_END, NULL, NULL, NULL, NULL },
#define EMPTY(sentence)	 { ROW_EMPTY, sentence, NULL, NULL, NULL },
#define KEY(type, ...)
#define COLUMN(type, key, title, ...)	  { ROW_COLUMN, key, type, title, NULL },
#define CELL(type, key, title, cell, ...) { ROW_COLUMN, key, type, title, cell },
#define NOTE(title, key, cell)		  { ROW_COLUMN, key, "", title, cell },

static const struct show_row rows[] = {
#include "show/show.def"
};

static const struct show_row *const rows_end = rows + array_size(rows);

struct type {
	const char *name;
	enum table_align align;
	cell_fn *text;
};

/* Text and alignment of the type that `name` begins with. */
static const struct type *type_of(const char *name)
{
	static const struct type types[] = {
		{ "number", ALIGN_RIGHT, text_number },
		{ "vlan", ALIGN_RIGHT, text_number },
		{ "segment", ALIGN_RIGHT, text_number },
		{ "port", ALIGN_RIGHT, text_number },
		{ "us", ALIGN_RIGHT, text_us },
		{ "seconds", ALIGN_RIGHT, text_age },
		{ "bytes", ALIGN_RIGHT, text_bytes },
		{ "permille", ALIGN_RIGHT, text_permille },
		{ "ordinal", ALIGN_LEFT, text_number },
		{ "bool", ALIGN_LEFT, text_yes_no },
		/* only in show_text() */
		{ "node", ALIGN_LEFT, cell_node },
		{ "list", ALIGN_LEFT, text_list },
		{ "ratio", ALIGN_LEFT, cell_ratio },
		{ "ms", ALIGN_LEFT, cell_seconds },
		{ "mj", ALIGN_LEFT, cell_joules },
		{ "mw", ALIGN_LEFT, cell_watts },
	};
	static const struct type text = { "text", ALIGN_LEFT, text_str };
	size_t len = strcspn(name, " ?");

	for (size_t i = 0; i < array_size(types); i++)
		if (strlen(types[i].name) == len && strncmp(types[i].name, name, len) == 0)
			return &types[i];
	return &text;
}

/* `inside`: the row of the object or list of rows around the column, or NULL. */
static struct table_column column_of(const struct show_row *r, const struct show_row *inside)
{
	const struct type *type = type_of(r->type);
	struct table_column c = { r->title, type->align, r->key, type->text, NULL, NULL, NULL };

	if (r->type[0] == '[')
		c.text = text_list;
	if (strcmp(r->type, "hops") == 0)
		c.hops = text_hops;
	if (r->cell)
		c.text = r->cell;
	if (inside && inside->kind == ROW_OBJECT)
		c.object = inside->key;
	if (inside && inside->kind == ROW_ROWS)
		c.rows = inside->key;
	return c;
}

static const struct show_row *find_answer(const char *command)
{
	for (const struct show_row *r = rows; r < rows_end; r++)
		if (r->kind == ROW_ANSWER && strcmp(r->key, command) == 0)
			return r + 1;
	return rows_end;
}

static bool has_table(const struct show_row *list)
{
	return list->kind == ROW_LIST && (list[1].kind == ROW_COLUMN || list[1].kind == ROW_EMPTY);
}

/* Returns the list among the rows from r to the end of the answer, or NULL. */
static const struct show_row *find_list(const struct show_row *r, const char *list)
{
	for (; r < rows_end && r->kind != ROW_ANSWER; r++)
		if (has_table(r) && strcmp(r->key, list) == 0)
			return r;
	return NULL;
}

/* Returns the END of a list or object. */
static const struct show_row *end_of(const struct show_row *r)
{
	int depth = 1;

	while (depth > 0) {
		r++;
		depth += r->kind == ROW_LIST || r->kind == ROW_ROWS || r->kind == ROW_OBJECT;
		depth -= r->kind == ROW_END;
	}
	return r;
}

struct table_column *show_columns(const char *command, const char *list, unsigned *n_columns)
{
	const struct show_row *r = find_list(find_answer(command), list), *end;
	struct table_column *columns;
	const struct show_row *inside = NULL;

	if (!r)
		bug("show.def has no table %s of `%s`", list, command);
	end = end_of(r);
	columns = x_calloc((size_t)(end - r), sizeof(*columns));
	*n_columns = 0;
	for (r++; r < end; r++) {
		if (r->kind == ROW_LIST)
			r = end_of(r);
		else if (r->kind == ROW_COLUMN)
			columns[(*n_columns)++] = column_of(r, inside);
		else
			inside = r->kind == ROW_END ? NULL : r;
	}
	return columns;
}

void show_table(const char *command, const char *list, struct jsonr_node *n, FILE *out)
{
	const struct show_row *r = find_list(find_answer(command), list);
	unsigned n_columns;
	struct table_column *columns = show_columns(command, list, &n_columns);

	table_show(out, columns, n_columns, jsonr_array(n, list), text_optional(n, "source_name"),
		   r[1].kind == ROW_EMPTY ? r[1].key : NULL);
	free(columns);
}

void show_below(const char *command, const char *list, struct jsonr_node *n, FILE *out)
{
	if (!jsonr_len(jsonr_array(n, list)))
		return;
	fputc('\n', out);
	show_table(command, list, n, out);
}

void show_answer(const char *command, struct jsonr_node *root, FILE *out)
{
	void (*show)(const char *, const char *, struct jsonr_node *, FILE *) = show_table;

	for (const struct show_row *r = find_answer(command); r < rows_end; r++) {
		if (r->kind == ROW_ANSWER)
			return;
		if (!has_table(r))
			continue;
		show(command, r->key, root, out);
		show = show_below;
		r = end_of(r);
	}
}

/* Prints the value that `word` names, such as "name}", "us rtt_us}" or "bytes out.bytes}". */
static void put_value(const char *word, struct jsonr_node *n, FILE *out)
{
	const struct type *type = type_of(word);
	char path[64], *dot;

	word += word[strcspn(word, " }")] == ' ' ? strcspn(word, " ") + 1 : 0;
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(word, "}"), word);
	dot = strchr(path, '.');
	if (dot)
		*dot = '\0';
	fputs(dot ? type->text(jsonr_object(n, path), dot + 1) : type->text(n, path), out);
}

void show_text(const char *text, struct jsonr_node *n, FILE *out)
{
	for (const char *at; (at = strchr(text, '{')); text = strchr(at, '}') + 1) {
		fwrite(text, 1, (size_t)(at - text), out);
		put_value(at + 1, n, out);
	}
	fputs(text, out);
}
