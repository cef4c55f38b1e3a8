// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target of leonsim's reader of traces: any bytes as a file, then the queries of a replay.
 * Also a trace with fewer hosts and with one more.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void ask(struct trace *t)
{
	for (unsigned s = 0; s < t->n_slices && s < 8; s++) {
		for (unsigned a = 0; a < t->n && a < 8; a++) {
			double us = trace_draw_us(t, s, a, (a + 1) % t->n);

			if (!isnan(us) && (us < 0 || us > 60e6))
				abort();
			trace_true_us(t, s, a, (a + 1) % t->n);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	FILE *f = len ? fmemopen((void *)(uintptr_t)data, len, "r") : NULL;
	char err[256] = "";
	struct trace *t = f ? trace_parse(f, err, sizeof(err)) : NULL;

	/* Either a trace or an error sentence must exist. */
	if (f && !t && !err[0])
		abort();
	if (t) {
		float *us = x_calloc(t->n, sizeof(*us));

		t->slice_us = 1000000;
		t->reading = READING_NOISE;
		t->window = 3;
		ask(t);
		trace_add(t, us);
		ask(t);
		trace_select(t, (unsigned[]){ 1, 0 }, 2);
		ask(t);
		free(us);
	}
	trace_free(t);
	if (f)
		fclose(f);
	return 0;
}
