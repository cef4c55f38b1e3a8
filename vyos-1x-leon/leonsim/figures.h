// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Means and percentiles of very many latencies: a histogram in steps of 0.1 % (or 5 %, where there
 * is one for each pair). One thread.
 */
#pragma once

#include <stdint.h>

struct figures;

struct figures *figures_new(unsigned per_octave); /* 1 to 1024 */
void figures_free(struct figures *f);		  /* NULL ok */
void figures_add(struct figures *f, double us);
double figures_mean(const struct figures *f); /* NAN where nothing was added, as below */
/* Least value that `fraction` of all do not exceed. */
double figures_quantile(const struct figures *f, double fraction);
uint64_t figures_count(const struct figures *f);
