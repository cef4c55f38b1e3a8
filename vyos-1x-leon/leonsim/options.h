// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command line of leonsim(1): input, options of the replay, changes. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/addr.h"
#include "base/json/jsonr.h"
#include "base/json/jsonw.h"
#include "replay.h"
#include "state/latency/choice.h"
#include "trace.h"

#define CHANGES_MAX  64
#define FAILURES_MAX 64

enum change_kind { CHANGE_WITHOUT, CHANGE_WITH, CHANGE_CUT, CHANGE_SET };

struct change {
	enum change_kind kind;
	const char *text; /* after the colon */
};

struct options {
	const char *trace, *database, *config, *svg;
	double slice_s;
	enum reading reading;
	unsigned window;
	bool has_reading, all_traffic, json, pairs, help, version;
	double warm_up_s;
	uint64_t seed;
	const char *nodes; /* hosts to keep; NULL: all */
	struct change change[CHANGES_MAX];
	unsigned n_changes;
	const char *set[CHANGES_MAX]; /* KEY=VALUE, for both runs */
	unsigned n_sets;
	struct failure failure[FAILURES_MAX];
	unsigned n_failures;
};

/* Returns false after a sentence on stderr. */
bool options_read(struct options *o, int argc, char **argv);
void options_usage(FILE *out);

/* Parses "3,7,10-12" as numbers below `limit`. Returns the count, or -1. */
int options_list(const char *text, unsigned limit, unsigned *out, unsigned max);
/* Returns a configuration as JSON text for conf_parse(), to be freed. Sources are the rules of a
 * database (NULL: of a replay), --config, each --set, and --what-if if changed is set. Returns NULL
 * with a sentence in err. */
char *options_conf(const struct options *o, struct jsonr_node *rules, bool changed, char *err,
		   unsigned err_len);
/* Returns the content of a file, to be freed, or NULL if the file is not readable. */
char *options_file(const char *file, size_t *len);

/* --- report.c ---
 * The report of a replay: a table for people, JSON for machines, curves as SVG. One thread.
 */

/* Writes the figures of one run as members of the open object. */
void report_json(struct jsonw *w, const struct result *r, bool pairs);
void report_text(FILE *out, const char *title, const struct result *r, bool pairs);
/* Returns 0 or -errno. */
int report_svg(const char *file, const struct options *o, const struct result *r);

/* --- report.c: paths of one node ---
 * The paths of one node as JSON and as a table. Owns the two formats only; called by database.c
 * with its nodes. One thread.
 */

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

/* --- database.c ---
 * The paths of one node, computed from the output of `leonctl --json show latency` on that node.
 * Its database, rules and paths in use pass through state/latency/path.c and state/latency/choice.c
 * of the daemon. The result equals `show paths` of that moment. The document has neither relays
 * that the node avoids because of lost data nor links with a path error. One thread.
 */

/* Prints the paths, and with changes also the paths after the changes. Returns the exit status. */
int database_run(const struct options *o);
/* Computes the paths of a document in memory, as JSON into w, and as text into table if that is not
 * NULL. Returns false with a sentence in err. */
bool database_answer(const char *text, size_t len, const struct options *o, struct jsonw *w,
		     FILE *table, char *err, unsigned err_len);
