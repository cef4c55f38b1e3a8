// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Traffic class (DSCP and ECN) of datagrams: from the inner frame, from the relayed datagram, or
 * from the configuration; and ECN decapsulation. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fwd/frame.h"
#include "fwd/fwd.h"
#include "state/tables/snap.h"
#include "wire/frame/ecn.h"

struct worker;

/* Traffic class as header bits; with this bit set, the DSCP of the socket is used
 * (`parameters`). */
#define CLASS_OF_SOCKET 0x100

enum fwd_tier tier_of_dscp(uint8_t dscp);
uint16_t marking_of_frame(const struct snap *s, const struct frame *f);
/* class: of the received datagram. A CE mark of the previous link is kept (RFC 6040). */
uint16_t marking_of_relayed(const struct snap *s, uint8_t kind, uint8_t class);
/* Applies the ECN marks of its datagrams to a frame from the overlay. Returns false and counts if
 * the frame must be dropped because it is not ECN-capable. */
bool marking_arrives(struct worker *w, uint8_t *data, size_t len, const struct eth_view *v,
		     enum ecn outer);
/* Header bits for a socket of this family. */
static inline uint8_t marking_bits(const struct snap *s, uint16_t class, bool v6)
{
	uint8_t socket = v6 ? s->marking.tclass : s->marking.tos;

	return class & CLASS_OF_SOCKET ? (uint8_t)(socket | (class & ECN_MASK)) : (uint8_t) class;
}
