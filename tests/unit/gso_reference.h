// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An independent model of super-frames for the test and the fuzz target of fwd/tap/coalesce. The
 * model builds frames field by field, segments super-frames as the kernel does, and checks that
 * hosts receive the original frames. The model shares only struct delivery and eth_parse() with the
 * product.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <linux/virtio_net.h>

#include "fwd/tap/tap_frames.h"

#include "ones_sum.h"

#define GR_FRAMES 2048
#define GR_ARENA  (4u << 20)

/* The description of a frame. 0 is valid for all fields except version. */
struct gr_spec {
	unsigned n_tags;
	uint16_t tag; /* 0: 0x8100, or 0x88a8 for the first of two */
	int version;  /* 4 or 6 */
	bool udp;
	unsigned tcp_options; /* bytes, a multiple of 4 */
	uint8_t flow;	      /* selects addresses and ports */
	uint8_t tos, flags;   /* flags: of TCP, 0 for ACK */
	bool no_df, whole;    /* whole: the transport checksum is complete */
	uint16_t id;
	uint32_t seq;
	size_t payload;
	uint8_t fill;
	const uint8_t *v6_src, *v6_dst; /* 16 bytes; NULL: derived from flow */
	uint16_t src_port;		/* 0: 5000 */
};
struct gr_frame {
	uint8_t *data; /* passed to the product, which may write to it */
	uint8_t *kept; /* the original bytes */
	size_t len;
	uint16_t csum_start, csum_offset;
	bool used;
};
struct gr {
	unsigned n_in;
	struct gr_frame in[GR_FRAMES];
	size_t arena_used;
	uint8_t arena[2 * GR_ARENA];
	/* Output of the product. */
	unsigned n_out, n_super, n_writes;
	const char *wrong; /* the first error, or NULL */
};

static inline void gr_put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}
static inline unsigned gr_get16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}
static inline uint32_t gr_get32(const uint8_t *p)
{
	return (uint32_t)gr_get16(p) << 16 | gr_get16(p + 2);
}
static inline void gr_put32(uint8_t *p, uint32_t v)
{
	gr_put16(p, v >> 16);
	gr_put16(p + 2, v & 0xffff);
}

static inline void gr_ip_sum(uint8_t *ip)
{
	gr_put16(ip + 10, 0);
	gr_put16(ip + 10, ~ones_sum(0, ip, 20) & 0xffff);
}
static inline unsigned gr_pseudo(const uint8_t *ip, unsigned proto, size_t l4_len)
{
	uint8_t tail[4] = { 0, (uint8_t)proto, (uint8_t)(l4_len >> 8), (uint8_t)l4_len };
	unsigned sum = ones_sum(0, tail, sizeof(tail));

	return ip[0] >> 4 == 4 ? ones_sum(sum, ip + 12, 8) : ones_sum(sum, ip + 8, 32);
}

/* Writes an IPv4 or IPv6 header and returns its length. */
static inline size_t gr_build_ip(uint8_t *ip, const struct gr_spec *s, size_t l4_len)
{
	if (s->version == 6) {
		memset(ip, 0, 40);
		gr_put32(ip, 6u << 28 | (uint32_t)s->tos << 20 | 0x1234);
		gr_put16(ip + 4, (unsigned)l4_len);
		ip[6] = s->udp ? 17 : 6;
		ip[7] = 64;
		ip[8] = ip[24] = 0xfd;
		ip[23] = s->flow;
		ip[39] = 1;
		if (s->v6_src)
			memcpy(ip + 8, s->v6_src, 16);
		if (s->v6_dst)
			memcpy(ip + 24, s->v6_dst, 16);
		return 40;
	}
	memset(ip, 0, 20);
	ip[0] = 0x45;
	ip[1] = s->tos;
	gr_put16(ip + 2, (unsigned)(20 + l4_len));
	gr_put16(ip + 4, s->id);
	gr_put16(ip + 6, s->no_df ? 0 : 0x4000);
	ip[8] = 64;
	ip[9] = s->udp ? 17 : 6;
	gr_put32(ip + 12, 0x0a000001);
	gr_put32(ip + 16, 0x0a000100u + s->flow);
	gr_ip_sum(ip);
	return 20;
}

static inline void gr_build_l4(uint8_t *l4, const struct gr_spec *s, size_t l4_len)
{
	gr_put16(l4, s->src_port ? s->src_port : 5000);
	gr_put16(l4 + 2, 80u + s->flow);
	if (s->udp) {
		gr_put16(l4 + 4, (unsigned)l4_len);
		gr_put16(l4 + 6, 0);
		return;
	}
	gr_put32(l4 + 4, s->seq);
	gr_put32(l4 + 8, 0x11223344);
	l4[12] = (uint8_t)((5 + s->tcp_options / 4) << 4);
	l4[13] = s->flags ? s->flags : 0x10;
	gr_put16(l4 + 14, 512);
	gr_put32(l4 + 16, 0);
	memset(l4 + 20, 1, s->tcp_options);
}

/* Builds the frame into out and returns its length. *l4 is the offset of the transport header. */
static inline size_t gr_build(uint8_t *out, const struct gr_spec *s, size_t *l4)
{
	size_t n = 12, hdr_len = s->udp ? 8 : 20 + s->tcp_options, l4_len = hdr_len + s->payload;
	size_t at = s->udp ? 6 : 16, l3;
	unsigned sum;

	memcpy(out, "\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01", 12);
	for (unsigned i = 0; i < s->n_tags; i++, n += 4) {
		if (s->tag)
			gr_put16(out + n, s->tag);
		else
			gr_put16(out + n, i == 0 && s->n_tags == 2 ? 0x88a8 : 0x8100);
		gr_put16(out + n + 2, 100 + i);
	}
	gr_put16(out + n, s->version == 4 ? 0x0800 : 0x86dd);
	l3 = n + 2;
	*l4 = l3 + gr_build_ip(out + l3, s, l4_len);
	gr_build_l4(out + *l4, s, l4_len);
	for (size_t i = 0; i < s->payload; i++)
		out[*l4 + hdr_len + i] = (uint8_t)(s->fill + i * 31 + (i >> 8));
	sum = gr_pseudo(out + l3, s->udp ? 17 : 6, l4_len);
	if (s->whole)
		sum = ~ones_sum(sum, out + *l4, l4_len) & 0xffff;
	gr_put16(out + *l4 + at, sum);
	return *l4 + l4_len;
}

/* Adds a copy of these bytes as the next frame that arrives. */
static inline struct gr_frame *gr_arrives(struct gr *g, const uint8_t *bytes, size_t len,
					  uint16_t csum_start, uint16_t csum_offset)
{
	struct gr_frame *f = &g->in[g->n_in++];

	*f = (struct gr_frame){ .data = g->arena + g->arena_used,
				.kept = g->arena + GR_ARENA + g->arena_used,
				.len = len,
				.csum_start = csum_start,
				.csum_offset = csum_offset };
	g->arena_used += len;
	memcpy(f->data, bytes, len);
	memcpy(f->kept, bytes, len);
	return f;
}

static inline struct gr_frame *gr_add(struct gr *g, const struct gr_spec *s)
{
	uint8_t buf[2048];
	size_t l4, len = gr_build(buf, s, &l4);

	return gr_arrives(g, buf, len, s->whole ? 0 : (uint16_t)l4,
			  s->whole ? 0 : (uint16_t)(s->udp ? 6 : 16));
}

/* --- checks --- */

static inline void gr_fail(struct gr *g, const char *what)
{
	if (!g->wrong)
		g->wrong = what;
}

static inline size_t gr_l3(const uint8_t *frame)
{
	size_t l3 = 14;

	while (l3 < 22 &&
	       (gr_get16(frame + l3 - 2) == 0x8100 || gr_get16(frame + l3 - 2) == 0x88a8))
		l3 += 4;
	return l3;
}

/* With DF the identification has no meaning, and the kernel increments it in each segment. */
static inline bool gr_same(const uint8_t *a, const uint8_t *b, size_t len)
{
	size_t l3 = gr_l3(a);

	if (memcmp(a, b, len) == 0)
		return true;
	if (len < l3 + 20 || gr_get16(a + l3 - 2) != 0x0800 || !(a[l3 + 6] & 0x40))
		return false;
	return memcmp(a, b, l3 + 4) == 0 && memcmp(a + l3 + 6, b + l3 + 6, 4) == 0 &&
	       memcmp(a + l3 + 12, b + l3 + 12, len - l3 - 12) == 0 &&
	       ones_sum(0, b + l3, 20) == ones_sum(0, a + l3, 20);
}

/* Returns the position of addresses and ports, or NULL if the frame has none at the usual
 * offsets. */
static inline const uint8_t *gr_flow(const uint8_t *frame, size_t len, size_t *flow_len)
{
	size_t l3 = gr_l3(frame);
	unsigned type = gr_get16(frame + l3 - 2);

	*flow_len = type == 0x0800 ? 12 : 36;
	if (type == 0x0800 && len >= l3 + 24 && frame[l3] == 0x45 &&
	    (frame[l3 + 9] == 6 || frame[l3 + 9] == 17) && !(gr_get16(frame + l3 + 6) & 0x3fff))
		return frame + l3 + 12;
	if (type == 0x86dd && len >= l3 + 44 && frame[l3] >> 4 == 6 &&
	    (frame[l3 + 6] == 6 || frame[l3 + 6] == 17))
		return frame + l3 + 8;
	return NULL;
}

static inline bool gr_same_flow(const struct gr_frame *a, const struct gr_frame *b)
{
	size_t len_a, len_b;
	const uint8_t *flow_a = gr_flow(a->kept, a->len, &len_a);
	const uint8_t *flow_b = gr_flow(b->kept, b->len, &len_b);

	return flow_a && flow_b && len_a == len_b && memcmp(flow_a, flow_b, len_a) == 0;
}

/* Accepts one frame at the host: the frame must have arrived, and no later frame of its flow may
 * precede it. */
static inline void gr_seen(struct gr *g, const uint8_t *frame, size_t len)
{
	unsigned i = 0;

	while (i < g->n_in &&
	       (g->in[i].used || g->in[i].len != len || !gr_same(g->in[i].kept, frame, len)))
		i++;
	if (i == g->n_in) {
		gr_fail(g, "a frame that never came in");
		return;
	}
	g->in[i].used = true;
	g->n_out++;
	for (unsigned k = i + 1; k < g->n_in; k++)
		if (g->in[k].used && gr_same_flow(&g->in[i], &g->in[k]))
			gr_fail(g, "order within a flow");
}

/* Segments as __tcp_gso_segment() and __udp_gso_segment() do: the checksums change by the
 * difference. */
static inline void gr_segment(uint8_t *seg, unsigned k, unsigned n, const struct virtio_net_hdr *h,
			      size_t total, size_t l4_len)
{
	size_t l3 = gr_l3(seg);
	uint8_t *ip = seg + l3, *l4 = seg + h->csum_start, *sum = l4 + h->csum_offset;
	uint8_t delta[4];

	gr_put16(delta, ~(unsigned)total & 0xffff);
	gr_put16(delta + 2, (unsigned)l4_len);
	gr_put16(sum, ones_sum(gr_get16(sum), delta, 4));
	if (ip[0] >> 4 == 4) {
		gr_put16(ip + 2, (unsigned)(h->csum_start - l3 + l4_len));
		gr_put16(ip + 4, gr_get16(ip + 4) + k);
		gr_ip_sum(ip);
	} else {
		gr_put16(ip + 4, (unsigned)l4_len);
	}
	if (h->gso_type == 5) {
		gr_put16(l4 + 4, (unsigned)l4_len);
		return;
	}
	gr_put32(l4 + 4, gr_get32(l4 + 4) + k * h->gso_size);
	if (k + 1 < n)
		l4[13] &= 0xf6;
	if (k)
		l4[13] &= 0x7f;
}

static inline void gr_cut(struct gr *g, const struct virtio_net_hdr *h, const uint8_t *super,
			  size_t len, unsigned want)
{
	size_t payload = len - h->hdr_len, total = len - h->csum_start, l3 = gr_l3(super);
	unsigned n = h->gso_size ? (unsigned)((payload + h->gso_size - 1) / h->gso_size) : 0;
	uint8_t seg[4096];

	if (n != want || len - l3 > 65535 || h->gso_size + (size_t)h->hdr_len > sizeof(seg)) {
		gr_fail(g, "sizes of a super-frame");
		return;
	}
	if (gr_get16(super + l3 + (super[l3] >> 4 == 4 ? 2 : 4)) !=
		    (super[l3] >> 4 == 4 ? len - l3 : total) ||
	    (super[l3] >> 4 == 4 && ones_sum(0, super + l3, 20) != 0xffff) ||
	    (h->gso_type == 5 && gr_get16(super + h->csum_start + 4) != total))
		gr_fail(g, "lengths and header checksum of a super-frame");
	for (unsigned k = 0; k < n; k++) {
		size_t at = (size_t)k * h->gso_size;
		size_t part = payload - at < h->gso_size ? payload - at : h->gso_size;

		memcpy(seg, super, h->hdr_len);
		memcpy(seg + h->hdr_len, super + h->hdr_len + at, part);
		gr_segment(seg, k, n, h, total, h->hdr_len - h->csum_start + part);
		gr_seen(g, seg, h->hdr_len + part);
	}
}

/* Delivers all collected frames to the hosts. */
static inline void gr_flush(struct gr *g, struct coalesce *c)
{
	static uint8_t super[1 << 17];

	for (unsigned i = 0; i < c->n_units; i++) {
		struct virtio_net_hdr h;
		struct iovec iov[COALESCE_IOV];
		unsigned n = coalesce_gather(c, i, &h, iov);
		size_t len = 0;

		for (unsigned k = 0; k < n; len += iov[k++].iov_len)
			memcpy(super + len, iov[k].iov_base, iov[k].iov_len);
		g->n_writes++;
		if (h.gso_type) {
			g->n_super++;
			gr_cut(g, &h, super, len, c->unit[i].n);
		} else {
			gr_seen(g, super, len);
		}
	}
	coalesce_reset(c);
}

/* Passes all frames through the product. Returns true if the hosts receive equal frames. */
static inline bool gr_run(struct gr *g, struct coalesce *c)
{
	coalesce_reset(c);
	for (unsigned i = 0; i < g->n_in; i++) {
		struct gr_frame *f = &g->in[i];
		struct delivery d = { f->data, f->len, f->csum_start, f->csum_offset };
		struct eth_view v;

		if (eth_parse(f->data, f->len, &v) < 0) {
			/* The step before coalescing drops such a frame. */
			f->used = true;
			f->len = 0;
			g->n_out++;
			continue;
		}
		if (coalesce_add(c, &d, &v))
			continue;
		gr_flush(g, c);
		if (!coalesce_add(c, &d, &v))
			gr_fail(g, "no room after a flush");
	}
	gr_flush(g, c);
	if (g->n_out != g->n_in)
		gr_fail(g, "frames are missing");
	return !g->wrong;
}

static inline void gr_reset(struct gr *g)
{
	g->n_in = g->n_out = g->n_super = g->n_writes = 0;
	g->arena_used = 0;
	g->wrong = NULL;
}
