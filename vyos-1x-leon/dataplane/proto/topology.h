// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The topology that this node believes: permitted relays, links reported broken, and a route to a
 * node without a path. Sends nothing; defines overlay_path_params(). Control thread.
 */
#pragma once

#include "proto/core.h"

void topology_init(struct overlay *o);
/* Enters a path error of a relay. Returns false if it is known or there is no room. */
bool topology_link_broken(struct overlay *o, uint16_t from, uint16_t to);
/* Removes expired path errors; returns the next expiry. */
mono_t topology_sweep(struct overlay *o, mono_t now);
/* Returns a route to a node without a path, over links that at least one end reports, to test
 * whether the node is reachable. */
bool topology_claimed(struct overlay *o, const struct peer *p, struct path *best);
void topology_forget(struct overlay *o, uint16_t slot);
void topology_free(struct overlay *o);
