// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `leonctl metrics --listen`: the metrics of one leond over HTTP, for Prometheus. A separate
 * process (decisions/014), so that HTTP clients reach neither the daemon's thread nor its keys.
 */
#pragma once

#include "client/target.h"

/* Serves until a signal ends the process, else returns the exit code. `where` is ADDRESS or
 * ADDRESS:PORT. */
int serve_metrics(struct target *t, const char *where);
