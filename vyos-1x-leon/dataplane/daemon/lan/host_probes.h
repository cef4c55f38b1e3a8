// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Host queries after a loop or a change of the forwarder. Switches of the LAN may have learned
 * hosts at a port where LEON sent their frames. A silent host stays there until its neighbors
 * resolve it again, up to a minute later. A query corrects this at once. Control thread.
 */
#pragma once

#include <stdint.h>

struct leond;
struct vlan_set;

void host_probes_start(struct leond *d);
void host_probes_stop(struct leond *d);
/* Removes the former node from the neighbors of moved hosts. Called before fdb_forget_slot(), so
 * that neigh_forget_slot() of the former node keeps their addresses. */
void host_probes_mark_moved(struct leond *d);
/* Called before hosts behind `slot` are forgotten in these VLANs: queries the hosts of this LAN and
 * hosts without a known location. Called after fdb_forget_slot() and before the neighbors of the
 * slot are forgotten, because they supply the addresses. */
void host_probes_start_vlans(struct leond *d, uint16_t slot, const struct vlan_set *vlans);
