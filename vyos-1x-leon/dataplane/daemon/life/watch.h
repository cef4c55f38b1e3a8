// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Changes of the host by other programs, distributed to the modules. Control thread.
 */
#pragma once

struct leond;

/* Opens the monitor; no later change is missed. Returns 0, or -errno after logging. */
int watch_start(struct leond *d);
void watch_stop(struct leond *d);
