// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Clamps the TCP maximum segment size (RFC 9293 section 3.7.1), so that hosts behind a bridge with
 * an MTU of 1500 send segments that fit the overlay. The workers call it for frames in both
 * directions. Changes only SYN and SYN-ACK. Pure.
 */
#include "wire/bytes.h"
#include "wire/frame/csum.h"
#include "wire/frame/eth.h"
#include "wire/frame/ip.h"

#define OPT_END	    0
#define OPT_NOP	    1
#define OPT_MSS	    2
#define OPT_MSS_LEN 4

/* Returns the offset of the MSS value in the TCP header; 0 if none precedes the first malformed
 * option. */
static size_t find_mss(const uint8_t *tcp, size_t hdr_len)
{
	size_t at = TCP_HDR_MIN;

	while (at + OPT_MSS_LEN <= hdr_len && tcp[at] != OPT_END) {
		if (tcp[at] == OPT_NOP) {
			at++;
			continue;
		}
		if (tcp[at] == OPT_MSS)
			return tcp[at + 1] == OPT_MSS_LEN ? at + 2 : 0;
		if (tcp[at + 1] < 2)
			return 0;
		at += tcp[at + 1];
	}
	return 0;
}

bool tcp_clamp_mss(void *frame, size_t len, const struct eth_view *v, uint16_t mss,
		   bool csum_partial)
{
	uint8_t *tcp = (uint8_t *)frame + v->l4_offset;
	size_t hdr_len, at;
	uint16_t before;

	if (v->ip_proto != PROTO_TCP || v->ip_fragment || !v->l4_offset ||
	    len - v->l4_offset < TCP_HDR_MIN)
		return false;
	hdr_len = (tcp[TCP_DOFF] >> 4) * 4u;
	if (!(tcp[TCP_FLAGS] & TCP_SYN) || hdr_len < TCP_HDR_MIN || hdr_len > len - v->l4_offset)
		return false;
	at = find_mss(tcp, hdr_len);
	if (!at)
		return false;
	before = get_u16(tcp + at);
	if (before <= mss)
		return false;
	put_u16(tcp + at, mss);
	if (!csum_partial)
		csum_update(tcp + TCP_CHECKSUM, before, mss, at & 1);
	return true;
}
