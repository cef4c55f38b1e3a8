// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Payload of LEON_COPY for frames with parity: a frame or a fragment of a block, or a parity of the
 * block. Up to PARITY_FRAMES symbols form a block, and up to PARITY_ROWS parities restore as many
 * lost ones. Pure; workers.
 *
 *   worker (8) | counter (56) | kind (8) | index (8) | frame or fragment ...
 *   worker (8) | counter (56) | 0x80 (8) | row (8) | symbols (8) | parity ...
 *
 * The upper bits of the counter number the block. The lower PARITY_INDEX_BITS are the index of the
 * first symbol of the frame, and 0 in a parity.
 *
 * The code is a Cauchy Reed-Solomon code (Bloemer and others, ICSI TR-95-048) in the field of RFC
 * 5510. A parity is the sum of all symbols, each multiplied by 1 / ((0x80 + row) ^ index). Every
 * square matrix of these factors is invertible, so any parities restore as many symbols. A symbol
 * is padded with zeros to the length of the longest one:
 *
 *   length of the payload (16) | fragment (1) first (7) | flags (8) | payload ...
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/datagram/leon.h"

/* Symbols of a block: the block lasts 10 ms at 10,000 frames/s. More symbols resist longer bursts
 * and need more processor time for each frame. */
#define PARITY_FRAMES	  100
#define PARITY_ROWS	  20
#define PARITY_INDEX_BITS 7

#define PARITY_MARK	     0x80		/* in the kind */
#define PARITY_FRAME_HDR_LEN (COPY_HDR_LEN + 1) /* in front of a frame or fragment */
#define PARITY_HDR_LEN	     (COPY_HDR_LEN + 2) /* in front of a parity */
#define PARITY_SYMBOL_HDR    4			/* in front of the payload in a symbol */
#define PARITY_SYMBOL_MAX    1536		/* an Ethernet frame with tags, and headers */
#define PARITY_PAYLOAD_MAX   (PARITY_SYMBOL_MAX - PARITY_SYMBOL_HDR)

struct parity_hdr {
	uint8_t worker;	 /* as in struct copy_hdr */
	uint64_t block;	 /* counter of its first symbol */
	uint8_t kind;	 /* LEON_FRAME, LEON_FRAGMENT, or 0: a parity */
	uint8_t first;	 /* index of the first symbol of the frame; 0 in a parity */
	uint8_t index;	 /* of the symbol, or row of the parity */
	uint8_t symbols; /* number in the block; of a parity only */
};

/* Returns true if a payload of LEON_COPY belongs to a block. */
bool parity_is(const void *data, size_t len);
/* Returns the length of the header, or -EBADMSG: empty, or values out of range. */
int parity_decode(const void *data, size_t len, struct parity_hdr *h);
/* Writes PARITY_HDR_LEN bytes for a parity, else PARITY_FRAME_HDR_LEN. */
void parity_encode(const struct parity_hdr *h, void *out);
/* Identifies the frame of a symbol among duplicated frames and frames of blocks. */
struct copy_hdr parity_frame(const struct parity_hdr *h);

struct parity_symbol {
	uint8_t kind, first, flags; /* flags: LEON_FLAGS_FRAME */
	uint16_t len;		    /* of the payload */
};
/* Writes PARITY_SYMBOL_HDR bytes. */
void parity_symbol_encode(const struct parity_symbol *s, void *out);
/* Returns 0, or -EBADMSG: the payload is empty or longer than `len` permits, or a flag is
 * unknown. */
int parity_symbol_decode(const void *data, size_t len, struct parity_symbol *s);

/* Factor of a symbol in a parity. */
uint8_t parity_factor(unsigned row, unsigned index);
/* Number of parities of a block. A fifth of the symbols; one more for small blocks, which need more
 * redundancy for the same protection. */
unsigned parity_rows(unsigned symbols);
