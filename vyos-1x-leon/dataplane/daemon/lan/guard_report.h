// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events about the VLANs of the loop guard. Control thread.
 */
#pragma once

struct leond;
struct vlan_set;

/* Reports the states of the changed VLANs, one event for each state. */
void guard_report_states(struct leond *d, const struct vlan_set *changed);
/* Reports VLANs with another segment id at another node of the LAN. A LAN would be two segments,
 * and each router would move its frames into another segment. `reported` has the VLANs with an
 * event so far. */
void guard_report_mismatch(struct leond *d, struct vlan_set *reported);
