// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `leonctl map`: the overlay as one HTML page that needs nothing else (map.html). leonctl only.
 */
#pragma once

#include <stdio.h>

#include "target.h"

/* The answers that a page is made of, as the daemon gave them. */
struct map_answers {
	char *nodes, *paths, *latency; /* JSON */
};
/* The page; `time` says when it was. What could end a script is written otherwise. */
void map_write(const struct map_answers *a, const char *time, FILE *out);
/* Asks the daemon and prints the page. The exit code. */
int map_print(struct target *t, const char *unused);
