// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Optimal string alignment distance for "did you mean", see nearest.h.
 */
#include "nearest.h"

#include <string.h>

#include "defs.h"

unsigned nearest_distance(const char *a, const char *b)
{
	unsigned row[3][NEAREST_LEN_MAX + 1] = { { 0 } };
	size_t n = strlen(a), m = strlen(b);

	if (n > NEAREST_LEN_MAX || m > NEAREST_LEN_MAX)
		return NEAREST_LEN_MAX;
	for (size_t k = 0; k <= m; k++)
		row[0][k] = (unsigned)k;
	for (size_t i = 1; i <= n; i++) {
		unsigned *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t k = 1; k <= m; k++) {
			unsigned one_more = 1 + min_of(last[k], now[k - 1]);

			now[k] = min_of(last[k - 1] + (a[i - 1] != b[k - 1]), one_more);
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				now[k] = min_of(now[k], before[k - 2] + 1);
		}
	}
	return row[n % 3][m];
}

bool nearest_is_near(const char *typed, unsigned distance)
{
	size_t len = strlen(typed);

	return distance <= max_of((size_t)1, len / 3) && distance < len;
}
