// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: forwards a datagram for another node to the next hop of its header. `at` is incremented and
 * the link value replaced by that of the next link; nothing else changes. Data and control.
 * Workers.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "wire/datagram/leon.h"

struct worker;

/* source_slot: of the source node. class: of the received IP header. The bytes must not change
 * until the flush. Returns the slot of the next hop; SLOT_NONE if the datagram was dropped
 * (counted). */
uint16_t relay(struct worker *w, const struct leon_hdr *h, uint16_t source_slot, uint8_t *data,
	       size_t len, uint8_t class);
