// SPDX-License-Identifier: GPL-2.0-or-later
/* wire/frame/tcp: segments are parsed correctly, and hosts accept the built segments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/frame/csum.h"
#include "wire/frame/tcp.h"

static const struct mac HOST = { { 2, 0, 0, 0, 0, 1 } }, FAR = { { 2, 0, 0, 0, 0, 2 } };

static struct ip_addr ip(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_parse(text, &a), 0);
	return a;
}

static struct tcp_segment sample(bool v6)
{
	return (struct tcp_segment){ .dst_mac = FAR,
				     .src_mac = HOST,
				     .src = ip(v6 ? "2001:db8::1" : "192.0.2.1"),
				     .dst = ip(v6 ? "2001:db8::2" : "192.0.2.2"),
				     .src_port = 40000,
				     .dst_port = 2049,
				     .seq = 0xfffffffe,
				     .ack = 77,
				     .window = 500,
				     .flags = TCP_ACK,
				     .has_ts = true,
				     .ts_val = 1000,
				     .ts_ecr = 2000 };
}

/* Both checksums are correct: the sum over the covered bytes is all ones. */
static void assert_sums(const uint8_t *frame, size_t len, const struct eth_view *v)
{
	const uint8_t *l3 = frame + v->l3_offset;
	size_t l4_len = len - v->l4_offset;
	uint32_t sum = (uint32_t)(6 + l4_len);

	if (v->ip_version == 4) {
		assert_int_equal(csum_fold(csum_add(0, l3, 20)), 0xffff);
		sum = csum_add(sum, l3 + 12, 8);
	} else {
		sum = csum_add(sum, l3 + 8, 32);
	}
	assert_int_equal(csum_fold(csum_add(sum, frame + v->l4_offset, l4_len)), 0xffff);
}

static void test_made_is_read(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct tcp_segment s = sample(i & 1);
		uint8_t frame[TCP_FRAME_MAX];
		struct tcp_view t;
		struct eth_view v;
		size_t len;

		s.vlan = i & 2 ? 7 : 0;
		s.flags = i & 2 ? TCP_ACK | TCP_FIN : TCP_ACK;
		len = tcp_make(&s, frame);
		assert_int_equal(eth_parse(frame, len, &v), 0);
		assert_int_equal(v.vlan, s.vlan);
		assert_sums(frame, len, &v);
		assert_int_equal(tcp_parse(frame, len, &v, &t), 0);
		assert_true(ip_equal(&t.src, &s.src) && ip_equal(&t.dst, &s.dst));
		assert_int_equal(t.src_port, 40000);
		assert_int_equal(t.dst_port, 2049);
		assert_int_equal(t.seq, 0xfffffffe);
		assert_int_equal(t.end, i & 2 ? 0xffffffff : 0xfffffffe);
		assert_int_equal(t.ack, 77);
		assert_int_equal(t.window, 500);
		assert_int_equal(t.payload_len, 0);
		assert_true(t.has_ts);
		assert_int_equal(t.ts_val, 1000);
		assert_int_equal(t.ts_ecr, 2000);
		assert_int_equal(t.scale, TCP_SCALE_UNKNOWN);
	}
}

/* Builds a frame of 14 + 20 + 20 bytes with options and payload. */
static size_t with_options(uint8_t *frame, uint8_t flags, const void *options, size_t n,
			   size_t payload)
{
	struct tcp_segment s = sample(false);
	size_t len;

	s.has_ts = false;
	s.flags = flags;
	len = tcp_make(&s, frame);
	memcpy(frame + len, options, n);
	memset(frame + len + n, 'x', payload);
	frame[14 + 20 + 12] = (uint8_t)((20 + n) / 4 << 4);
	put_u16(frame + 14 + 2, (uint16_t)(40 + n + payload));
	return len + n + payload;
}

static int parse(const uint8_t *frame, size_t len, struct tcp_view *t)
{
	struct eth_view v;

	assert_int_equal(eth_parse(frame, len, &v), 0);
	return tcp_parse(frame, len, &v, t);
}

static void test_options(void **state)
{
	static const uint8_t syn[] = { 2, 4, 5, 180, 4, 2, 1, 1, 3, 3, 7, 0 };
	static const uint8_t steep[] = { 3, 3, 40, 0 };
	static const uint8_t sack[] = { 1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2 };
	static const uint8_t foreign[] = { 19, 29, 30, 34, 254 };
	uint8_t frame[256];
	struct tcp_view t;

	(void)state;
	assert_int_equal(parse(frame, with_options(frame, TCP_SYN, syn, sizeof(syn), 0), &t), 0);
	assert_int_equal(t.mss, 1460);
	assert_int_equal(t.scale, 7);
	assert_true(t.sack_permitted);
	assert_false(t.sack_blocks || t.foreign || t.has_ts);
	assert_int_equal(t.end, 0xffffffff);
	/* These options are valid in a SYN only. */
	assert_int_equal(parse(frame, with_options(frame, TCP_ACK, syn, sizeof(syn), 4), &t), 0);
	assert_int_equal(t.mss, 0);
	assert_int_equal(t.scale, TCP_SCALE_UNKNOWN);
	assert_false(t.sack_permitted);
	assert_int_equal(t.payload_len, 4);
	assert_int_equal(t.end, 2);
	assert_int_equal(parse(frame, with_options(frame, TCP_SYN, steep, 4, 0), &t), 0);
	assert_int_equal(t.scale, TCP_SCALE_MAX);
	assert_int_equal(parse(frame, with_options(frame, TCP_ACK, sack, sizeof(sack), 0), &t), 0);
	assert_true(t.sack_blocks);
	for (unsigned i = 0; i < sizeof(foreign); i++) {
		uint8_t o[4] = { foreign[i], 4, 0, 0 };

		assert_int_equal(parse(frame, with_options(frame, TCP_ACK, o, 4, 0), &t), 0);
		assert_true(t.foreign);
	}
}

static void test_lengths(void **state)
{
	static const uint8_t endless[] = { 1, 1, 8, 30 }, zero[] = { 8, 0, 8, 10 };
	struct tcp_segment s = sample(false);
	uint8_t frame[256];
	struct tcp_view t;
	size_t len = tcp_make(&s, frame);

	(void)state;
	/* Ethernet padding is not payload. */
	assert_int_equal(parse(frame, len + 10, &t), 0);
	assert_int_equal(t.payload_len, 0);
	/* Truncated segments. */
	for (size_t n = 14 + 20; n < len; n++)
		assert_int_equal(parse(frame, n, &t), -EBADMSG);
	frame[14 + 20 + 12] = 4 << 4;
	assert_int_equal(parse(frame, len, &t), -EBADMSG);
	frame[14 + 20 + 12] = 15 << 4;
	assert_int_equal(parse(frame, len, &t), -EBADMSG);
	/* Options beyond the header or of length 0 are not read. */
	assert_int_equal(parse(frame, with_options(frame, TCP_ACK, endless, 4, 60), &t), 0);
	assert_false(t.has_ts);
	assert_int_equal(parse(frame, with_options(frame, TCP_ACK, zero, 4, 60), &t), 0);
	assert_false(t.has_ts);
	/* A super-frame of more than 64 KiB has length 0. */
	len = with_options(frame, TCP_ACK, endless, 0, 100);
	put_u16(frame + 16, 0);
	assert_int_equal(parse(frame, len, &t), 0);
	assert_int_equal(t.payload_len, 100);
}

static void test_cut(void **state)
{
	uint8_t frame[256], out[256];
	struct tcp_view t, u;
	struct eth_view v;
	size_t len;

	(void)state;
	len = with_options(frame, TCP_ACK | TCP_PSH | TCP_FIN, "", 0, 9);
	assert_int_equal(eth_parse(frame, len, &v), 0);
	assert_int_equal(tcp_parse(frame, len, &v, &t), 0);
	assert_int_equal(t.end, 0xfffffffe + 10);
	assert_int_equal(tcp_cut(frame, &v, &t, 55, 0, out, 53), 0);
	assert_int_equal(tcp_cut(frame, &v, &t, 55, 10, out, sizeof(out)), 0);
	len = tcp_cut(frame, &v, &t, 55, 0, out, sizeof(out));
	assert_int_equal(len, 54);
	assert_sums(out, len, &v);
	assert_int_equal(parse(out, len, &u), 0);
	assert_int_equal(u.seq, 55);
	assert_int_equal(u.end, 55);
	assert_int_equal(u.ack, 77);
	assert_int_equal(u.flags, TCP_ACK);
	/* The part before a sequence number. */
	len = tcp_cut(frame, &v, &t, t.seq, 3, out, sizeof(out));
	assert_int_equal(len, 57);
	assert_sums(out, len, &v);
	assert_int_equal(parse(out, len, &u), 0);
	assert_int_equal(u.end, (uint32_t)(0xfffffffe + 3));
	assert_memory_equal(out + 54, "xxx", 3);
}

/* Builds a frame with correct checksums and the TSval 1000 at an even or odd offset. */
static size_t with_ts(uint8_t *out, bool odd, struct eth_view *v, struct tcp_view *t)
{
	static const uint8_t even_at[] = { 1, 1, 8, 10, 0, 0, 3, 232, 0, 0, 7, 208 };
	static const uint8_t odd_at[] = { 1, 8, 10, 0, 0, 3, 232, 0, 0, 7, 208, 0 };
	uint8_t frame[256];
	size_t len = with_options(frame, TCP_ACK, odd ? odd_at : even_at, 12, 9);

	assert_int_equal(eth_parse(frame, len, v), 0);
	assert_int_equal(tcp_parse(frame, len, v, t), 0);
	assert_int_equal(t->ts_val, 1000);
	return tcp_cut(frame, v, t, t->seq, 9, out, 256);
}

static void test_raised_ts(void **state)
{
	static const uint32_t later[] = { 1001, 0x7fffffff, 1000u + 0x7fffffff };

	(void)state;
	for (unsigned i = 0; i < 2 * 3; i++) {
		uint8_t frame[256], before[256];
		struct tcp_view t, u;
		struct eth_view v;
		size_t len = with_ts(frame, i & 1, &v, &t);

		memcpy(before, frame, len);
		tcp_raise_ts(frame, &v, &t, later[i / 2], false);
		assert_sums(frame, len, &v);
		assert_int_equal(parse(frame, len, &u), 0);
		assert_int_equal(u.ts_val, later[i / 2]);
		assert_int_equal(u.ts_ecr, 2000);
		/* An incorrect checksum stays incorrect by the same value. */
		memcpy(frame, before, len);
		frame[len - 1]++;
		tcp_raise_ts(frame, &v, &t, later[i / 2], false);
		frame[len - 1]--;
		assert_sums(frame, len, &v);
		/* A partial checksum does not cover the options. */
		memcpy(frame, before, len);
		tcp_raise_ts(frame, &v, &t, later[i / 2], true);
		assert_memory_equal(frame + 34 + 16, before + 34 + 16, 2);
		assert_int_equal(parse(frame, len, &u), 0);
		assert_int_equal(u.ts_val, later[i / 2]);
	}
}

static void test_kept_ts(void **state)
{
	static const uint32_t not_later[] = { 1000, 999, 1000 + 0x80000001u };
	uint8_t frame[256], before[256];
	struct tcp_view t;
	struct eth_view v;
	size_t len = with_ts(frame, false, &v, &t);

	(void)state;
	memcpy(before, frame, len);
	for (unsigned i = 0; i < 3; i++)
		tcp_raise_ts(frame, &v, &t, not_later[i], false);
	assert_memory_equal(frame, before, len);
	len = with_options(frame, TCP_ACK, "", 0, 9);
	memcpy(before, frame, len);
	assert_int_equal(eth_parse(frame, len, &v), 0);
	assert_int_equal(tcp_parse(frame, len, &v, &t), 0);
	tcp_raise_ts(frame, &v, &t, 1, false);
	assert_memory_equal(frame, before, len);
}

static void test_refusal(void **state)
{
	struct tcp_segment s = sample(true), r;
	uint8_t frame[TCP_FRAME_MAX];
	struct tcp_view t;
	struct eth_view v;
	size_t len;

	(void)state;
	s.vlan = 5;
	len = tcp_make(&s, frame);
	assert_int_equal(eth_parse(frame, len, &v), 0);
	assert_int_equal(tcp_parse(frame, len, &v, &t), 0);
	assert_true(tcp_refusal(&v, &t, &r));
	assert_int_equal(r.flags, TCP_RST);
	assert_int_equal(r.seq, 77);
	assert_int_equal(r.vlan, 5);
	assert_true(ip_equal(&r.dst, &s.src) && ip_equal(&r.src, &s.dst));
	assert_int_equal(r.dst_port, 40000);
	assert_memory_equal(&r.dst_mac, &HOST, sizeof(HOST));
	t.flags = TCP_SYN;
	t.end = t.seq + 1;
	assert_true(tcp_refusal(&v, &t, &r));
	assert_int_equal(r.flags, TCP_RST | TCP_ACK);
	assert_int_equal(r.ack, 0xffffffff);
	t.flags = TCP_RST | TCP_ACK;
	assert_false(tcp_refusal(&v, &t, &r));
}

static void test_other_frames(void **state)
{
	struct tcp_segment s = sample(false);
	uint8_t frame[TCP_FRAME_MAX];
	struct tcp_view t;
	size_t len = tcp_make(&s, frame);

	(void)state;
	frame[14 + 9] = 17;
	assert_int_equal(parse(frame, len, &t), -EBADMSG);
	frame[14 + 9] = 6;
	put_u16(frame + 14 + 6, 0x2000);
	assert_int_equal(parse(frame, len, &t), -EBADMSG);
	assert_true(seq_before(0xffffffff, 1));
	assert_false(seq_before(1, 0xffffffff));
	assert_false(seq_before(5, 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made_is_read), cmocka_unit_test(test_options),
		cmocka_unit_test(test_lengths),	     cmocka_unit_test(test_cut),
		cmocka_unit_test(test_raised_ts),    cmocka_unit_test(test_kept_ts),
		cmocka_unit_test(test_refusal),	     cmocka_unit_test(test_other_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
