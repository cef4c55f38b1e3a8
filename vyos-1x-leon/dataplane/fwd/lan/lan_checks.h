// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps of frames from and to the local segment. A step that refuses a frame counts it. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/frame.h"

struct worker;

/* --- loop_checks.c: state of the VLAN, split horizon, repetition of flooded frames --- */

/* Returns false for a tagged frame that a bridge would treat as a frame of another VLAN. */
bool tag_passes(struct worker *w, const struct eth_view *v);
/* Reports a guard frame from the TAP, which has no EtherType. Returns false for any other frame. */
bool guard_taken(struct worker *w, const struct frame *f);
/* Returns false if the loop guard blocks the VLAN. */
bool lan_passes(struct worker *w, uint16_t vlan);
/* Split horizon by LAN: returns true for a frame from a node of the local LAN, because the frame
 * was on this LAN already. The rule ends every loop, independent of the forwarder. */
bool is_from_own_lan(struct worker *w, uint16_t slot, uint16_t vlan);
/* Returns true for a looped flooded frame: the origin (slot, SLOT_SELF for the LAN) differs from
 * the recent origin, or the frame repeats too often. */
bool is_looped(struct worker *w, const uint8_t *data, size_t len, const struct eth_view *v,
	       uint16_t slot);

/* --- snoop.c: queries, joined groups and multicast routers (decisions/077) --- */

/* Inspects a frame from the node of this slot (SLOT_SELF: from the TAP). Returns true for a frame
 * that must not be delivered to the LAN; counted. */
bool snoop(struct worker *w, const uint8_t *data, size_t len, const struct eth_view *v,
	   uint16_t slot);
/* Inspects a frame of a VLAN in which this node does not forward. */
void snoop_closed(struct worker *w, const uint8_t *data, size_t len, const struct eth_view *v,
		  uint16_t slot);

/* --- suppress.c: neighbors of ARP and neighbor discovery, and local answers --- */

/* Inspects a frame from the node of this slot (SLOT_SELF: from the TAP). Cheap for frames other
 * than ARP and ND. */
void neighbor_learn(struct worker *w, const uint8_t *data, size_t len, const struct eth_view *v,
		    uint16_t slot);
/* Returns true if the frame from the TAP was a request and was answered locally. */
bool neighbor_answer(struct worker *w, const struct frame *f);
