// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Restores lost frames of blocks with parity (wire/datagram/parity.h). The received symbols and
 * parities of recent blocks are kept until the block is complete, restored, or replaced by a newer
 * one. The memory is fixed: RECOVERY_BLOCKS blocks of all sources together, with pages used on
 * demand.
 *
 * All workers share the blocks, because frames and parities arrive from two addresses and therefore
 * at two sockets. A worker never waits for another worker. If another worker holds the block, the
 * symbol is delivered but not kept, as if lost for the code.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "wire/datagram/parity.h"

#define RECOVERY_BLOCKS 64

struct recovery;
struct recovery_block;

struct recovery *recovery_new(void);
void recovery_free(struct recovery *r); /* NULL ok */

enum recovery_verdict {
	RECOVERY_KEPT,
	RECOVERY_UNNEEDED, /* a duplicate, or the block is complete, restored or replaced */
	RECOVERY_BUSY,	   /* another worker holds the block */
	RECOVERY_BAD,	   /* contradicts the block, or does not fit */
};
struct recovery_result {
	enum recovery_verdict verdict;
	/* Finally lost symbols of a replaced block. */
	unsigned unrecoverable;
	/* The block was restored, and the worker holds the block until recovery_end(). */
	struct recovery_block *restored;
};

/* --- workers --- */
/* Adds a frame or fragment of a block. flags: LEON_FLAGS_FRAME. */
struct recovery_result recovery_add(struct recovery *r, node_id_t source,
				    const struct parity_hdr *h, uint8_t flags,
				    const uint8_t *payload, size_t len);
/* Adds a parity. */
struct recovery_result recovery_add_parity(struct recovery *r, node_id_t source,
					   const struct parity_hdr *h, const uint8_t *parity,
					   size_t len);

struct recovery_symbol {
	struct parity_hdr h;
	bool restored; /* false: a received fragment of a frame with restored fragments */
	uint8_t flags;
	uint8_t *payload; /* until recovery_end() */
	size_t len;
};
/* Iterates over the symbols to deliver, *at from 0 on. Returns false at the end. A restored symbol
 * with impossible values has length 0. */
bool recovery_next(struct recovery_block *b, unsigned *at, struct recovery_symbol *out);
void recovery_end(struct recovery_block *b);
