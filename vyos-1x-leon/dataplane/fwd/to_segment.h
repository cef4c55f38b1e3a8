// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: a frame that has arrived at its destination node: checked, learned from, handed to
 * deliver. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/frame.h"

struct eth_view;
struct worker;

/* False, and counted: the loop guard does not let frames of this VLAN pass, either way. */
bool lan_passes(struct worker *w, uint16_t vlan);
/* True, and counted, for a flooded frame that comes round: its slot, SLOT_SELF where it comes from
 * the LAN, is not the one that it came from a moment ago, or it has come from there again and
 * again. */
bool comes_round(struct worker *w, const uint8_t *data, size_t len, const struct eth_view *v,
		 uint16_t slot);
/* The bytes stay as they are until deliver_flush(). */
void local_frame(struct worker *w, const struct arrived *a, uint8_t *data, size_t len);
