// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Changes that others make on this host, handed to whom they concern. Control thread.
 */
#pragma once

struct leond;

/* Opens the monitor; from then on nothing is missed. 0 or -errno, logged. */
int watch_start(struct leond *d);
void watch_stop(struct leond *d);
