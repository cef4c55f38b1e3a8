// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The class of an IP header, that is TOS of IPv4 and traffic class of IPv6: DSCP (RFC 2474) in its
 * upper six bits, and in the other two congestion marks (ECN, RFC 3168). What becomes of both in
 * a tunnel: RFC 6040 for the marks. Pure; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/eth.h"

enum ecn { ECN_NOT_ECT = 0, ECN_ECT1 = 1, ECN_ECT0 = 2, ECN_CE = 3 };
#define ECN_MASK   3
#define DSCP_SHIFT 2
#define DSCP_MAX   63

/* Of a frame with IPv4 or IPv6. False where there is no whole IP header. */
bool ip_class(const uint8_t *frame, size_t len, const struct eth_view *v, uint8_t *class);

/* Does the sender understand marks? Also where it has one already. False where there is no whole
 * IPv4 or IPv6 header. */
bool ecn_takes_marks(const uint8_t *frame, size_t len, const struct eth_view *v);
/* Sets the mark, and mends the header checksum of IPv4. Only where ecn_takes_marks(). */
void ecn_mark(uint8_t *frame, const struct eth_view *v);

/* RFC 6040, section 4.2: what the inner header has once it has left a tunnel whose header had
 * `outer`; -1 where the packet is to be dropped: marked, and its sender would not see it. */
int ecn_leaves_tunnel(enum ecn inner, enum ecn outer);
/* What several datagrams that carry one frame had, two of them at a time: a mark stays. */
static inline enum ecn ecn_of_both(enum ecn a, enum ecn b)
{
	return a == ECN_CE || b == ECN_CE ? ECN_CE : a;
}
/* The same for a frame: its header becomes what the table says. False: drop it. Frames without an
 * IP header stay as they are. *marked: it has a mark now, and had none. */
bool ecn_decapsulate(uint8_t *frame, size_t len, const struct eth_view *v, enum ecn outer,
		     bool *marked);
