// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A raw socket of IP protocol 234 to one peer, IPv4 or IPv6. Segments go out with the DF bit and
 * are never fragmented by IP. leon-sclp only; one thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "format/sclp.h"

#define RAW_BATCH      64
#define RAW_PACKET_MAX 9216 /* a jumbo frame */

struct raw;
/* Opens the socket. Returns 0 or -errno. With mtu 0 the path MTU of the kernel applies. */
int raw_open(struct raw **out, const struct ip_addr *local, const struct ip_addr *peer,
	     uint32_t mtu);
void raw_close(struct raw *r); /* NULL ok */
int raw_fd(const struct raw *r);
/* Reads the path MTU of the kernel again, which may have increased. */
void raw_ask_mtu(struct raw *r);
/* Returns the largest payload of a segment that fits into the path MTU. */
size_t raw_mss(struct raw *r);

/* Sends at most RAW_BATCH segments, each a header and a part of a payload. Returns the number that
 * the kernel accepted. */
struct raw_out {
	uint8_t hdr[SCLP_HDR_LEN];
	const uint8_t *data;
	size_t len;
};
unsigned raw_send(struct raw *r, const struct raw_out *seg, unsigned n);

/* Receives up to RAW_BATCH segments without IP header and padding. Returns their number, and in
 * *n_bad the number of packets without a segment. The segments are valid until the next call. */
struct raw_in {
	const uint8_t *data;
	size_t len;
};
unsigned raw_receive(struct raw *r, struct raw_in *seg, unsigned *n_bad);
