// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The loop guard on the local segment. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

struct leond;

/* The LAN behind the node has changed in VLANs of the given classes (struct record_lan). Forgets
 * possibly wrong entries. */
void lan_changed(struct leond *d, uint16_t slot, uint64_t classes);
void guard_open(struct leond *d); /* Called before any frame is forwarded. */
void guard_start(struct leond *d);
void guard_close(struct leond *d);
/* The daemon stops, and other nodes on the LAN forward at once. */
void guard_leave(struct leond *d);
void guard_apply_conf(struct leond *d);
void guard_frame_received(struct leond *d, const uint8_t *frame, size_t len);
/* A host was seen on the local segment, so there is a LAN even if leon0 is no port of a bridge. */
void guard_local_host(struct leond *d, struct mac mac);
/* There is a LAN for certain. */
void guard_lan_found(struct leond *d);
/* The set of served VLANs has changed. */
void guard_vlans_changed(struct leond *d);
/* used: a frame of this VLAN was not forwarded, because the guard has not listened to the VLAN yet,
 * or the VLAN has hosts. */
void guard_vlan_used(struct leond *d, uint16_t vlan, bool used);
/* A host of the VLAN moved between LAN and overlay, or a flooded frame arrived twice. */
void guard_probe_vlan(struct leond *d, uint16_t vlan);
/* Another port of the bridge came up. */
void guard_port_up(struct leond *d);
/* Another node reports the departure from every LAN. */
void guard_node_gone(struct leond *d, uint16_t slot);
/* Nodes became reachable or unreachable. */
void guard_paths_changed(struct leond *d);
/* The state of the interface, of its bridge or bond, or of other ports of the bridge has
 * changed. */
void guard_lan_changed(struct leond *d);
/* Notifies other nodes of moved hosts in segments of the given classes. */
void guard_hosts_moved(struct leond *d, uint64_t classes);
