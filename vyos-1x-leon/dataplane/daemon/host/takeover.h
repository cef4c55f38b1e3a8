// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * After this node began to forward VLANs that another forwarded: the switches of the LAN learn that
 * hosts elsewhere are behind this port now. Control thread.
 */
#pragma once

#include "daemon/leond.h"

void takeover_start(struct leond *d);
void takeover_stop(struct leond *d);
/* In these VLANs. */
void takeover_say(struct leond *d, const struct vlan_set *vlans);
