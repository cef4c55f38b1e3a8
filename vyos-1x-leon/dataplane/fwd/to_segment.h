// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: a frame that has arrived at its destination node: checked, learned from, handed to
 * deliver. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct worker;

/* slot: of the source node. flags: of the LEON header. The bytes stay as they are until
 * deliver_flush(). */
/* False, and counted: the loop guard does not let frames of this VLAN pass, either way. */
bool lan_passes(struct worker *w, uint16_t vlan);
void local_frame(struct worker *w, uint16_t slot, uint8_t *data, size_t len, uint8_t flags);
