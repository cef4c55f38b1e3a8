// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One replay of a trace. Runs the net, samples the paths in use at regular times and compares them
 * with the direct path, the optimal path and two copies. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "net.h"
#include "wire/datagram/leon.h"

/* --- means and percentiles ---
 * Means and percentiles of very many latencies: a histogram with steps of 0.1 %, or 5 % for the
 * histograms of single pairs. One thread.
 */

struct figures;

struct figures *figures_new(unsigned per_octave); /* 1 to 1024 */
void figures_free(struct figures *f);		  /* NULL ok */
void figures_add(struct figures *f, double us);
double figures_mean(const struct figures *f); /* NAN without samples, as below */
/* Returns the smallest value that is not exceeded by `fraction` of all samples. */
double figures_quantile(const struct figures *f, double fraction);

/* --- oracle.c ---
 * The optimal paths by the true values of the slice, which no node can know in time. The number of
 * relays and the cost of a relay are those of the configuration. One thread.
 */

struct oracle;

struct oracle *oracle_new(const struct net *n);
void oracle_free(struct oracle *o);
/* Computes all paths again for a new slice or after a failure. */
void oracle_update(struct oracle *o, const struct net *n, unsigned slice);
/* Writes the hosts of the best path a -> b, with b last. Returns 0 if there is no path. */
unsigned oracle_hops(const struct oracle *o, unsigned a, unsigned b, unsigned hop[LEON_HOPS_MAX]);

struct failure {
	int64_t at_us, for_us;
	bool is_link;
	unsigned a, b; /* node a, or link a - b */
};

struct replay_options {
	const char *conf_text; /* NULL: defaults */
	bool all_traffic;
	int64_t warm_up_ms;
	uint64_t seed;
	const struct failure *failure;
	unsigned n_failures;
};

/* Ways to the destination: the direct link, the path in use, the best path, and the faster one of
 * two copies. */
enum way { WAY_DIRECT, WAY_LEON, WAY_ORACLE, WAY_COPIES, WAYS };

struct pair {
	struct figures *of[WAYS]; /* NULL in large overlays */
	double sum_us[WAYS];
	/* samples; samples in which all ways work */
	uint64_t n, n_ok;
	uint64_t changes, copies_changes, relayed, without;
};

struct result {
	unsigned n; /* hosts */
	double hours;
	struct figures *of[WAYS]; /* of all pairs */
	struct pair *pair;	  /* [a * n + b] */
	uint64_t changes, failovers, copies_changes, link_downs, silences;
	uint64_t samples, without; /* samples of pairs; samples without a working path */
	double bytes_s;		   /* control traffic of a node */
};

/* Returns NULL with a sentence in err. */
struct result *replay(struct trace *t, const struct replay_options *o, char *err, unsigned err_len);
void result_free(struct result *r); /* NULL ok */
