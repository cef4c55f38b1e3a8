// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tables of the answers, with the columns of show.def. leonctl only. `command` is the command
 * of the answer, `list` the key of a list with columns, `n` the object with this list.
 */
#pragma once

#include <stdio.h>

#include "base/json/jsonr.h"

/* Prints the table of a list, or the sentence of show.def if the list is empty. */
void show_table(const char *command, const char *list, struct jsonr_node *n, FILE *out);
/* Prints an empty line and the table, or nothing if the list is empty. */
void show_below(const char *command, const char *list, struct jsonr_node *n, FILE *out);
/* Prints all lists of the answer that have columns, one below the other. */
void show_answer(const char *command, struct jsonr_node *root, FILE *out);
/* Prints a text with values of `n` in braces, such as "{name}". A type of show.def may precede the
 * key ("{us rtt_us}"), and the key may be in an object of `n` ("{bytes out.bytes}"). */
void show_text(const char *text, struct jsonr_node *n, FILE *out);
/* Returns the columns of a list, to be freed. */
struct table_column *show_columns(const char *command, const char *list, unsigned *n_columns);
