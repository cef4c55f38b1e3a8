// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: the MSS of TCP SYNs lowered so that the connection's segments fit the path whole, in both
 * directions: what a SYN says limits what comes back. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/eth.h"

struct worker;

/* slot: the node at the other end; SLOT_NONE: all nodes, the narrowest path counts. */
void clamp(struct worker *w, uint8_t *data, size_t len, const struct eth_view *v, bool partial,
	   uint16_t slot);
