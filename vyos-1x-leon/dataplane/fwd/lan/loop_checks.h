// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks against loops that include a LAN, for frames in both directions: state of the VLAN, split
 * horizon, de-duplication of flooded frames. A check counts the refused frames. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct eth_view;
struct frame;
struct worker;

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
