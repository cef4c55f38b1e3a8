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

const char *cell_node(struct jsonr_node *n, const char *key);	    /* name and node-id */
const char *cell_node_notes(struct jsonr_node *n, const char *key); /* "no transit, ipsec" */
const char *cell_node_endpoint(struct jsonr_node *n, const char *key);
const char *cell_peer_node(struct jsonr_node *n, const char *key);
/* "udp", "tls", "udp, backup tls", or UDP in use with a TLS connection that begins or is idle. */
const char *cell_transport(struct jsonr_node *n, const char *key);
const char *cell_why_not(struct jsonr_node *n, const char *key); /* of an address, or of the peer */
const char *cell_expires(struct jsonr_node *n, const char *key);
const char *cell_exported(struct jsonr_node *n, const char *key); /* "10.99.0.3/32 +2" */
const char *cell_fdb_notes(struct jsonr_node *n, const char *key);
const char *cell_listeners(struct jsonr_node *n, const char *key); /* "here, berlin, 10.0.0.4" */
const char *cell_receives(struct jsonr_node *n, const char *key);
/* Reason for the election of the forwarder, "" if the state implies the reason. */
const char *cell_why(struct jsonr_node *n, const char *key);
const char *cell_segment(struct jsonr_node *n, const char *key); /* "70010 (storage)" */
const char *cell_forwarder(struct jsonr_node *n, const char *key);
const char *cell_ranges(struct jsonr_node *n,
			const char *key); /* "10, 20-29", "none"; null: "all" */
const char *cell_percent(struct jsonr_node *n, const char *key);
const char *cell_ratio(struct jsonr_node *n, const char *key);	 /* "3.9:1" of 3900 */
const char *cell_seconds(struct jsonr_node *n, const char *key); /* of milliseconds */
const char *cell_joules(struct jsonr_node *n, const char *key);	 /* of millijoules */
const char *cell_watts(struct jsonr_node *n, const char *key);	 /* of milliwatts */
const char *cell_reached(struct jsonr_node *n, const char *key);
const char *cell_tagged(struct jsonr_node *n, const char *key); /* "" without a VLAN */
const char *cell_cost_or_down(struct jsonr_node *n, const char *key);
const char *cell_both_ends(struct jsonr_node *n, const char *key); /* "inagi > seoul" */
const char *cell_figure(struct jsonr_node *n, const char *key);	   /* in "unit" */
const char *cell_verdict(struct jsonr_node *n, const char *key);
const char *cell_failure(struct jsonr_node *n, const char *key);
const char *cell_rtt_or_error(struct jsonr_node *n, const char *key);
