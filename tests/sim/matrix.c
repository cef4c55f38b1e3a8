// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the latency matrices of tests/latency: one line a site, tab-separated round-trip times in
 * ms. Tests and sim_control call this file.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "read_matrix.h"
#include "sim.h"

#define SITES 128
/* RTT between two nodes of one site, and the smallest RTT between any two nodes. */
#define LEAST_US 50

/* Assigns a site to each node, one node per site while sites remain. */
static void choose(unsigned n, uint64_t *rng, unsigned *site)
{
	unsigned all[SITES];

	for (unsigned i = 0; i < SITES; i++)
		all[i] = i;
	for (unsigned i = 0; i < n; i++) {
		unsigned at = i % SITES, k = at;

		if (rng) {
			*rng = hash_mix64(*rng + 1);
			k = at + (unsigned)(*rng % (SITES - at));
		}
		site[i] = all[k];
		all[k] = all[at];
		all[at] = site[i];
	}
}

static double *read_all(const char *file)
{
	char path[512];
	double *ms;
	unsigned n;

	snprintf(path, sizeof(path), "%s/tests/latency/%s", SOURCE_ROOT, file);
	ms = read_matrix(path, &n);
	if (!ms || n != SITES) {
		fprintf(stderr, "%s is no matrix of %d sites\n", path, SITES);
		abort();
	}
	return ms;
}

void matrix_planetlab(const char *file, unsigned n, uint64_t *rng, int64_t *rtt_us)
{
	unsigned *site = x_calloc(n, sizeof(*site));
	double *ms = read_all(file);

	choose(n, rng, site);
	for (unsigned a = 0; a < n; a++) {
		for (unsigned b = 0; b < n; b++) {
			int64_t us = (int64_t)(ms[site[a] * SITES + site[b]] * 1000);

			rtt_us[a * n + b] = us > LEAST_US ? us : LEAST_US;
		}
	}
	free(ms);
	free(site);
}
