// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fwd/tap/tso: the test builds super-frames field by field and verifies every segment as a receiver
 * does. Parser and checksum share no code with the product.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/defs.h"
#include "fwd/tap/tap_frames.h"
#include "ones_sum.h"

/* --- an independent model of a packet --- */

struct shape {
	unsigned n_tags;
	int version;	      /* 4, 6 */
	unsigned ip_options;  /* bytes: IPv4 options, or an IPv6 extension header of 8 */
	int routing;	      /* that header is a routing header with a segment left */
	unsigned tcp_options; /* bytes */
	int udp;
	size_t payload;
	uint16_t gso_size;
	size_t max_frame;
	uint8_t flags; /* TCP */
};

struct packet {
	uint8_t b[70000];
	size_t len, l3, l4, hdr_len;
};

static void be16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}
static unsigned rd16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}
static uint32_t rd32(const uint8_t *p)
{
	return (uint32_t)rd16(p) << 16 | rd16(p + 2);
}

static unsigned pseudo_sum(const uint8_t *ip, int version, unsigned proto, size_t l4_len)
{
	uint8_t tail[4] = { 0, (uint8_t)proto, (uint8_t)(l4_len >> 8), (uint8_t)l4_len };
	unsigned sum = ones_sum(0, tail, sizeof(tail));

	return version == 4 ? ones_sum(sum, ip + 12, 8) : ones_sum(sum, ip + 8, 32);
}

/* The final destination differs from the header in one word (RFC 8200 8.1). */
static unsigned pseudo_of(const struct packet *k, const struct shape *s, const uint8_t *ip,
			  size_t len)
{
	unsigned sum = pseudo_sum(ip, s->version, s->udp ? 17 : 6, len - k->l4);

	return s->routing ? ones_sum(sum, (const uint8_t *)"\x12\x34", 2) : sum;
}

static void build(struct packet *k, const struct shape *s)
{
	uint8_t *p = k->b;
	size_t n = 12, ip_len;
	unsigned proto = s->udp ? 17 : 6;

	memset(p, 0, 300);
	memcpy(p, "\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01", 12);
	for (unsigned i = 0; i < s->n_tags; i++, n += 4) {
		be16(p + n, i == 0 && s->n_tags == 2 ? 0x88a8 : 0x8100);
		be16(p + n + 2, 100 + i);
	}
	be16(p + n, s->version == 4 ? 0x0800 : 0x86dd);
	k->l3 = n + 2;
	k->l4 = k->l3 + (s->version == 4 ? 20 : 40) + s->ip_options;
	k->hdr_len = k->l4 + (s->udp ? 8 : 20 + s->tcp_options);
	k->len = k->hdr_len + s->payload;
	ip_len = k->len - k->l3;
	if (s->version == 4) {
		p[k->l3] = (uint8_t)(0x40 | (5 + s->ip_options / 4));
		be16(p + k->l3 + 2, (unsigned)ip_len);
		be16(p + k->l3 + 4, 0xfffe); /* wraps */
		be16(p + k->l3 + 6, 0x4000);
		p[k->l3 + 8] = 64;
		p[k->l3 + 9] = (uint8_t)proto;
		memcpy(p + k->l3 + 12, "\x0a\x00\x00\x01\x0a\x00\x00\x02", 8);
		memset(p + k->l3 + 20, 1, s->ip_options); /* NOPs */
	} else {
		p[k->l3] = 0x60;
		be16(p + k->l3 + 4, (unsigned)(ip_len - 40));
		p[k->l3 + 6] = (uint8_t)(s->routing ? 43 : s->ip_options ? 0 : proto);
		p[k->l3 + 7] = 64;
		for (unsigned i = 0; i < 32; i++)
			p[k->l3 + 8 + i] = (uint8_t)(0xfe - i * 7);
		if (s->ip_options)
			p[k->l3 + 40] = (uint8_t)proto;
		if (s->routing)
			memcpy(p + k->l3 + 42, "\x02\x01", 2);
	}
	be16(p + k->l4, 1234);
	be16(p + k->l4 + 2, 80);
	if (s->udp) {
		be16(p + k->l4 + 4, (unsigned)(8 + s->payload));
	} else {
		memcpy(p + k->l4 + 4, "\xff\xff\xff\x00\x11\x22\x33\x44", 8); /* seq wraps */
		p[k->l4 + 12] = (uint8_t)((5 + s->tcp_options / 4) << 4);
		p[k->l4 + 13] = s->flags;
		be16(p + k->l4 + 14, 512);
		memset(p + k->l4 + 20, 1, s->tcp_options);
	}
	be16(p + k->l4 + (s->udp ? 6 : 16), pseudo_of(k, s, p + k->l3, k->len));
	for (size_t i = k->hdr_len; i < k->len; i++)
		p[i] = (uint8_t)(i * 31 + (i >> 8));
}

static void open_frame(struct frame *f, struct packet *k, const struct shape *s)
{
	*f = (struct frame){ .data = k->b,
			     .len = k->len,
			     .gso = s->udp ? FRAME_UDP : FRAME_TCP,
			     .gso_size = s->gso_size };
	assert_int_equal(eth_parse(f->data, f->len, &f->v), 0);
	assert_int_equal(f->v.l4_offset, k->l4);
}

/* --- checks of one segment --- */

static void check_ip(const uint8_t *seg, size_t len, const struct packet *k, const struct shape *s,
		     unsigned i)
{
	const uint8_t *ip = seg + k->l3;

	if (s->version == 6) {
		assert_int_equal(rd16(ip + 4), len - k->l3 - 40);
		return;
	}
	assert_int_equal(rd16(ip + 2), len - k->l3);
	assert_int_equal(rd16(ip + 4), (0xfffe + i) & 0xffff);
	assert_int_equal(ones_sum(0, ip, k->l4 - k->l3), 0xffff);
}

/* Completes the partial checksum as virtio specifies, and verifies the segment as a receiver
 * does. */
static void check_transport_sum(uint8_t *seg, size_t len, const struct packet *k,
				const struct shape *s)
{
	uint8_t *field = seg + k->l4 + (s->udp ? 6 : 16);
	unsigned pseudo = pseudo_of(k, s, seg + k->l3, len);

	assert_int_equal(rd16(field) % 0xffff, pseudo % 0xffff);
	be16(field, ~ones_sum(0, seg + k->l4, len - k->l4) & 0xffff);
	assert_int_equal(ones_sum(pseudo, seg + k->l4, len - k->l4) % 0xffff, 0);
}

static void check_tcp(const uint8_t *seg, const struct packet *k, const struct shape *s,
		      size_t offset, int first, int last)
{
	uint8_t want = s->flags;

	if (!last)
		want &= (uint8_t)~0x09;
	if (!first)
		want &= 0x7f;
	assert_int_equal(rd32(seg + k->l4 + 4), (uint32_t)(0xffffff00u + offset));
	assert_int_equal(seg[k->l4 + 13], want);
	/* The rest of the header is unchanged: acknowledgement, offset, window, options. */
	assert_memory_equal(seg + k->l4 + 8, k->b + k->l4 + 8, 5);
	assert_memory_equal(seg + k->l4 + 14, k->b + k->l4 + 14, 2);
	assert_memory_equal(seg + k->l4 + 18, k->b + k->l4 + 18, 2 + s->tcp_options);
}

static void cut_and_check(const struct shape *s)
{
	static struct packet k;
	static uint8_t seg[70000];
	struct frame f;
	struct tso t;
	size_t offset = 0, size;

	build(&k, s);
	open_frame(&f, &k, s);
	assert_int_equal(tso_open(&t, &f, s->max_frame), 0);
	assert_int_equal(t.hdr_len, k.hdr_len);
	size = s->udp || k.hdr_len + s->gso_size <= s->max_frame ? s->gso_size
								 : s->max_frame - k.hdr_len;
	for (unsigned i = 0; i < t.n; i++) {
		struct pieces p = tso_segment(&t, i, seg);

		assert_ptr_equal(p.head, seg);
		assert_int_equal(p.head_len, k.hdr_len);
		assert_ptr_equal(p.body, k.b + k.hdr_len + offset);
		assert_int_equal(p.body_len, min_of(size, s->payload - offset));
		memcpy(seg + p.head_len, p.body, p.body_len);
		assert_memory_equal(seg, k.b, k.l3);
		check_ip(seg, p.head_len + p.body_len, &k, s, i);
		check_transport_sum(seg, p.head_len + p.body_len, &k, s);
		if (s->udp)
			assert_int_equal(rd16(seg + k.l4 + 4), 8 + p.body_len);
		else
			check_tcp(seg, &k, s, offset, i == 0, i + 1 == t.n);
		offset += p.body_len;
	}
	assert_int_equal(offset, s->payload);
}

static void all_shapes(void **state)
{
	static const size_t payload[] = { 1, 2, 1447, 1448, 1449, 2896, 2897, 20001, 65000 };
	static const uint8_t flags[] = { 0x10, 0x18, 0x19, 0x99, 0xd9 };
	unsigned n = 0;

	(void)state;
	for (unsigned tags = 0; tags <= 2; tags++)
		for (int version = 4; version <= 6; version += 2)
			for (unsigned opt = 0; opt <= 8; opt += 8)
				for (unsigned i = 0; i < array_size(payload); i++)
					for (int udp = 0; udp <= 1; udp++) {
						struct shape s = {
							.n_tags = tags,
							.version = version,
							.ip_options = opt,
							.tcp_options = udp ? 0 : 12,
							.udp = udp,
							.payload = payload[i],
							.gso_size = 1448,
							.max_frame = n % 2 ? 9000 : 777,
							.flags = flags[n % array_size(flags)],
						};

						cut_and_check(&s);
						n++;
					}
	assert_true(n > 200);
}

static void odd_sizes(void **state)
{
	(void)state;
	for (uint16_t gso = 1; gso < 40; gso++) {
		struct shape s = { .version = gso % 2 ? 4 : 6,
				   .payload = 999,
				   .gso_size = gso,
				   .max_frame = 1500,
				   .flags = 0x18 };

		cut_and_check(&s);
	}
}

/* The addresses of the IP header are not those of the checksum. */
static void routing_headers(void **state)
{
	(void)state;
	for (int udp = 0; udp <= 1; udp++) {
		struct shape s = { .version = 6,
				   .ip_options = 8,
				   .routing = 1,
				   .udp = udp,
				   .payload = 5001,
				   .gso_size = 1400,
				   .max_frame = 1500,
				   .flags = 0x18 };

		cut_and_check(&s);
	}
}

static int open_with(void (*damage)(struct packet *k, struct frame *f), size_t max_frame)
{
	static struct packet k;
	struct shape s = { .version = 4, .payload = 5000, .gso_size = 1000, .flags = 0x10 };
	struct frame f;
	struct tso t;

	build(&k, &s);
	open_frame(&f, &k, &s);
	if (damage)
		damage(&k, &f);
	return tso_open(&t, &f, max_frame);
}

static void no_size(struct packet *k, struct frame *f)
{
	(void)k;
	f->gso_size = 0;
}
static void short_doff(struct packet *k, struct frame *f)
{
	(void)f;
	k->b[k->l4 + 12] = 0x40;
}
static void long_doff(struct packet *k, struct frame *f)
{
	k->b[k->l4 + 12] = 0xf0;
	f->len = k->l4 + 30;
}
static void no_payload(struct packet *k, struct frame *f)
{
	f->len = k->hdr_len;
}
static void cut_header(struct packet *k, struct frame *f)
{
	f->len = k->l4 + 19;
}
static void no_transport(struct packet *k, struct frame *f)
{
	(void)k;
	f->v.l4_offset = 0;
}

static void broken_ones_are_refused(void **state)
{
	(void)state;
	assert_int_equal(open_with(NULL, 1500), 0);
	assert_int_equal(open_with(no_size, 1500), -EBADMSG);
	assert_int_equal(open_with(short_doff, 1500), -EBADMSG);
	assert_int_equal(open_with(long_doff, 1500), -EBADMSG);
	assert_int_equal(open_with(no_payload, 1500), -EBADMSG);
	assert_int_equal(open_with(cut_header, 1500), -EBADMSG);
	assert_int_equal(open_with(no_transport, 1500), -EBADMSG);
	assert_int_equal(open_with(NULL, 54), -EMSGSIZE);
	assert_int_equal(open_with(NULL, 55), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_shapes),
		cmocka_unit_test(odd_sizes),
		cmocka_unit_test(routing_headers),
		cmocka_unit_test(broken_ones_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
