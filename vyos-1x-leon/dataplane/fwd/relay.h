// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: a datagram that is not for this node goes on to the next hop that its header names, with
 * `at` one higher, the link value of the next link, and nothing else changed. Data
 * and control alike. Workers.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "wire/leon.h"

struct worker;

/* source_slot: of the node that sent it first. class: of its IP header as it came. The bytes
 * stay as they are until the flush. Returns the slot of the next hop, SLOT_NONE where it was
 * dropped (counted). */
uint16_t relay(struct worker *w, const struct leon_hdr *h, uint16_t source_slot, uint8_t *data,
	       size_t len, uint8_t class);
