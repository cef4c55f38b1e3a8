// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which flooded frames were here a moment ago, and whether from the LAN or from which node. Where
 * two LANs were joined behind the loop guard's back, a broadcast that each of several routers takes
 * from the one LAN and puts on it from the overlay goes round, and with three of them multiplies,
 * until their guards have met. Its second way to the same node is the first sign of that, and is
 * where it ends here. (decisions/053)
 *
 * One table for all workers, because the two ways of a frame lead to two sockets; no locks. A
 * cache: of two frames in one place the older is forgotten.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"
#include "wire/eth.h"

/* So long a frame is remembered: it comes round through paths of intercontinental length. */
#define ROUNDS_LIFE_MS 1000
/* So long what repeats itself is held up while the loop guard asks; then it is its host's. What is
 * repeated after a longer time is not held up at all. */
#define ROUNDS_HOLD_MS 200

enum round_verdict {
	ROUND_FIRST, /* take it */
	ROUND_AGAIN, /* take it, and let the guard ask: it came the same way a second time */
	ROUND_HELD,  /* drop it, and let it ask: from the LAN a third time, or again from a node */
	ROUND_TWO_WAY, /* drop it, and let it ask: it came another way before */
};

struct rounds;
struct rounds *rounds_new(void);    /* control thread, as the next */
void rounds_free(struct rounds *r); /* NULL ok */

/* --- workers --- */
/* The same of frames that only differ in what a LAN or a TAP changes: outer tag, padding, a
 * transport checksum that is filled in later. */
uint64_t rounds_sum(const struct rounds *r, const uint8_t *data, size_t len,
		    const struct eth_view *v);
/* Notes that a frame of this sum came from the slot, SLOT_SELF: from the LAN. */
enum round_verdict rounds_take(struct rounds *r, uint64_t sum, uint16_t slot, mono_t now);
