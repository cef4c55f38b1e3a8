// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * After a loop, or a change-over: switches of the LAN may have learned hosts where LEON put their
 * frames, and a host that says nothing stays there until its neighbors ask for it anew, up to a
 * minute later. So it is asked at once. Control thread.
 */
#pragma once

#include "daemon/leond.h"

void ask_hosts_start(struct leond *d);
void ask_hosts_stop(struct leond *d);
/* Hosts in these VLANs are about to be forgotten behind `slot`: asks for those of this LAN, and for
 * those of which it is not known where they are. After fdb_forget_slot(), before the neighbors of
 * the slot are forgotten: they have the addresses. */
void ask_hosts(struct leond *d, uint16_t slot, const struct vlan_set *vlans);
