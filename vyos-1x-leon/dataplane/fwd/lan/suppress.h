// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: ARP and neighbor discovery: reports the learned neighbors and answers requests for known
 * neighbors locally, without flooding. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/frame.h"

struct worker;

/* Inspects a frame from the node of this slot (SLOT_SELF: from the TAP). Cheap for frames other
 * than ARP and ND. */
void neighbor_learn(struct worker *w, const uint8_t *data, size_t len, const struct eth_view *v,
		    uint16_t slot);
/* Returns true if the frame from the TAP was a request and was answered locally. */
bool neighbor_answer(struct worker *w, const struct frame *f);
