// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * IGMP and MLD snooping (decisions/077): the groups of the LAN to the other nodes, and their groups
 * to the workers. Control thread.
 */
#pragma once

#include <stdint.h>

#include "base/mono.h"
#include "state/tables/groups.h"

struct fwd_report;
struct leond;
struct vlan_set;

void snooping_start(struct leond *d);
void snooping_apply_conf(struct leond *d);
void snooping_second(struct leond *d, mono_t now);
void snooping_stop(struct leond *d);
/* A worker reports FWD_MULTICAST. */
void snooping_report(struct leond *d, const struct fwd_report *r);
/* The node of this slot receives only these groups; n 0: all. */
void snooping_announced(struct leond *d, uint16_t slot, const uint64_t *entry, unsigned n);
/* The hosts on the LAN may have changed: its groups are not known until they report again. */
void snooping_relearn(struct leond *d, const struct vlan_set *vlans);
void snooping_host_moved(struct leond *d, uint16_t vlan);
/* More hosts may be on the LAN: the querier of this node queries them. */
void snooping_query_soon(struct leond *d);
/* Queries of this node since its start. */
uint64_t snooping_queries(const struct leond *d);
/* NULL: snooping is off. */
const struct groups *snooping_groups(const struct leond *d);
