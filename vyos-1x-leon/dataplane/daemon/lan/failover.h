// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Gratuitous announcements after this node became forwarder of VLANs: switches of the LAN learn
 * that remote hosts are behind this port. Control thread.
 */
#pragma once

struct leond;
struct vlan_set;

void failover_start(struct leond *d);
void failover_stop(struct leond *d);
/* Starts announcements in these VLANs. */
void failover_announce(struct leond *d, const struct vlan_set *vlans);
