// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target of leonsim's reader for the database of a live overlay. The input is any output of
 * `show latency`, with a change of each kind.
 */
#include <stdlib.h>

#include "options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct options o = {
		.change = { { CHANGE_SET, "path.threshold=20" },
			    { CHANGE_CUT, "a:10.0.0.2" },
			    { CHANGE_WITH, "5,5,5" },
			    { CHANGE_WITHOUT, "b" } },
		.n_changes = 4,
	};
	struct options few = o;

	/* Tries each number of changes, because the first invalid one ends the run. */
	for (few.n_changes = 0; few.n_changes <= o.n_changes; few.n_changes++) {
		struct jsonw *w = jsonw_new();
		char err[512] = "";

		if (!database_answer((const char *)data, len, &few, w, NULL, err, sizeof(err)) &&
		    !err[0])
			abort();
		jsonw_free(w);
	}
	return 0;
}
