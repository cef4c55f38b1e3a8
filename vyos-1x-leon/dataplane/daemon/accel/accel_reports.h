// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports of leon-accel about its connections (ipc/accel_report.h), requested each second: the
 * last totals and nodes, and the events derived from them. Owned by struct leond; control
 * thread.
 */
#pragma once

#include <stdbool.h>

#include "base/addr.h"
#include "ipc/accel_report.h"

/* Time without a report after which leon-accel counts as hung. A stalled one holds every received
 * segment. */
#define ACCEL_SILENT_S 5

struct leond;

void accel_reports_open(struct leond *d);
void accel_reports_free(struct leond *d);

/* leon-accel has connected or disconnected. A disconnection ends all requests to it. */
void accel_reports_here(struct leond *d);
void accel_reports_gone(struct leond *d);
/* Requests the next report. Returns false if leon-accel has not reported for too long. */
bool accel_reports_second(struct leond *d);

/* leond refused a frame between accelerators, because the source is not the sending node. */
void accel_reports_foreign(struct leond *d, node_id_t id);

/* The last totals. NULL: not connected, or not received yet. */
const struct accel_totals *accel_reports_totals(const struct leond *d);
/* The last report about a node. Returns false without a report. */
bool accel_reports_node(const struct leond *d, node_id_t id, struct accel_node *out);
