// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The report of a replay: a table for people, JSON for machines, curves as SVG. One thread.
 */
#pragma once

#include <stdio.h>

#include "base/json/jsonw.h"
#include "options.h"
#include "replay.h"

/* Writes the figures of one run as members of the open object. */
void report_json(struct jsonw *w, const struct result *r, bool pairs);
void report_text(FILE *out, const char *title, const struct result *r, bool pairs);
/* Returns 0 or -errno. */
int report_svg(const char *file, const struct options *o, const struct result *r);
