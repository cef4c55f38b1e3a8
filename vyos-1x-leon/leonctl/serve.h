// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `leonctl metrics --listen`: the metrics of one leond over HTTP, for Prometheus. A process of its
 * own (decisions/014), so that whoever can connect meets neither the daemon's thread nor its keys.
 */
#pragma once

#include "target.h"

/* Serves until it is killed. `where` is ADDRESS or ADDRESS:PORT. Otherwise the exit code. */
int serve_metrics(struct target *t, const char *where);
