// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What leon-accel tells leond, and what leond asks it (wire/accel_report.h). One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "wire/accel_report.h"

struct engine;

/* Totals, and the nodes of which something changed. */
void report_second(struct engine *e);
/* A leond that knows nothing yet: all nodes that ever mattered, then the totals. */
void report_anew(struct engine *e);
/* False where leond does not listen, or has not read what it was told before. */
bool report_node(struct engine *e, const struct accel_node *n);
/* A message of leond that is none of enum accel_say. */
void report_asked(struct engine *e, const void *data, size_t len);
