// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The loop guard on the local segment. Control thread.
 */
#pragma once

#include "daemon/leond.h"

/* Forgets what may be wrong now that the LAN behind the node is another in VLANs of these classes
 * (struct record_lan). */
void lan_changed(struct leond *d, uint16_t slot, uint64_t classes);
void guard_open(struct leond *d); /* before anything is forwarded */
void guard_start(struct leond *d);
void guard_close(struct leond *d);
/* The daemon stops: others on the LAN take over at once. */
void guard_leave(struct leond *d);
void guard_apply_conf(struct leond *d);
void guard_frame_heard(struct leond *d, const uint8_t *frame, size_t len);
/* A host on the local segment: there is a LAN, though leon0 be no port of anything. */
void guard_local_host(struct leond *d, struct mac mac);
/* There is one for certain. */
void guard_lan_found(struct leond *d);
/* This node serves other VLANs than before. */
void guard_vlans_changed(struct leond *d);
/* A frame of this VLAN was not forwarded, because nobody has listened to the VLAN yet. */
void guard_vlan_seen(struct leond *d, uint16_t vlan);
/* A host of the VLAN moved between LAN and overlay, or a flooded frame came a second time. */
void guard_in_doubt(struct leond *d, uint16_t vlan);
/* One more port of the bridge came up. */
void guard_port_up(struct leond *d);
/* Another node says that it is not on any LAN any more. */
void guard_node_gone(struct leond *d, uint16_t slot);
/* Nodes became reachable, or are no more. */
void guard_paths_changed(struct leond *d);
/* The interface went up or down, or into another bridge or bond, or out of it; or the other ports
 * of the bridge did. */
void guard_lan_changed(struct leond *d);
/* Hosts in segments of these classes are not where others know them: tells them. */
void guard_hosts_moved(struct leond *d, uint64_t classes);
