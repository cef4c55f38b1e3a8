// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: segmentation of super-frames. Workers. The rules are those of Linux software GSO. The IPv4
 * identification increments per segment, PSH and FIN stay on the last segment, CWR (RFC 3168) on
 * the first.
 */
#include "fwd/tap/tap_frames.h"

#include <errno.h>
#include <string.h>

#include "base/defs.h"
#include "wire/bytes.h"
#include "wire/frame/csum.h"
#include "wire/frame/ip.h"

/* Length of the transport header; 0 if it is malformed. */
static size_t l4_hdr_len(const struct frame *f)
{
	const uint8_t *l4 = f->data + f->v.l4_offset;
	size_t room = f->len - f->v.l4_offset;
	size_t n;

	if (f->gso == FRAME_UDP)
		return room >= UDP_HDR_LEN ? UDP_HDR_LEN : 0;
	if (room < TCP_HDR_MIN)
		return 0;
	n = (l4[TCP_DOFF] >> 4) * 4u;
	return n >= TCP_HDR_MIN && n <= room ? n : 0;
}

int tso_open(struct tso *t, const struct frame *f, size_t max_frame)
{
	size_t l4_len = f->v.l4_offset ? l4_hdr_len(f) : 0;

	if (!l4_len || !f->gso_size)
		return -EBADMSG;
	*t = (struct tso){ .frame = f->data,
			   .hdr_len = f->v.l4_offset + l4_len,
			   .size = f->gso_size,
			   .l3 = f->v.l3_offset,
			   .l4 = f->v.l4_offset,
			   .ip_version = f->v.ip_version,
			   .ip_proto = f->v.ip_proto };
	if (t->hdr_len > TSO_HDR_MAX || t->hdr_len >= f->len)
		return -EBADMSG;
	t->payload_len = f->len - t->hdr_len;
	if (f->gso == FRAME_TCP) {
		if (max_frame <= t->hdr_len)
			return -EMSGSIZE;
		t->size = min_of(t->size, max_frame - t->hdr_len);
		t->seq = get_u32(f->data + t->l4 + TCP_SEQ);
	}
	if (t->ip_version == 4)
		t->ip_id = get_u16(f->data + t->l3 + V4_ID);
	t->n = (unsigned)((t->payload_len + t->size - 1) / t->size);
	return 0;
}

unsigned tso_frames(const struct frame *f)
{
	struct tso t;

	if (f->gso != FRAME_TCP && f->gso != FRAME_UDP)
		return 1;
	return tso_open(&t, f, SIZE_MAX) < 0 ? 1 : t.n;
}

static void write_ip(const struct tso *t, unsigned i, uint8_t *ip, size_t l4_len)
{
	size_t ip_hdr_len = (size_t)t->l4 - t->l3;

	if (t->ip_version == 6) {
		put_u16(ip + V6_LENGTH, (uint16_t)(ip_hdr_len - V6_HDR_LEN + l4_len));
		return;
	}
	put_u16(ip + V4_LENGTH, (uint16_t)(ip_hdr_len + l4_len));
	put_u16(ip + V4_ID, (uint16_t)(t->ip_id + i));
	checksum_v4_header(ip);
}

static void write_tcp(const struct tso *t, unsigned i, uint8_t *tcp, uint16_t pseudo)
{
	put_u32(tcp + TCP_SEQ, t->seq + (uint32_t)(i * t->size));
	if (i > 0)
		tcp[TCP_FLAGS] &= (uint8_t)~TCP_CWR;
	if (i + 1 < t->n)
		tcp[TCP_FLAGS] &= (uint8_t) ~(TCP_PSH | TCP_FIN);
	put_u16(tcp + TCP_CHECKSUM, pseudo);
}

/* Behind extension headers, the checksum may have other addresses than the IP header: the final
 * destination (RFC 8200 8.1) or the home address. The partial checksum of the super-frame has these
 * addresses, and only the length changes. */
static uint16_t pseudo_of(const struct tso *t, size_t l4_len)
{
	const uint8_t *l4 = t->frame + t->l4;
	size_t whole = t->hdr_len - t->l4 + t->payload_len;
	uint16_t sum = get_u16(l4 + (t->ip_proto == PROTO_TCP ? TCP_CHECKSUM : UDP_CHECKSUM));

	if (likely(t->ip_version == 4 || t->l4 - t->l3 == V6_HDR_LEN))
		return checksum_pseudo(t->frame + t->l3, t->ip_version, t->ip_proto, l4_len);
	return csum_fold(sum + (uint32_t)(uint16_t)~whole + (uint32_t)l4_len);
}

struct pieces tso_segment(const struct tso *t, unsigned i, uint8_t *out)
{
	size_t offset = i * t->size;
	size_t payload = min_of(t->size, t->payload_len - offset);
	size_t l4_len = t->hdr_len - t->l4 + payload;
	uint16_t pseudo;

	memcpy(out, t->frame, t->hdr_len);
	write_ip(t, i, out + t->l3, l4_len);
	pseudo = pseudo_of(t, l4_len);
	if (t->ip_proto == PROTO_TCP) {
		write_tcp(t, i, out + t->l4, pseudo);
	} else {
		put_u16(out + t->l4 + UDP_LENGTH, (uint16_t)l4_len);
		put_u16(out + t->l4 + UDP_CHECKSUM, pseudo);
	}
	return (struct pieces){ out, t->hdr_len, t->frame + t->hdr_len + offset, payload };
}
