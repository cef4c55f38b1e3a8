// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads a latency matrix: one line a site, round-trip times in ms. Used by simulations, unit tests
 * and sim_large; any thread.
 */
#pragma once

#include <stdio.h>

#include "base/mem.h"

/* Returns n x n values, for free(), or NULL if the file is missing or no square of numbers. */
static inline double *read_matrix(const char *path, unsigned *n)
{
	FILE *f = fopen(path, "re");
	size_t count = 0, room = 0;
	double ms, *all = NULL;

	while (f && fscanf(f, "%lf", &ms) == 1) {
		if (count == room)
			all = x_realloc(all, room = room ? 2 * room : 1024, sizeof(*all));
		all[count++] = ms;
	}
	if (f)
		fclose(f);
	for (*n = 0; (size_t)*n * *n < count;)
		++*n;
	if (count && (size_t)*n * *n == count)
		return all;
	free(all);
	return NULL;
}
