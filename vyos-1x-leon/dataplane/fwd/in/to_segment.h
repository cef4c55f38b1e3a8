// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: a frame at its destination node: checks, learning, delivery. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/frame.h"

struct eth_view;
struct worker;

/* Returns false and counts if the loop guard blocks this VLAN, in either direction. */
bool lan_passes(struct worker *w, uint16_t vlan);
/* Returns true and counts for a looped flooded frame: the origin (slot, SLOT_SELF for the LAN)
 * differs from the recent origin, or the frame repeats too often. */
bool is_looped(struct worker *w, const uint8_t *data, size_t len, const struct eth_view *v,
	       uint16_t slot);
/* The bytes must not change until deliver_flush(). */
void local_frame(struct worker *w, const struct arrived *a, uint8_t *data, size_t len);
