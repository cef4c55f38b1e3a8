// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The other ports of leon0's bridge: whether the LAN behind the bridge exists. Control thread.
 */
#pragma once

struct leond;
struct nl_event;

void bridge_ports_start(struct leond *d); /* called before guard_start() */
void bridge_ports_stop(struct leond *d);
/* A link changed, or leon0 was added to or removed from a bridge. */
void bridge_ports_changed(struct leond *d, const struct nl_event *ev);
void bridge_ports_look(struct leond *d);
