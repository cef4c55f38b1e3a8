// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: ARP and neighbor discovery that passes: what it says is reported, and what is asked for is
 * answered here where that is known, so that the question stays local. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/frame.h"

struct worker;

/* A frame from the node of this slot (SLOT_SELF: from the TAP) is looked at. Cheap for others than
 * ARP and ND. */
void neighbor_learn(struct worker *w, const uint8_t *data, size_t len, const struct eth_view *v,
		    uint16_t slot);
/* True where the frame from the TAP was a question that has been answered: it goes nowhere else. */
bool neighbor_answer(struct worker *w, const struct frame *f);
