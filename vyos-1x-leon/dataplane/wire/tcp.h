// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A read-only view of a TCP segment in a frame, and the few segments that LEON makes out of others:
 * a pure ACK, a RST, a FIN. Pure; never reads past the bytes given. RFC 9293 and 7323.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "wire/eth.h"

#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04
#define TCP_PSH 0x08
#define TCP_ACK 0x10

#define TCP_HDR_MIN 20
/* Two VLAN tags, IPv6, TCP with all options. */
#define TCP_FRAME_MAX (ETH_HDR_LEN + 8 + 40 + 60)
/* Largest shift of RFC 7323. */
#define TCP_SCALE_MAX	  14
#define TCP_SCALE_UNKNOWN 0xff

struct tcp_view {
	struct ip_addr src, dst;
	uint16_t src_port, dst_port;
	uint32_t seq, ack;
	uint32_t end; /* sequence number behind it: with its payload, SYN and FIN */
	uint8_t flags;
	uint16_t window;      /* as it is in the header */
	uint16_t hdr_len;     /* of TCP */
	uint32_t payload_len; /* by the length of the IP packet, or of the frame where that is 0 */
	/* Options. */
	bool has_ts;
	uint32_t ts_val, ts_ecr;
	uint8_t scale; /* TCP_SCALE_UNKNOWN: no such option */
	uint16_t mss;  /* 0: no such option */
	bool sack_permitted, sack_blocks;
	bool foreign; /* MPTCP, TCP-AO, MD5 or Fast Open: not for one in the middle to stand in */
};

/* v is of the same frame. 0, or -EBADMSG: no whole TCP header, or lengths that contradict each
 * other. */
int tcp_parse(const void *frame, size_t len, const struct eth_view *v, struct tcp_view *t);

/*
 * The segment with the first `keep` bytes of its payload, without FIN and PSH, as if sent at
 * sequence number seq. Nothing is kept of data that is held: what remains is what it acknowledges.
 * Whole checksums. Returns its length, 0 where it does not fit or has no so many bytes.
 */
size_t tcp_cut(const void *frame, const struct eth_view *v, const struct tcp_view *t, uint32_t seq,
	       size_t keep, void *out, size_t out_len);

/* A segment without payload from nothing. */
struct tcp_segment {
	struct mac dst_mac, src_mac;
	uint16_t vlan; /* 0: untagged */
	struct ip_addr src, dst;
	uint16_t src_port, dst_port;
	uint32_t seq, ack;
	uint16_t window;
	uint8_t flags;
	bool has_ts;
	uint32_t ts_val, ts_ecr;
};
/* Returns its length, at most TCP_FRAME_MAX bytes are written. */
size_t tcp_make(const struct tcp_segment *s, uint8_t out[TCP_FRAME_MAX]);

/* What a host answers a segment (of a frame with v) of a connection that it does not know: RFC 9293
 * section 3.10.7.1. False where it answers nothing. */
bool tcp_refusal(const struct eth_view *v, const struct tcp_view *t, struct tcp_segment *out);

/* a is before b, around the end of the numbers. */
static inline bool seq_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}
