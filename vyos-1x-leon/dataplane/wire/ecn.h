// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Congestion marks (ECN, RFC 3168) in the IP header of a frame. Pure; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/eth.h"

/* Does the sender understand marks? Also where it has one already. False where there is no whole
 * IPv4 or IPv6 header. */
bool ecn_takes_marks(const uint8_t *frame, size_t len, const struct eth_view *v);
/* Sets the mark, and mends the header checksum of IPv4. Only where ecn_takes_marks(). */
void ecn_mark(uint8_t *frame, const struct eth_view *v);
