// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command line of leonsim(1): what to replay, how, and what to change. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/jsonr.h"
#include "replay.h"
#include "trace.h"

#define CHANGES_MAX  64
#define FAILURES_MAX 64

enum change_kind { CHANGE_WITHOUT, CHANGE_WITH, CHANGE_CUT, CHANGE_SET };

struct change {
	enum change_kind kind;
	const char *text; /* behind the colon */
};

struct options {
	const char *trace, *database, *config, *svg;
	double slice_s;
	enum reading reading;
	unsigned window;
	bool has_reading, all_traffic, json, pairs, help;
	double warm_up_s;
	uint64_t seed;
	const char *nodes; /* hosts to keep, NULL: all */
	struct change change[CHANGES_MAX];
	unsigned n_changes;
	const char *set[CHANGES_MAX]; /* KEY=VALUE, for both runs */
	unsigned n_sets;
	struct failure failure[FAILURES_MAX];
	unsigned n_failures;
};

/* False with a sentence on stderr. */
bool options_read(struct options *o, int argc, char **argv);
void options_usage(FILE *out);

/* "3,7,10-12" as numbers below `limit`; the count, or -1. */
int options_list(const char *text, unsigned limit, unsigned *out, unsigned max);
/* A configuration as JSON text for conf_parse(), to be freed: of the rules of a database (NULL: of
 * a replay), what --config has in their place, then each --set, then --what-if where changed. NULL
 * with a sentence in err. */
char *options_conf(const struct options *o, struct jsonr_node *rules, bool changed, char *err,
		   unsigned err_len);
/* All of a file, to be freed; NULL where it cannot be read. */
char *options_file(const char *file, size_t *len);
