// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports of leon-accel to leond, and requests of leond (wire/accel_report.h). Single-threaded.
 */
#pragma once

#include <stddef.h>

struct engine;

/* Sends the totals, and the nodes with changes. */
void report_second(struct engine *e);
/* Sends all nodes with past or present connections, then the totals, to a new leond. */
void report_all(struct engine *e);
/* Handles a message of leond outside enum accel_say. */
void report_requested(struct engine *e, const void *data, size_t len);
