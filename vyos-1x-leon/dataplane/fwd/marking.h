// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which class (DSCP and ECN) the IP header of a datagram gets: from the frame in it, from the
 * datagram that is relayed, or from the configuration; and the way back. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fwd/frame.h"
#include "state/snap.h"
#include "wire/ecn.h"

struct worker;

/* A class as bits of the IP header; with this bit its DSCP is that of the socket (`parameters`). */
#define CLASS_OF_SOCKET 0x100

uint16_t marking_of_frame(const struct snap *s, const struct frame *f);
/* class: of the datagram as it came. A mark of the link before is never lost (RFC 6040). */
uint16_t marking_of_relayed(const struct snap *s, uint8_t kind, uint8_t class);
/* A frame out of the overlay whose datagrams had these marks: they are for its sender. False, and
 * counted, where it has no place for them. */
bool marking_arrives(struct worker *w, uint8_t *data, size_t len, const struct eth_view *v,
		     enum ecn outer);
/* As bits of the header, of a socket of this family. */
static inline uint8_t marking_bits(const struct snap *s, uint16_t class, bool v6)
{
	uint8_t socket = v6 ? s->marking.tclass : s->marking.tos;

	return class & CLASS_OF_SOCKET ? (uint8_t)(socket | (class & ECN_MASK)) : (uint8_t) class;
}
