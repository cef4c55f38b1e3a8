// SPDX-License-Identifier: GPL-2.0-or-later
/* See figures.h. */
#include "figures.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

#define OCTAVES 28 /* from 1 us to more than four minutes */

struct figures {
	unsigned per_octave;
	uint64_t n;
	double sum;
	uint32_t *count;
};

struct figures *figures_new(unsigned per_octave)
{
	struct figures *f = x_new(struct figures);

	f->per_octave = per_octave;
	f->count = x_calloc((size_t)OCTAVES * per_octave, sizeof(*f->count));
	return f;
}

void figures_free(struct figures *f)
{
	if (!f)
		return;
	free(f->count);
	free(f);
}

void figures_add(struct figures *f, double us)
{
	double at = us > 1 ? log2(us) * f->per_octave : 0;
	double last = (double)OCTAVES * f->per_octave - 1;

	f->count[(size_t)(at < last ? at : last)]++;
	f->n++;
	f->sum += us;
}

double figures_mean(const struct figures *f)
{
	return f->n ? f->sum / (double)f->n : NAN;
}

double figures_quantile(const struct figures *f, double fraction)
{
	double want = fraction * (double)f->n, seen = 0;
	size_t i = 0;

	if (f->n == 0)
		return NAN;
	for (; i + 1 < (size_t)OCTAVES * f->per_octave; i++) {
		seen += f->count[i];
		if (seen >= want)
			break;
	}
	return exp2(((double)i + 0.5) / f->per_octave);
}
