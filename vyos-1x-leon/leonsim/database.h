// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The paths of one node, from what `leonctl --json show latency` printed on it: its database, its
 * rules and the paths it has in use, put through the daemon's own state/path.c and state/choice.c.
 * So they are those of `show paths` at that moment, by construction. One thread.
 */
#pragma once

#include "base/jsonw.h"
#include "options.h"

/* Prints the paths, and with changes those after them; the exit status. */
int database_run(const struct options *o);
/* The same for a document in memory, as JSON into w and as text where there is a table; false with
 * a sentence in err. */
bool database_answer(const char *text, size_t len, const struct options *o, struct jsonw *w,
		     FILE *table, char *err, unsigned err_len);
