// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: transmission of datagrams. Every producer (encap, tso, splitting, flood, relay) passes
 * single datagrams. Consecutive datagrams of equal length and class to the same node leave as one
 * UDP_SEGMENT message if GSO works. A batch leaves with as few system calls as possible. The order
 * to a node is kept. Worker-owned.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "io/udp.h"

struct worker;

#define TX_MESSAGES 128
#define TX_PIECES   2048
/* Scratch bytes for headers that do not precede their payload in memory, and for sealed datagrams.
 * Together with the receive buffers they should fit a core's cache. */
#define TX_SCRATCH (256u << 10)
/* Time without GSO messages to a node after its route refused one. */
#define TX_NO_GSO_S 10

/* Length of IP and UDP headers on an underlay of this family, 4 or 6. */
static inline size_t tx_around(uint8_t family)
{
	return family == 6 ? 48 : 28;
}

/* Families 4, 6 and IP_STREAM, 8, of the first line; then 4 and 6 of the second one. */
#define TX_FAMILIES 5
static inline unsigned tx_index(const struct endpoint *ep)
{
	return ep->ip.family / 2u - 2 + 3u * ep->line;
}

struct tx_family {
	struct udp_tx *tx;
	int fd; /* -1: no socket of this family */
	/* Current message, if it can take another datagram. */
	bool open, second;
	uint16_t slot;
	uint16_t class;
	size_t segment; /* length of its first datagram */
	size_t len;
	unsigned n;
	/* Counters since the last flush. */
	uint64_t datagrams, bytes;
};
struct tx {
	struct tx_family family[TX_FAMILIES]; /* tx_index() */
	unsigned families;		      /* in use: 3 without a second line */
	struct tx_family *current;
	/* Class of subsequent datagrams, fwd/send/marking.h. */
	uint16_t class;
	bool second; /* subsequent datagrams use the second pair of lines, fwd/send/spread.h */
	uint8_t *scratch;
	size_t scratch_used;
	uint32_t *
		/* by slot: end of the time without GSO, in seconds of the worker's clock; 0: GSO
		 * works */
		no_gso_s;
};

void tx_init(struct worker *w, uint16_t slots_maximum);
void tx_fini(struct worker *w);

/* Reserves room for a datagram with this number of pieces and scratch bytes. The caller may write
 * to the returned scratch address before the datagram begins. NULL if nothing can be sent there
 * (the caller counts). May flush. */
uint8_t *tx_prepare(struct worker *w, uint16_t slot, unsigned pieces, size_t scratch);
/*
 * Begins a datagram of `len` bytes directly to node `slot`; tx_scratch() and tx_piece() fill it
 * next. Returns false if nothing can be sent there (the caller counts). May flush.
 */
bool tx_begin(struct worker *w, uint16_t slot, size_t len, unsigned pieces, size_t scratch);
/* Returns the next n bytes of the datagram, which the caller writes before the flush. */
uint8_t *tx_scratch(struct worker *w, size_t n);
/* Adds the next bytes of the datagram; they must not change until the flush. */
void tx_piece(struct worker *w, const void *data, size_t len);
/* Sends all messages. */
void tx_flush(struct worker *w);
