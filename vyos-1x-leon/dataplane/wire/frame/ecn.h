// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The traffic class of an IP header (TOS of IPv4): DSCP (RFC 2474) in its upper six bits, ECN (RFC
 * 3168) in the other two. RFC 6040 defines the ECN field in a tunnel. Pure; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/frame/eth.h"

enum ecn { ECN_NOT_ECT = 0, ECN_ECT1 = 1, ECN_ECT0 = 2, ECN_CE = 3 };
#define ECN_MASK   3
#define DSCP_SHIFT 2
#define DSCP_MAX   63

/* Reads the class of an IPv4 or IPv6 frame. Returns false without a complete IP header. */
bool ip_class(const uint8_t *frame, size_t len, const struct eth_view *v, uint8_t *class);

/* Returns true if the sender is ECN-capable (ECT or CE). Returns false without a complete IPv4 or
 * IPv6 header. */
bool ecn_takes_marks(const uint8_t *frame, size_t len, const struct eth_view *v);
/* Sets CE and updates the header checksum of IPv4. Only if ecn_takes_marks(). */
void ecn_mark(uint8_t *frame, const struct eth_view *v);

/* Returns the inner ECN field after decapsulation from a tunnel header with ECN field `outer` (RFC
 * 6040 section 4.2). Returns -1 if the packet must be dropped: CE on a packet of a sender that is
 * not ECN-capable. */
int ecn_leaves_tunnel(enum ecn inner, enum ecn outer);
/* Combines the ECN fields of two datagrams that carry one frame; CE is kept. */
static inline enum ecn ecn_of_both(enum ecn a, enum ecn b)
{
	return a == ECN_CE || b == ECN_CE ? ECN_CE : a;
}
/* Applies RFC 6040 to a frame. Returns false if the frame must be dropped. Frames without an IP
 * header do not change. *marked: the frame has CE now and had none before. */
bool ecn_decapsulate(uint8_t *frame, size_t len, const struct eth_view *v, enum ecn outer,
		     bool *marked);
