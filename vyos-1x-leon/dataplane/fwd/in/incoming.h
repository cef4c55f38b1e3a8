// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: security checks of data from the underlay before further processing: the link value of the
 * previous hop and, at the destination, the seal. doc/protocol.md sections 2.5 and 2.6. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/datagram/leon.h"

struct worker;

/* Checks the link value of a data datagram, or of any datagram to be relayed, from the address of
 * node `previous` (a slot). Returns false and counts a wrong or missing value. */
bool incoming_link(struct worker *w, const struct leon_hdr *h, const uint8_t *data,
		   uint16_t previous);

/* Opens a datagram at the destination in place. payload: bytes behind the header; pointer and
 * length become those of the text. Returns false and counts if the datagram is refused. */
bool incoming_open(struct worker *w, const struct leon_hdr *h, uint16_t source, const uint8_t *data,
		   uint8_t **payload, size_t *len);
