// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command line of leonsim(1): input, options of the replay, changes. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json/jsonr.h"
#include "replay.h"
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
