// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: datagrams on their way out. Every producer (encap, tso, frag, flood, relay) hands over one
 * datagram after the other; consecutive ones of equal length and class to the same node leave as
 * one UDP_SEGMENT message, where that works, and all of a batch in as few system calls as
 * possible. Order to a node is kept. Worker-owned.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/udp.h"

struct worker;

#define TX_MESSAGES 128
#define TX_PIECES   2048
/* Bytes for headers that are not in front of their payload already, and for what is sealed: with
 * what was read, it should fit a core's cache. */
#define TX_SCRATCH (256u << 10)
/* For this long no GSO message is made for a node whose route refused one. */
#define TX_NO_GSO_S 10

/* Bytes of the headers around a datagram on an underlay of this family, 4 or 6: IP and UDP. */
static inline size_t tx_around(uint8_t family)
{
	return family == 6 ? 48 : 28;
}

struct tx_family {
	struct udp_tx *tx;
	int fd; /* -1: no socket of this family */
	/* The message begun last, where it can take another datagram. */
	bool open;
	uint16_t slot;
	uint16_t class;
	size_t segment; /* length of its first datagram */
	size_t len;
	unsigned n;
	/* Since the last flush. */
	uint64_t datagrams, bytes;
};
struct tx {
	struct tx_family family[2]; /* IPv4, IPv6 */
	struct tx_family *current;
	/* Of the datagrams that are begun from now on, fwd/marking.h. */
	uint16_t class;
	uint8_t *scratch;
	size_t scratch_used;
	uint32_t *
		no_gso_s; /* by slot: until then, in seconds of the worker's clock; 0 GSO is fine */
};

void tx_init(struct worker *w, uint16_t slots_maximum);
void tx_fini(struct worker *w);

/* Makes room for a datagram of so many pieces and bytes of scratch, of which the address is
 * returned: what will be that datagram's may be written there before it is begun. NULL (to
 * be counted by the caller, who knows what is lost) where nothing can be sent there. May flush. */
uint8_t *tx_prepare(struct worker *w, uint16_t slot, unsigned pieces, size_t scratch);
/*
 * Begins a datagram of `len` bytes straight to node `slot`, to be filled with tx_scratch() and
 * tx_piece() at once. False (to be counted) where nothing can be sent there. May flush.
 */
bool tx_begin(struct worker *w, uint16_t slot, size_t len, unsigned pieces, size_t scratch);
/* The next n bytes of the datagram, to be written by the caller before the flush. */
uint8_t *tx_scratch(struct worker *w, size_t n);
/* The next bytes of the datagram; they must stay as they are until the flush. */
void tx_piece(struct worker *w, const void *data, size_t len);
/* Sends all. */
void tx_flush(struct worker *w);
