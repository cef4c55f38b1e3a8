// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: blocks of critical frames, and their parities (wire/datagram/parity.h). The frames travel
 * along the first path of a pair as they arrive. A block ends after PARITY_FRAMES symbols or
 * PROTECT_NS, and its parities follow along the second path. Workers.
 */
#pragma once

#include <stdint.h>

#include "base/mono.h"
#include "fwd/send/coding.h"

struct worker;

/* Maximum duration of a block, and so of the wait for its parities. */
#define PROTECT_NS (10 * NS_PER_MS)

/* Returns the block of a node. */
struct coding_block *protect_block(struct worker *w, uint16_t slot);
/* Begins a frame of this number of symbols, at most PARITY_FRAMES: a block has all of them. */
void protect_begin_frame(struct worker *w, struct coding_block *b, unsigned symbols);
/* End of the oldest block; MONO_NEVER: none is open. */
mono_t protect_due(const struct worker *w);
/* Ends the blocks that are due. */
void protect_end_due(struct worker *w);
