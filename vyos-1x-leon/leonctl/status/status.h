// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `leonctl status`: findings from answers of the daemon. status_find() is pure: the same answers
 * give the same findings. status_view.c prints them, status.c queries the daemon. leonctl only.
 */
#pragma once

#include <stdio.h>

#include "base/json/jsonr.h"
#include "text/text.h"

#define STATUS_MAX 64 /* findings; more are counted and not listed */

/* A note does not change the exit code, because a stranger or a redundant part can cause it. */
enum status_level { STATUS_PROBLEM, STATUS_NOTE };

struct status_diagnosis {
	const char *id; /* word for programs, static */
	enum status_level level;
	char what[TEXT_MAX], why[TEXT_MAX];
	const char *remedy;	/* static; NULL: none */
	char command[TEXT_MAX]; /* to type; empty: none */
};

struct status {
	struct status_diagnosis diagnosis[STATUS_MAX], not_listed;
	unsigned n, n_problems, n_more;
	unsigned nodes, nodes_reachable; /* without this node and nodes that left */
	unsigned peers, peers_reached;	 /* without disabled peers */
};

struct status_input {
	/* root objects of the answers */
	struct jsonr_node *statistics, *nodes, *peers, *events, *lines;
};

void status_find(const struct status_input *in, struct status *out);
/* Return the exit code: 0 without problems, else 2. */
int status_text(const struct status_input *in, const struct status *s, FILE *out);
int status_json(const struct status_input *in, const struct status *s, FILE *out);

/* For the files of the rules. Adds a finding; one beyond STATUS_MAX is not printed. */
void status_add(struct status *s, const char *id, enum status_level level, const char *what,
		const char *why, const char *remedy, const char *command);
/* Returns true if the value of the key is the word. */
bool status_is(struct jsonr_node *n, const char *key, const char *word);
void status_find_peers(const struct status_input *in, struct status *s);
void status_find_lines(const struct status_input *in, struct status *s);
/* Cuts the port and the brackets of "[2001:db8::3]:5367" or "198.18.0.3:5367". */
const char *status_bare(const char *endpoint);
void status_find_events(const struct status_input *in, struct status *s);
