// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: IGMP and MLD snooping (decisions/077). Reports queries, joined groups and multicast routers
 * to the control thread, for frames to multicast addresses. Idle without the configuration.
 * Workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct eth_view;
struct worker;

/* Inspects a frame from the node of this slot (SLOT_SELF: from the TAP). Returns true for a frame
 * that must not be delivered to the LAN; counted. */
bool snoop(struct worker *w, const uint8_t *data, size_t len, const struct eth_view *v,
	   uint16_t slot);
/* Inspects a frame of a VLAN in which this node does not forward. */
void snoop_closed(struct worker *w, const uint8_t *data, size_t len, const struct eth_view *v,
		  uint16_t slot);
