// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The other ports of the bridge that leon0 is in: whether the LAN behind it is there at all.
 * Control thread.
 */
#pragma once

#include "daemon/leond.h"

void bridge_ports_start(struct leond *d); /* before guard_start() */
void bridge_ports_stop(struct leond *d);
/* Something about links changed, or leon0 went into another bridge or out of it. */
void bridge_ports_changed(struct leond *d, const struct nl_event *ev);
void bridge_ports_look(struct leond *d);
