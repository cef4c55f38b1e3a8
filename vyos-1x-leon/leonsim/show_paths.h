// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The paths of one node as JSON and as a table. Owns the two formats only; called by database.c
 * with its nodes. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/addr.h"
#include "base/json/jsonw.h"
#include "state/latency/choice.h"

#define MEMBER_NAME_LEN 48

/* A node, and the path to it. */
struct member {
	node_id_t id;
	char name[MEMBER_NAME_LEN]; /* empty: unknown */
	bool gone;		    /* removed by --what-if without:, not shown */
	struct choice choice;
};

/* `member` has n nodes, by slot. The paths start at slot 0. */

/* Writes an array with one object for each path. */
void show_paths_json(struct jsonw *w, const char *key, const struct member *member, unsigned n);
/* Prints the title and one line for each path; times in ms. */
void show_paths_table(FILE *out, const char *title, const struct member *member, unsigned n);
