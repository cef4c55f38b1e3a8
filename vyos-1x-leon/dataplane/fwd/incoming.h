// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: what policy demands of data from the underlay before anything else is done with it: the
 * link value of the hop before us, and at its end, the seal. doc/protocol.md sections 2.5 and 2.6.
 * Workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/leon.h"

struct worker;

/* A data datagram for us, or any to be relayed, which came from the address of node `previous` (a
 * slot). False where its link value is wrong or missing (counted). */
bool incoming_link(struct worker *w, const struct leon_hdr *h, const uint8_t *data,
		   uint16_t previous);

/* One that is at its end: opened in place. payload: what lies behind the header; both are moved to
 * the text. False where it may not be taken (counted). */
bool incoming_open(struct worker *w, const struct leon_hdr *h, uint16_t source, const uint8_t *data,
		   uint8_t **payload, size_t *len);
