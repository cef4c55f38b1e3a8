// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A read-only view of a TCP segment in a frame, and segments that LEON derives from others: ACK,
 * RST, FIN. Pure; never reads beyond the given bytes. RFC 9293 and RFC 7323.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "wire/frame/eth.h"
#include "wire/frame/ip.h"

/* Longest headers: two VLAN tags, IPv6, TCP with all options. */
#define TCP_FRAME_MAX (ETH_HDR_LEN + 8 + V6_HDR_LEN + 60)
/* Largest window scale of RFC 7323. */
#define TCP_SCALE_MAX	  14
#define TCP_SCALE_UNKNOWN 0xff

struct tcp_view {
	struct ip_addr src, dst;
	uint16_t src_port, dst_port;
	uint32_t seq, ack;
	uint32_t end; /* sequence number behind payload, SYN and FIN */
	uint8_t flags;
	uint16_t window;  /* header value, not scaled */
	uint16_t hdr_len; /* length of the TCP header */
	/* by the IP length field, or by the frame length if that field is 0 */
	uint32_t payload_len;
	/* Options. */
	bool has_ts;
	uint32_t ts_val, ts_ecr;
	uint8_t ts_at; /* offset of TSval in the TCP header */
	uint8_t scale; /* TCP_SCALE_UNKNOWN: option absent */
	uint16_t mss;  /* 0: option absent */
	bool sack_permitted, sack_blocks;
	bool foreign; /* MPTCP, TCP-AO, MD5 or Fast Open, which a proxy cannot intercept */
};

/* Parses the segment of the frame of v. Returns 0, or -EBADMSG: truncated TCP header or
 * contradictory lengths. */
int tcp_parse(const void *frame, size_t len, const struct eth_view *v, struct tcp_view *t);

/*
 * Writes the segment with sequence number seq and the first `keep` bytes of its payload, without
 * FIN, PSH and URG. A held data segment is trimmed to its acknowledgement this way. Complete
 * checksums.
 * Returns the length; 0: no room, or payload too short.
 */
size_t tcp_cut(const void *frame, const struct eth_view *v, const struct tcp_view *t, uint32_t seq,
	       size_t keep, void *out, size_t out_len);

/*
 * Raises the TSval of a segment to ts_val in place. A segment without timestamps, or with a later
 * TSval, does not change. csum_partial: as for tcp_clamp_mss().
 */
void tcp_raise_ts(void *frame, const struct eth_view *v, const struct tcp_view *t, uint32_t ts_val,
		  bool csum_partial);

/* Parameters of a generated segment without payload. */
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
/* Writes the segment. Returns its length, at most TCP_FRAME_MAX. */
size_t tcp_make(const struct tcp_segment *s, uint8_t out[TCP_FRAME_MAX]);

/* Derives the answer of a host to a segment of an unknown connection (RFC 9293 section 3.10.7.1).
 * Returns false if it sends none. */
bool tcp_refusal(const struct eth_view *v, const struct tcp_view *t, struct tcp_segment *out);

/* Returns true if a precedes b in sequence-number arithmetic. */
static inline bool seq_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}
