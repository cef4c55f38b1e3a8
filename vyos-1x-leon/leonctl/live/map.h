// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `leonctl map`: the overlay as one self-contained HTML page (map.html). leonctl only.
 */
#pragma once

#include <stdio.h>

#include "client/target.h"

/* The daemon's answers from which the page is built. */
struct map_answers {
	char *nodes, *paths, *latency; /* JSON */
};
/* Writes the page with the time of the answers. Characters that could end a script are escaped. */
void map_write(const struct map_answers *a, const char *time, FILE *out);
/* Sends the requests to the daemon and prints the page. Returns the exit code. */
int map_print(struct target *t, const char *unused);
