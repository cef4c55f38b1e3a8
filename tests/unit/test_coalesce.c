// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fwd/tap/coalesce with valid and damaged frames of several flows in all orders. gso_reference.h
 * segments the output as the kernel does and compares every byte with the input. The number of
 * writes shows whether the permitted frames, and only these frames, are coalesced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/defs.h"
#include "fwd/tap/tap_frames.h"
#include "gso_reference.h"

#define MSS 1448

static struct gr g;
static struct coalesce c;

static int setup(void **state)
{
	(void)state;
	gr_reset(&g);
	memset(&c, 0, sizeof(c));
	c.tcp = c.udp = true;
	return 0;
}

/* Runs all frames and expects this number of writes to the TAP. */
static void expect_writes(unsigned writes)
{
	if (!gr_run(&g, &c))
		fail_msg("%s", g.wrong);
	assert_int_equal(g.n_writes, writes);
	gr_reset(&g);
}

static struct gr_spec tcp(int version)
{
	return (struct gr_spec){ .version = version,
				 .payload = MSS,
				 .seq = 0xfffff000, /* wraps */
				 .id = 0xfffd,
				 .tcp_options = 12 };
}

/* Advances to the next frame of the flow. */
static void next(struct gr_spec *s)
{
	s->seq += (uint32_t)s->payload;
	s->id++;
	s->fill++;
}

static void add_run(struct gr_spec *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++, next(s))
		gr_add(&g, s);
}

static void in_order(void **state)
{
	(void)state;
	for (int version = 4; version <= 6; version += 2)
		for (unsigned tags = 0; tags <= 2; tags++)
			for (int udp = 0; udp <= 1; udp++)
				for (unsigned n = 1; n <= 44; n += 43) {
					struct gr_spec s = tcp(version);

					s.n_tags = tags;
					s.udp = udp;
					add_run(&s, n);
					expect_writes(1);
				}
}

static void limits(void **state)
{
	struct gr_spec s = tcp(4);

	(void)state;
	/* 45 * 1448 + 52 fits into 65535, a 46th segment does not. */
	add_run(&s, 46);
	expect_writes(2);
	s.payload = 8;
	add_run(&s, COALESCE_SEGMENTS);
	expect_writes(1);
	add_run(&s, COALESCE_SEGMENTS + 1);
	expect_writes(2);
	/* The frames exceed a batch: the 17th super-frame uses the last piece. */
	add_run(&s, COALESCE_PIECES + 17 + 10 * COALESCE_SEGMENTS);
	expect_writes(17 + 10);
}

static void switched_off(void **state)
{
	struct gr_spec s = tcp(4);

	(void)state;
	c.tcp = false;
	add_run(&s, 5);
	expect_writes(5);
	s.udp = true;
	add_run(&s, 5);
	expect_writes(1);
	c.tcp = true;
	c.udp = false;
	add_run(&s, 5);
	expect_writes(5);
}

static void odd_last(void **state)
{
	(void)state;
	for (int udp = 0; udp <= 1; udp++) {
		struct gr_spec s = tcp(udp ? 6 : 4);

		s.udp = udp;
		add_run(&s, 4);
		s.payload = 1;
		add_run(&s, 1);
		s.payload = MSS;
		add_run(&s, 4);
		s.payload = MSS - 1;
		add_run(&s, 1);
		expect_writes(2);
		/* A longer segment cannot follow. */
		s.payload = 100;
		add_run(&s, 2);
		s.payload = 101;
		add_run(&s, 1);
		expect_writes(2);
	}
}

static void losses_duplicates_reordering(void **state)
{
	struct gr_spec s = tcp(4), first;

	(void)state;
	add_run(&s, 3);
	next(&s); /* lost */
	add_run(&s, 3);
	expect_writes(2);
	first = s;
	add_run(&s, 3);
	s = first;
	add_run(&s, 3); /* again */
	expect_writes(2);
	first = s;
	next(&s);
	add_run(&s, 1);
	gr_add(&g, &first);
	add_run(&s, 2);
	expect_writes(3);
}

static void interleaved_flows(void **state)
{
	struct gr_spec s[8];

	(void)state;
	for (unsigned i = 0; i < array_size(s); i++) {
		s[i] = tcp(i % 2 ? 6 : 4);
		s[i].flow = (uint8_t)(1 + i);
		s[i].udp = i % 3 == 0;
	}
	for (unsigned n = 0; n < 20; n++)
		for (unsigned i = 0; i < array_size(s); i++)
			add_run(&s[i], 1);
	if (!gr_run(&g, &c))
		fail_msg("%s", g.wrong);
	/* Flows in one hash bucket are not coalesced. Only some of these flows share a bucket. */
	assert_in_range(g.n_writes, 8, 60);
}

/* Flags that end a super-frame, forbid coalescing, or both. */
static void tcp_flags(void **state)
{
	static const uint8_t alone[] = { 0x11, 0x19, 0x12, 0x14, 0x30, 0x50, 0x90, 0x00, 0x08 };
	struct gr_spec s = tcp(4);

	(void)state;
	add_run(&s, 3);
	s.flags = 0x18;
	add_run(&s, 1);
	s.flags = 0x10;
	add_run(&s, 3);
	expect_writes(2);
	s.flags = 0x18;
	add_run(&s, 3);
	expect_writes(3);
	for (unsigned i = 0; i < array_size(alone); i++) {
		s.flags = 0x10;
		add_run(&s, 3);
		s.flags = alone[i] ? alone[i] : 0x01;
		add_run(&s, 2);
		s.flags = 0x10;
		add_run(&s, 3);
		expect_writes(4);
	}
	/* A segment without payload is not appended, even to its own flow. */
	add_run(&s, 2);
	s.payload = 0;
	add_run(&s, 2);
	s.payload = MSS;
	add_run(&s, 2);
	expect_writes(4);
}

/* One field of the third of six frames differs, so no super-frame includes it. */
static void change(int version, bool udp, unsigned l4_relative, size_t at, uint8_t mask,
		   unsigned writes)
{
	struct gr_spec s = tcp(version);
	struct gr_frame *f;
	size_t l3 = 14, l4 = version == 4 ? 34 : 54;

	s.udp = udp;
	add_run(&s, 2);
	f = gr_add(&g, &s);
	next(&s);
	f->data[(l4_relative ? l4 : l3) + at] ^= mask;
	if (version == 4 && !l4_relative && at != 10)
		gr_ip_sum(f->data + l3);
	memcpy(f->kept, f->data, f->len);
	add_run(&s, 3);
	expect_writes(writes);
}

static void headers_that_differ(void **state)
{
	(void)state;
	change(4, false, 0, 0, 0, 1);	  /* nothing changed */
	change(4, false, 0, 1, 0x02, 3);  /* TOS: a congestion mark */
	change(4, false, 0, 8, 0x01, 3);  /* TTL */
	change(4, false, 0, 6, 0x40, 3);  /* DF */
	change(4, false, 0, 6, 0x80, 3);  /* the reserved bit */
	change(4, false, 0, 6, 0x20, 3);  /* a fragment */
	change(4, false, 0, 10, 0x01, 3); /* header checksum */
	change(4, false, 0, 3, 0x01, 3);  /* length */
	change(6, false, 0, 1, 0x10, 3);  /* traffic class */
	change(6, false, 0, 3, 0x01, 3);  /* flow label */
	change(6, false, 0, 7, 0x01, 3);  /* hop limit */
	change(6, false, 0, 5, 0x01, 3);  /* length */
	change(4, false, 1, 4, 0x01, 3);  /* sequence */
	change(4, false, 1, 11, 0x01, 3); /* acknowledgement */
	change(4, false, 1, 12, 0x01, 3); /* reserved bits */
	change(6, false, 1, 14, 0x01, 3); /* window */
	change(6, false, 1, 17, 0x01, 3); /* checksum */
	change(6, false, 1, 19, 0x01, 3); /* urgent pointer */
	change(6, false, 1, 31, 0x01, 3); /* options */
	change(4, true, 1, 5, 0x01, 3);	  /* UDP length */
	change(4, true, 1, 7, 0x01, 3);	  /* checksum */
	/* Another source port may select another bucket, and the remaining frames are still
	 * joined. */
	change(4, true, 1, 0, 0, 1);
}

static void other_l2_header(void **state)
{
	struct gr_spec s = tcp(4);

	(void)state;
	s.n_tags = 1;
	add_run(&s, 2);
	s.n_tags = 0;
	add_run(&s, 2);
	s.n_tags = 2;
	add_run(&s, 2);
	expect_writes(3);
	/* The address of the flow moves to another MAC. */
	s.n_tags = 1;
	add_run(&s, 2);
	for (unsigned i = 0; i < 2; i++, next(&s)) {
		struct gr_frame *f = gr_add(&g, &s);

		f->data[5] = f->kept[5] = 7;
	}
	expect_writes(2);
}

static void identifications(void **state)
{
	struct gr_spec s = tcp(4);

	(void)state;
	s.no_df = true;
	add_run(&s, 4);
	expect_writes(1);
	add_run(&s, 2);
	s.id++;
	add_run(&s, 2);
	expect_writes(2);
	/* With DF the identifications have no meaning. */
	s.no_df = false;
	for (unsigned i = 0; i < 4; i++) {
		s.id = 0;
		add_run(&s, 1);
	}
	expect_writes(1);
}

static void whole_checksums(void **state)
{
	struct gr_spec s = tcp(4);

	(void)state;
	add_run(&s, 2);
	s.whole = true;
	add_run(&s, 2);
	s.whole = false;
	add_run(&s, 2);
	expect_writes(4);
	/* The checksum of one frame only appears to be partial. */
	for (unsigned i = 0; i < 3; i++, next(&s)) {
		struct gr_frame *f = gr_add(&g, &s);

		f->csum_start = f->csum_offset = 0;
	}
	expect_writes(3);
}

/* A frame without ports or with padding stays alone, and a fragment interrupts its flow. */
static void other_frames(void **state)
{
	struct gr_spec s = tcp(4);
	uint8_t buf[2048] = { 2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1, 8, 6 };
	struct gr_spec padded = tcp(4);
	size_t l4, len;

	(void)state;
	add_run(&s, 2);
	gr_arrives(&g, buf, 60, 0, 0);
	add_run(&s, 2);
	expect_writes(3);
	padded.payload = 1;
	padded.tcp_options = 0;
	for (unsigned i = 0; i < 3; i++, next(&padded)) {
		len = gr_build(buf, &padded, &l4);
		memset(buf + len, 0, 60 - len);
		gr_arrives(&g, buf, 60, (uint16_t)l4, 16);
	}
	expect_writes(3);
}

/* A super-frame that fwd/tap/tso has segmented is restored at the receiver. */
static void cut_by_tso(void **state)
{
	static uint8_t super[65536];

	(void)state;
	for (unsigned i = 0; i < 16; i++) {
		struct gr_spec s = tcp(i & 1 ? 4 : 6);
		struct frame f = { .data = super };
		struct tso t;
		uint8_t seg[2048];
		size_t l4;

		s.udp = i & 2;
		s.n_tags = i & 4 ? 1 : 0;
		s.flags = i & 8 ? 0x18 : 0;
		s.payload = 60000 + i;
		f.len = gr_build(super, &s, &l4);
		f.gso = s.udp ? FRAME_UDP : FRAME_TCP;
		f.gso_size = 1400;
		assert_int_equal(eth_parse(f.data, f.len, &f.v), 0);
		assert_int_equal(tso_open(&t, &f, 1500), 0);
		for (unsigned k = 0; k < t.n; k++) {
			struct pieces p = tso_segment(&t, k, seg);

			memcpy(seg + p.head_len, p.body, p.body_len);
			gr_arrives(&g, seg, p.head_len + p.body_len, (uint16_t)l4, s.udp ? 6 : 16);
		}
		assert_int_equal(t.n, 43);
		expect_writes(1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(in_order, setup),
		cmocka_unit_test_setup(limits, setup),
		cmocka_unit_test_setup(switched_off, setup),
		cmocka_unit_test_setup(odd_last, setup),
		cmocka_unit_test_setup(losses_duplicates_reordering, setup),
		cmocka_unit_test_setup(interleaved_flows, setup),
		cmocka_unit_test_setup(tcp_flags, setup),
		cmocka_unit_test_setup(headers_that_differ, setup),
		cmocka_unit_test_setup(other_l2_header, setup),
		cmocka_unit_test_setup(identifications, setup),
		cmocka_unit_test_setup(whole_checksums, setup),
		cmocka_unit_test_setup(other_frames, setup),
		cmocka_unit_test_setup(cut_by_tso, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
