// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The paths of one node, computed from the output of `leonctl --json show latency` on that node.
 * Its database, rules and paths in use pass through state/latency/path.c and state/latency/choice.c
 * of the daemon. The result equals `show paths` of that moment. The document has neither relays
 * that the node avoids because of lost data nor links with a path error. One thread.
 */
#pragma once

#include "base/json/jsonw.h"
#include "options.h"

/* Prints the paths, and with changes also the paths after the changes. Returns the exit status. */
int database_run(const struct options *o);
/* Computes the paths of a document in memory, as JSON into w, and as text into table if that is not
 * NULL. Returns false with a sentence in err. */
bool database_answer(const char *text, size_t len, const struct options *o, struct jsonw *w,
		     FILE *table, char *err, unsigned err_len);
