// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Means and percentiles of very many latencies: a histogram with steps of 0.1 %, or 5 % for the
 * histograms of single pairs. One thread.
 */
#pragma once

struct figures;

struct figures *figures_new(unsigned per_octave); /* 1 to 1024 */
void figures_free(struct figures *f);		  /* NULL ok */
void figures_add(struct figures *f, double us);
double figures_mean(const struct figures *f); /* NAN without samples, as below */
/* Returns the smallest value that is not exceeded by `fraction` of all samples. */
double figures_quantile(const struct figures *f, double fraction);
