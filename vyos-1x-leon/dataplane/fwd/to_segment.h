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

struct worker;

/* False, and counted: the loop guard does not let frames of this VLAN pass, either way. */
bool lan_passes(struct worker *w, uint16_t vlan);
/* The bytes stay as they are until deliver_flush(). */
void local_frame(struct worker *w, const struct arrived *a, uint8_t *data, size_t len);
