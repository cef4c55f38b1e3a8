// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The parities of blocks of critical frames (wire/datagram/parity.h) that are being sent. Each
 * symbol is added to all parities at once, so no frame is stored. protect.h opens and closes the
 * blocks. Worker-owned.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "wire/datagram/parity.h"

/* Blocks of different nodes at a time. Another node takes the place of an earlier node, and the
 * block of the latter ends early. */
#define CODING_BLOCKS 16

struct coding_block {
	bool open;
	uint16_t slot; /* of the destination */
	node_id_t id;
	uint64_t base; /* counter of the first symbol */
	mono_t since;
	uint8_t symbols;
	uint8_t first;	/* index of the first symbol of the frame */
	uint16_t class; /* of the last frame, fwd/send/marking.h */
	size_t longest; /* length of the longest symbol */
	size_t used;	/* bytes of the rows that are not 0 */
	uint8_t row[PARITY_ROWS][PARITY_SYMBOL_MAX];
};

struct coding {
	struct coding_block *block; /* [CODING_BLOCKS], by slot; pages are used on demand */
	unsigned n_open;
	uint8_t *symbol;
};

void coding_init(struct coding *c);
void coding_fini(struct coding *c);
/* Begins an empty block. */
void coding_open(struct coding *c, struct coding_block *b, uint64_t base, mono_t now);
/* Header of the next symbol. */
struct parity_hdr coding_header(const struct coding_block *b, unsigned worker, uint8_t kind);

/* Payload of a datagram in two pieces. */
struct coding_payload {
	const uint8_t *head, *body;
	size_t head_len, body_len; /* together at most PARITY_PAYLOAD_MAX */
};
/* Adds the next symbol. flags: LEON_FLAGS_FRAME. */
void coding_add(struct coding *c, struct coding_block *b, uint8_t kind, uint8_t flags,
		const struct coding_payload *p);
