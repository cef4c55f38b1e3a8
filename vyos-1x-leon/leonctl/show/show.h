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

/* --- cells.c ---
 * Cells of show.def that need more than the text of a type. Each returns the text of a column for
 * the object `n` of a list. leonctl only.
 */
typedef const char *cell_fn(struct jsonr_node *n, const char *key);

cell_fn cell_node;	 /* name and node-id */
cell_fn cell_node_notes; /* "no transit, ipsec" */
/* "udp", "tls", "udp, backup tls", or UDP in use with a TLS connection that begins or is idle. */
cell_fn cell_transport;
cell_fn cell_why_not;	/* of an address, or of the peer */
cell_fn cell_exported;	/* "10.99.0.3/32 +2" */
cell_fn cell_listeners; /* "here, berlin, 10.0.0.4" */
/* Reason for the election of the forwarder, "" if the state implies the reason. */
cell_fn cell_why;
cell_fn cell_segment;	/* "70010 (storage)" */
cell_fn cell_ranges;	/* "10, 20-29", "none"; null: "all" */
cell_fn cell_ratio;	/* "3.9:1" of 3900 */
cell_fn cell_seconds;	/* of milliseconds */
cell_fn cell_joules;	/* of millijoules */
cell_fn cell_watts;	/* of milliwatts */
cell_fn cell_tagged;	/* "" without a VLAN */
cell_fn cell_both_ends; /* "inagi > seoul" */
cell_fn cell_figure;	/* in "unit" */
cell_fn cell_node_endpoint, cell_peer_node, cell_expires, cell_fdb_notes, cell_receives,
	cell_forwarder, cell_percent, cell_reached, cell_cost_or_down, cell_verdict, cell_failure,
	cell_rtt_or_error;
