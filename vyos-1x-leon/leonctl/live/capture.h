// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `leonctl capture`: frames of a flow at all nodes on its path, as a pcapng file or a list. Reads
 * the records from leond until the end of the capture or a signal, aligns the clocks of the nodes,
 * and sorts by time. Needs the daemon.
 */
#pragma once

#include "client/target.h"

/* filter: words such as "host 10.0.0.1 port 80". Returns the exit code. */
int capture_run(struct target *t, const char *filter);
