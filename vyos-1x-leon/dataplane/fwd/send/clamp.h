// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: lowers the MSS of TCP SYNs so that the segments of the connection fit the path without
 * splitting. Applied in both directions, because the MSS of a SYN limits the opposite direction.
 * Workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/frame/eth.h"

struct worker;

/* slot: the node at the far end; SLOT_NONE: all nodes, the smallest path MTU counts. */
void clamp(struct worker *w, uint8_t *data, size_t len, const struct eth_view *v, bool partial,
	   uint16_t slot);
