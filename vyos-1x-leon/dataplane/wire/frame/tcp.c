// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP segments, see tcp.h. Called for each frame of a tracked connection. Pure.
 */
#include "wire/frame/tcp.h"

#include <errno.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/frame/csum.h"
#include "wire/frame/ip.h"

#define OPT_MSS_LEN 4

enum {
	OPT_END = 0,
	OPT_NOP = 1,
	OPT_MSS = 2,
	OPT_SCALE = 3,
	OPT_SACK_PERMITTED = 4,
	OPT_SACK = 5,
	OPT_TIMESTAMP = 8,
	OPT_MD5 = 19,
	OPT_AO = 29,
	OPT_MPTCP = 30,
	OPT_FAST_OPEN = 34,
	OPT_EXPERIMENT = 254, /* Fast Open before its assignment by IANA */
};

/* Length of the option at this offset; 0: no complete option. */
static uint8_t option_len(const uint8_t *tcp, size_t at, size_t hdr_len)
{
	if (at >= hdr_len || tcp[at] == OPT_END)
		return 0;
	if (tcp[at] == OPT_NOP)
		return 1;
	return at + 2 <= hdr_len && tcp[at + 1] >= 2 && at + tcp[at + 1] <= hdr_len ? tcp[at + 1]
										    : 0;
}

/* Reads one option with its full length. An option of unexpected length is ignored. */
static void take_option(struct tcp_view *t, const uint8_t *tcp, size_t at, uint8_t len)
{
	const uint8_t *p = tcp + at;

	switch (p[0]) {
	case OPT_MSS:
		if (len == OPT_MSS_LEN && t->flags & TCP_SYN)
			t->mss = get_u16(p + 2);
		break;
	case OPT_SCALE:
		if (len == 3 && t->flags & TCP_SYN)
			t->scale = p[2] < TCP_SCALE_MAX ? p[2] : TCP_SCALE_MAX;
		break;
	case OPT_SACK_PERMITTED:
		t->sack_permitted |= t->flags & TCP_SYN;
		break;
	case OPT_SACK:
		t->sack_blocks = true;
		break;
	case OPT_TIMESTAMP:
		if (len != 10)
			break;
		t->has_ts = true;
		t->ts_at = (uint8_t)(at + 2);
		t->ts_val = get_u32(p + 2);
		t->ts_ecr = get_u32(p + 6);
		break;
	case OPT_MD5:
	case OPT_AO:
	case OPT_MPTCP:
	case OPT_FAST_OPEN:
	case OPT_EXPERIMENT:
		t->foreign = true;
		break;
	default:
		break;
	}
}

static void take_options(struct tcp_view *t, const uint8_t *tcp)
{
	uint8_t len;

	for (size_t at = TCP_HDR_MIN; (len = option_len(tcp, at, t->hdr_len)); at += len)
		take_option(t, tcp, at, len);
}

static void take_addresses(struct tcp_view *t, const uint8_t *ip, uint8_t version)
{
	size_t n = version == 4 ? V4_LEN : V6_LEN, at = version == 4 ? V4_SRC : V6_SRC;

	t->src.family = t->dst.family = version;
	memcpy(t->src.b, ip + at, n);
	memcpy(t->dst.b, ip + at + n, n);
}

/* Length from the TCP header to the end of the packet; 0 if the frame is truncated. */
static size_t transport_len(const uint8_t *frame, size_t len, const struct eth_view *v)
{
	const uint8_t *ip = frame + v->l3_offset;
	size_t in_front = (size_t)(v->l4_offset - v->l3_offset), total;

	total = v->ip_version == 4 ? get_u16(ip + V4_LENGTH) : get_u16(ip + V6_LENGTH);
	/* A super-frame too long for the IP length field. */
	if (!total)
		return len - v->l4_offset;
	if (v->ip_version == 6)
		total += V6_HDR_LEN;
	if (total < in_front || total > len - v->l3_offset)
		return 0;
	return total - in_front;
}

int tcp_parse(const void *frame, size_t len, const struct eth_view *v, struct tcp_view *t)
{
	const uint8_t *tcp = (const uint8_t *)frame + v->l4_offset;
	size_t left;

	if (v->ip_proto != PROTO_TCP || v->ip_fragment || !v->l4_offset ||
	    len < v->l4_offset + (size_t)TCP_HDR_MIN)
		return -EBADMSG;
	left = transport_len(frame, len, v);
	*t = (struct tcp_view){ .hdr_len = (uint16_t)((tcp[12] >> 4) * 4),
				.scale = TCP_SCALE_UNKNOWN };
	if (t->hdr_len < TCP_HDR_MIN || t->hdr_len > left)
		return -EBADMSG;
	take_addresses(t, (const uint8_t *)frame + v->l3_offset, v->ip_version);
	t->src_port = get_u16(tcp);
	t->dst_port = get_u16(tcp + 2);
	t->seq = get_u32(tcp + 4);
	t->ack = get_u32(tcp + 8);
	t->flags = tcp[13];
	t->window = get_u16(tcp + 14);
	t->payload_len = (uint32_t)(left - t->hdr_len);
	t->end = t->seq + t->payload_len;
	t->end += (t->flags & TCP_SYN) != 0;
	t->end += (t->flags & TCP_FIN) != 0;
	take_options(t, tcp);
	return 0;
}

/* --- the maximum segment size --- */

/* Returns the offset of the MSS value in the TCP header; 0 if none precedes the first malformed
 * option. */
static size_t find_mss(const uint8_t *tcp, size_t hdr_len)
{
	uint8_t len;

	for (size_t at = TCP_HDR_MIN; (len = option_len(tcp, at, hdr_len)); at += len)
		if (tcp[at] == OPT_MSS)
			return len == OPT_MSS_LEN ? at + 2 : 0;
	return 0;
}

/* Hosts behind a bridge with an MTU of 1500 then send segments that fit the overlay (RFC 9293
 * section 3.7.1). The workers call it for frames in both directions. Changes only SYN and
 * SYN-ACK. */
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

/* --- generated segments --- */

/* Sets lengths and checksums of a packet that ends with tcp_len bytes of TCP. */
static void complete(uint8_t *ip, uint8_t version, size_t ip_len, size_t tcp_len)
{
	uint8_t *tcp = ip + ip_len;

	if (version == 4) {
		put_u16(ip + V4_LENGTH, (uint16_t)(ip_len + tcp_len));
		checksum_v4_header(ip);
	} else {
		put_u16(ip + V6_LENGTH, (uint16_t)(ip_len - V6_HDR_LEN + tcp_len));
	}
	put_u16(tcp + TCP_CHECKSUM, 0);
	put_u16(tcp + TCP_CHECKSUM, (uint16_t)~checksum_l4(ip, PROTO_TCP, tcp, tcp_len));
}

size_t tcp_cut(const void *frame, const struct eth_view *v, const struct tcp_view *t, uint32_t seq,
	       size_t keep, void *out, size_t out_len)
{
	size_t hdr_len = v->l4_offset + (size_t)t->hdr_len;
	uint8_t *tcp = (uint8_t *)out + v->l4_offset;

	if (keep > t->payload_len || hdr_len + keep > out_len)
		return 0;
	memcpy(out, frame, hdr_len + keep);
	put_u32(tcp + 4, seq);
	tcp[13] &= (uint8_t) ~(TCP_FIN | TCP_PSH | TCP_URG);
	put_u16(tcp + TCP_URGENT, 0);
	complete((uint8_t *)out + v->l3_offset, v->ip_version,
		 (size_t)(v->l4_offset - v->l3_offset), t->hdr_len + keep);
	return hdr_len + keep;
}

void tcp_raise_ts(void *frame, const struct eth_view *v, const struct tcp_view *t, uint32_t ts_val,
		  bool csum_partial)
{
	uint8_t *tcp = (uint8_t *)frame + v->l4_offset, *ts = tcp + t->ts_at;
	uint16_t before;

	if (!t->has_ts || !seq_before(t->ts_val, ts_val))
		return;
	before = csum_fold(csum_add(0, ts, 4));
	put_u32(ts, ts_val);
	if (!csum_partial)
		csum_update(tcp + TCP_CHECKSUM, before, csum_fold(csum_add(0, ts, 4)),
			    t->ts_at & 1);
}

static void put_v4(uint8_t *ip, const struct tcp_segment *s)
{
	memset(ip, 0, V4_HDR_LEN);
	ip[0] = 0x45;
	put_u16(ip + 6, 0x4000); /* DF, which permits an identification of 0 */
	ip[V4_TTL] = 64;
	ip[9] = PROTO_TCP;
	memcpy(ip + 12, s->src.b, 4);
	memcpy(ip + 16, s->dst.b, 4);
}

static void put_v6(uint8_t *ip, const struct tcp_segment *s)
{
	memset(ip, 0, V6_HDR_LEN);
	ip[0] = 0x60;
	ip[6] = PROTO_TCP;
	ip[7] = 64;
	memcpy(ip + 8, s->src.b, 16);
	memcpy(ip + 24, s->dst.b, 16);
}

static void put_tcp(uint8_t *tcp, const struct tcp_segment *s, size_t hdr_len)
{
	put_u16(tcp, s->src_port);
	put_u16(tcp + 2, s->dst_port);
	put_u32(tcp + 4, s->seq);
	put_u32(tcp + 8, s->ack);
	tcp[12] = (uint8_t)(hdr_len / 4 << 4);
	tcp[13] = s->flags;
	put_u16(tcp + 14, s->window);
	put_u32(tcp + 16, 0); /* checksum, urgent pointer */
	if (!s->has_ts)
		return;
	tcp[20] = tcp[21] = OPT_NOP;
	tcp[22] = OPT_TIMESTAMP;
	tcp[23] = 10;
	put_u32(tcp + 24, s->ts_val);
	put_u32(tcp + 28, s->ts_ecr);
}

size_t tcp_make(const struct tcp_segment *s, uint8_t out[TCP_FRAME_MAX])
{
	bool v4 = s->src.family == 4;
	size_t ip_len = v4 ? V4_HDR_LEN : V6_HDR_LEN;
	size_t tcp_len = TCP_HDR_MIN + (s->has_ts ? 12 : 0);
	struct wbuf b = wbuf_of(out, TCP_FRAME_MAX);
	uint8_t *p;

	eth_put_header(&b, s->dst_mac, s->src_mac, s->vlan, v4 ? ETHERTYPE_V4 : ETHERTYPE_V6);
	p = b.p;
	if (v4)
		put_v4(p, s);
	else
		put_v6(p, s);
	put_tcp(p + ip_len, s, tcp_len);
	complete(p, v4 ? 4 : 6, ip_len, tcp_len);
	return (size_t)(p - out) + ip_len + tcp_len;
}

bool tcp_refusal(const struct eth_view *v, const struct tcp_view *t, struct tcp_segment *out)
{
	bool acks = t->flags & TCP_ACK;

	if (t->flags & TCP_RST)
		return false;
	*out = (struct tcp_segment){ .dst_mac = v->src,
				     .src_mac = v->dst,
				     .vlan = v->vlan,
				     .src = t->dst,
				     .dst = t->src,
				     .src_port = t->dst_port,
				     .dst_port = t->src_port,
				     .seq = acks ? t->ack : 0,
				     .ack = acks ? 0 : t->end,
				     .flags = acks ? TCP_RST : TCP_RST | TCP_ACK };
	return true;
}
