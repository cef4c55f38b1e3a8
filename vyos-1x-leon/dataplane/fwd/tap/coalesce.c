// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Coalescing, see tap_frames.h. Workers. Linux GRO has the same rules, or less strict rules.
 *
 * - All headers are equal except for fields that the kernel changes in segmentation. These are IP
 *   length, IPv4 identification and header checksum, TCP sequence number and checksum, UDP length
 *   and checksum. A change of VLAN, TOS, ECN, TTL, flow label, DF, acknowledgement, window or
 *   options therefore starts a new unit. A congestion mark changes ECN.
 * - No IPv4 options, no IPv6 extension headers, no fragments, no padding behind the IP packet.
 * - IPv4 identifications are consecutive, or DF is set and identifications have no meaning (RFC
 *   6864).
 * - TCP: consecutive sequence numbers; flags are ACK and optionally PSH, which ends a super-frame.
 * - Every frame has the payload length of the first; a shorter frame ends the super-frame.
 * - The transport checksum is partial, and the rewritten sums (the transport checksum and the IPv4
 *   header checksum) were correct: a damaged frame is not repaired.
 */
#include "fwd/tap/tap_frames.h"

#include <linux/virtio_net.h>
#include <string.h>

#include "base/defs.h"
#include "io/tap.h"
#include "wire/bytes.h"
#include "wire/frame/csum.h"
#include "wire/frame/ip.h"

/* 2^64 over the golden ratio, as in Knuth 6.4. */
#define HASH_FACTOR 0x9e3779b97f4a7c15u
#define IP_LEN_MAX  65535 /* limit of the length field of both families, without jumbograms */

static bool equal(const uint8_t *a, const uint8_t *b, size_t from, size_t to)
{
	return memcmp(a + from, b + from, to - from) == 0;
}

/* Returns true if the frame has ports. A frame without ports may belong to any flow. */
static bool has_ports(const struct delivery *d, const struct eth_view *v)
{
	return (v->ip_proto == PROTO_TCP || v->ip_proto == PROTO_UDP) && v->l4_offset &&
	       !v->ip_fragment && v->l4_offset + (size_t)UDP_HDR_LEN <= d->len;
}

/* Frames of one flow share a bucket. A collision of flows only reduces coalescing. */
static unsigned bucket_of(const uint8_t *data, const struct eth_view *v)
{
	const uint8_t *ip = data + v->l3_offset;
	uint64_t x = get_u32(data + v->l4_offset) * HASH_FACTOR;

	if (v->ip_version == 4) {
		x ^= get_u64(ip + V4_SRC);
	} else {
		x ^= get_u64(ip + V6_SRC + 8);
		x = x * HASH_FACTOR ^ get_u64(ip + V6_SRC + 24);
	}
	return (unsigned)(x * HASH_FACTOR >> 32) % COALESCE_BUCKETS;
}

static bool ip_is_plain(const uint8_t *ip, const struct eth_view *v, size_t len)
{
	size_t hdr_len = (size_t)v->l4_offset - v->l3_offset;

	if (v->ip_version == 6)
		return hdr_len == V6_HDR_LEN && get_u16(ip + V6_LENGTH) + hdr_len == len;
	return hdr_len == V4_HDR_LEN && get_u16(ip + V4_LENGTH) == len &&
	       !(get_u16(ip + V4_FRAGMENT) & ~V4_DF) &&
	       csum_fold(csum_add(0, ip, V4_HDR_LEN)) == 0xffff;
}

/* Length of the transport header of a segment that may join a super-frame, else 0. */
static size_t tcp_hdr_len(const uint8_t *tcp, size_t len)
{
	size_t n;

	if (len <= TCP_HDR_MIN || (tcp[TCP_FLAGS] & ~TCP_PSH) != TCP_ACK || tcp[TCP_DOFF] & 0x0f)
		return 0;
	n = (tcp[TCP_DOFF] >> 4) * 4u;
	return n >= TCP_HDR_MIN && n < len ? n : 0;
}

static size_t udp_hdr_len(const uint8_t *udp, size_t len)
{
	return len > UDP_HDR_LEN && get_u16(udp + UDP_LENGTH) == len ? UDP_HDR_LEN : 0;
}

/* Initialises the unit of a single frame. Returns false if no frame can be appended to it. */
static bool describe(const struct coalesce *c, const struct delivery *d, const struct eth_view *v,
		     struct coalesce_unit *u)
{
	const uint8_t *ip = d->data + v->l3_offset, *l4 = d->data + v->l4_offset;
	size_t l4_len = d->len - v->l4_offset, hdr_len;
	bool tcp = v->ip_proto == PROTO_TCP;

	if (!(tcp ? c->tcp : c->udp) || !d->csum_start ||
	    !ip_is_plain(ip, v, d->len - v->l3_offset))
		return false;
	hdr_len = tcp ? tcp_hdr_len(l4, l4_len) : udp_hdr_len(l4, l4_len);
	if (!hdr_len || get_u16(l4 + (tcp ? TCP_CHECKSUM : UDP_CHECKSUM)) !=
				checksum_pseudo(ip, v->ip_version, v->ip_proto, l4_len))
		return false;
	u->l3 = v->l3_offset;
	u->l4 = v->l4_offset;
	u->hdr_len = (uint16_t)(v->l4_offset + hdr_len);
	u->ip_version = v->ip_version;
	u->ip_proto = v->ip_proto;
	u->size = (uint16_t)(l4_len - hdr_len);
	u->len = d->len;
	u->push = tcp && l4[TCP_FLAGS] & TCP_PSH;
	u->next_seq = tcp ? get_u32(l4 + TCP_SEQ) + u->size : 0;
	u->next_id = v->ip_version == 4 ? (uint16_t)(get_u16(ip + V4_ID) + 1) : 0;
	return true;
}

static bool same_ip(const uint8_t *a, const uint8_t *b, const struct coalesce_unit *u)
{
	if (u->ip_version == 6)
		return equal(a, b, 0, V6_LENGTH) && equal(a, b, V6_NEXT, V6_HDR_LEN);
	if (!equal(a, b, 0, V4_LENGTH) || !equal(a, b, V4_FRAGMENT, V4_CHECKSUM) ||
	    !equal(a, b, V4_SRC, V4_HDR_LEN))
		return false;
	return get_u16(a + V4_FRAGMENT) & V4_DF || get_u16(b + V4_ID) == u->next_id;
}

static bool same_tcp(const uint8_t *a, const uint8_t *b, const struct coalesce_unit *u)
{
	return get_u32(b + TCP_SEQ) == u->next_seq && equal(a, b, 0, TCP_SEQ) &&
	       equal(a, b, TCP_ACK_NO, TCP_FLAGS) && equal(a, b, TCP_WINDOW, TCP_CHECKSUM) &&
	       equal(a, b, TCP_URGENT, (size_t)u->hdr_len - u->l4);
}

/* Returns true if s directly follows the frames of u. */
static bool continues(const struct coalesce_unit *u, const struct coalesce_unit *s)
{
	const uint8_t *a = u->frame.data, *b = s->frame.data;

	if (s->l3 != u->l3 || s->l4 != u->l4 || s->hdr_len != u->hdr_len ||
	    s->ip_version != u->ip_version || s->ip_proto != u->ip_proto)
		return false;
	if (s->size > u->size || u->n == COALESCE_SEGMENTS || u->len - u->l3 + s->size > IP_LEN_MAX)
		return false;
	if (!equal(a, b, 0, u->l3) || !same_ip(a + u->l3, b + u->l3, u))
		return false;
	if (u->ip_proto == PROTO_TCP)
		return same_tcp(a + u->l4, b + u->l4, u);
	return equal(a + u->l4, b + u->l4, 0, UDP_LENGTH);
}

static void append(struct coalesce *c, struct coalesce_unit *u, const struct coalesce_unit *s)
{
	uint16_t at = (uint16_t)c->n_pieces++;

	c->piece[at] = (struct coalesce_piece){ s->frame.data + s->hdr_len, s->size, 0 };
	if (u->n == 1)
		u->first = at;
	else
		c->piece[u->last].next = at;
	u->last = at;
	u->n++;
	u->len += s->size;
	u->push = s->push;
	u->next_seq = s->next_seq;
	u->next_id++;
}

bool coalesce_add(struct coalesce *c, const struct delivery *d, const struct eth_view *v)
{
	struct coalesce_unit *s = &c->unit[c->n_units], *u;
	uint8_t *open;

	if (unlikely(c->n_units == COALESCE_UNITS || c->n_pieces == COALESCE_PIECES))
		return false;
	s->frame = *d;
	s->n = 1;
	if (!has_ports(d, v)) {
		/* A fragment may belong to any flow, and the rest of its flow must not overtake
		 * it. */
		memset(c->open, 0, sizeof(c->open));
		c->n_units++;
		return true;
	}
	open = &c->open[bucket_of(d->data, v)];
	if (!describe(c, d, v, s)) {
		*open = 0;
		c->n_units++;
		return true;
	}
	u = *open ? &c->unit[*open - 1] : NULL;
	if (u && continues(u, s)) {
		append(c, u, s);
		if (s->push || s->size < u->size)
			*open = 0;
		return true;
	}
	c->n_units++;
	*open = s->push ? 0 : (uint8_t)c->n_units;
	return true;
}

/* Converts the headers of the first frame to those of the super-frame. */
static void finish_headers(const struct coalesce_unit *u)
{
	uint8_t *ip = u->frame.data + u->l3, *l4 = u->frame.data + u->l4;
	size_t l4_len = u->len - u->l4;
	uint16_t pseudo = checksum_pseudo(ip, u->ip_version, u->ip_proto, l4_len);

	if (u->ip_version == 4) {
		put_u16(ip + V4_LENGTH, (uint16_t)(u->len - u->l3));
		checksum_v4_header(ip);
	} else {
		put_u16(ip + V6_LENGTH, (uint16_t)l4_len);
	}
	if (u->ip_proto == PROTO_TCP) {
		/* After segmentation the last segment has it. */
		if (u->push)
			l4[TCP_FLAGS] |= TCP_PSH;
		put_u16(l4 + TCP_CHECKSUM, pseudo);
	} else {
		put_u16(l4 + UDP_LENGTH, (uint16_t)l4_len);
		put_u16(l4 + UDP_CHECKSUM, pseudo);
	}
}

static uint8_t gso_type(const struct coalesce_unit *u)
{
	if (u->ip_proto == PROTO_UDP)
		return TAP_GSO_UDP_L4;
	return u->ip_version == 4 ? VIRTIO_NET_HDR_GSO_TCPV4 : VIRTIO_NET_HDR_GSO_TCPV6;
}

unsigned coalesce_gather(struct coalesce *c, unsigned i, struct virtio_net_hdr *h,
			 struct iovec *iov)
{
	const struct coalesce_unit *u = &c->unit[i];
	const struct delivery *d = &u->frame;
	uint16_t at = u->first;

	*h = (struct virtio_net_hdr){ .flags = d->csum_start ? VIRTIO_NET_HDR_F_NEEDS_CSUM : 0,
				      .csum_start = d->csum_start,
				      .csum_offset = d->csum_offset };
	iov[0] = (struct iovec){ d->data, d->len };
	if (u->n == 1)
		return 1;
	h->gso_type = gso_type(u);
	h->gso_size = u->size;
	h->hdr_len = u->hdr_len;
	finish_headers(u);
	for (unsigned k = 1; k < u->n; k++) {
		const struct coalesce_piece *p = &c->piece[at];

		/* writev() does not write to iov_base; its type is not const because readv() shares
		 * the structure. */
		iov[k] = (struct iovec){ (void *)(uintptr_t)p->data, p->len };
		at = p->next;
	}
	return u->n;
}

void coalesce_reset(struct coalesce *c)
{
	c->n_units = c->n_pieces = 0;
	memset(c->open, 0, sizeof(c->open));
}
