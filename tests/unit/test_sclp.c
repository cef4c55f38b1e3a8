// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SCLP as published: the example of the paper byte for byte, both levels of reassembly, any order,
 * damage and limits. Also the exchange of doc/sclp.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define GOLDEN_DOCUMENT SOURCE_ROOT "/vyos-1x-leon/doc/sclp.md"
#include "golden.h"

#include "base/defs.h"
#include "wire/bytes.h"
#include "wire/frame/eth.h"
#include "format/sclp.h"

#define MSS	 1468
#define PORT	 4789
#define BATCH	 64
#define START	 ((mono_t){ 5 * NS_PER_S })
#define PAPER_ID 0x12345678u

/* Segments on the wire, and received segments. */
struct lab {
	uint8_t wire[BATCH][SCLP_HDR_LEN + MSS];
	size_t len[BATCH];
	struct sclp_segment seg[BATCH];
	struct sclp_run run[BATCH];
	unsigned n;
	uint8_t payload[SCLP_PAYLOAD_MAX];
	struct sclp_join *join;
};

static int setup(void **state)
{
	struct lab *l = calloc(1, sizeof(*l));

	for (size_t i = 0; i < sizeof(l->payload); i++)
		l->payload[i] = (uint8_t)(i * 7 + (i >> 8));
	l->join = sclp_join_new((struct hash_key){ 1, 2 });
	*state = l;
	return 0;
}

static int teardown(void **state)
{
	struct lab *l = *state;

	sclp_join_free(l->join);
	free(l);
	return 0;
}

/* Segments a payload into l->wire. Returns the number of segments. */
static unsigned cut(struct lab *l, uint32_t id, size_t len, size_t mss)
{
	struct sclp_cut c = { .len = len, .mss = mss };
	struct sclp_piece p;
	unsigned n = 0;

	while (sclp_cut_next(&c, &p)) {
		struct sclp_hdr h = { 0xcafe, PORT, id, p.first, p.remaining };

		assert_true(n < BATCH);
		sclp_encode(&h, l->payload + p.offset, p.len, l->wire[n]);
		memcpy(l->wire[n] + SCLP_HDR_LEN, l->payload + p.offset, p.len);
		l->len[n++] = SCLP_HDR_LEN + p.len;
	}
	return n;
}

/* Adds segment i of the wire to the batch. Returns false if the segment is damaged. */
static bool receive(struct lab *l, unsigned i)
{
	struct sclp_segment *s = &l->seg[l->n];

	if (sclp_decode(l->wire[i], l->len[i], &s->h) < 0)
		return false;
	s->data = l->wire[i] + SCLP_HDR_LEN;
	s->len = l->len[i] - SCLP_HDR_LEN;
	l->n++;
	return true;
}

/* Passes the batch through both levels. Returns the number of payloads, and the last one with its
 * length. */
static unsigned join(struct lab *l, mono_t now, const uint8_t **out, size_t *len)
{
	unsigned n_runs = sclp_merge(l->seg, l->n, l->run), n_out = 0;

	for (unsigned i = 0; i < n_runs; i++) {
		size_t n;
		const uint8_t *p = sclp_join_add(l->join, l->seg, &l->run[i], now, &n);

		if (!p)
			continue;
		*out = p;
		*len = n;
		n_out++;
	}
	l->n = 0;
	return n_out;
}

static void expect_whole(struct lab *l, size_t want)
{
	const uint8_t *out = NULL;
	size_t len = 0;

	assert_int_equal(join(l, START, &out, &len), 1);
	assert_int_equal(len, want);
	assert_memory_equal(out, l->payload, want);
	assert_int_equal(sclp_join_waiting(l->join), 0);
}

/* Expects one payload. A duplicate segment may remain for one second. */
static void expect_whole_once(struct lab *l, size_t want)
{
	const uint8_t *out = NULL;
	size_t len = 0;

	assert_int_equal(join(l, START, &out, &len), 1);
	assert_int_equal(len, want);
	sclp_join_age(l->join, mono_add_ms(START, 1000));
	assert_int_equal(sclp_join_waiting(l->join), 0);
}

static void expect_nothing(struct lab *l, mono_t now)
{
	const uint8_t *out;
	size_t len;

	assert_int_equal(join(l, now, &out, &len), 0);
}

/* --- Figure 4: 3000 bytes, MSS 1468 --- */

static void the_example_of_the_paper(void **state)
{
	/* Source port, destination port 4789, identification 0x12345678 with F in its lowest bit,
	 * remaining. */
	static const uint8_t want[3][10] = {
		{ 0xca, 0xfe, 0x12, 0xb5, 0x12, 0x34, 0x56, 0x79, 0x05, 0xfc }, /* 1532 */
		{ 0xca, 0xfe, 0x12, 0xb5, 0x12, 0x34, 0x56, 0x78, 0x00, 0x40 }, /* 64 */
		{ 0xca, 0xfe, 0x12, 0xb5, 0x12, 0x34, 0x56, 0x78, 0x00, 0x00 },
	};
	static const size_t want_len[3] = { 1468, 1468, 64 };
	struct lab *l = *state;
	size_t at = 0;

	assert_int_equal(cut(l, PAPER_ID, 3000, MSS), 3);
	for (unsigned i = 0; i < 3; i++) {
		uint32_t sum = 0;

		assert_memory_equal(l->wire[i], want[i], sizeof(want[i]));
		assert_int_equal(l->len[i], SCLP_HDR_LEN + want_len[i]);
		assert_memory_equal(l->wire[i] + SCLP_HDR_LEN, l->payload + at, want_len[i]);
		at += want_len[i];
		/* One's complement over header and payload, word by word. */
		for (size_t k = 0; k < l->len[i]; k += 2)
			sum += get_u16(l->wire[i] + k);
		while (sum >> 16)
			sum = (sum & 0xffff) + (sum >> 16);
		assert_int_equal(sum, 0xffff);
	}
	/* Figure 5. */
	for (unsigned i = 0; i < 3; i++)
		assert_true(receive(l, i));
	expect_whole(l, 3000);
}

static void one_after_the_other(void **state)
{
	struct lab *l = *state;

	cut(l, PAPER_ID, 3000, MSS);
	receive(l, 0);
	expect_nothing(l, START);
	receive(l, 1);
	expect_nothing(l, START);
	assert_int_equal(sclp_join_waiting(l->join), 1);
	receive(l, 2);
	expect_whole(l, 3000);
	assert_int_equal(sclp_join_counts(l->join)->out_of_order, 0);
}

/* Figure 6, and every other order, in batches of every size. */
static void any_order(void **state)
{
	static const uint8_t order[][4] = {
		{ 0, 1, 2, 3 }, { 0, 1, 3, 2 }, { 0, 2, 1, 3 }, { 0, 2, 3, 1 }, { 0, 3, 1, 2 },
		{ 0, 3, 2, 1 }, { 1, 0, 2, 3 }, { 1, 0, 3, 2 }, { 1, 2, 0, 3 }, { 1, 2, 3, 0 },
		{ 1, 3, 0, 2 }, { 1, 3, 2, 0 }, { 2, 0, 1, 3 }, { 2, 0, 3, 1 }, { 2, 1, 0, 3 },
		{ 2, 1, 3, 0 }, { 2, 3, 0, 1 }, { 2, 3, 1, 0 }, { 3, 0, 1, 2 }, { 3, 0, 2, 1 },
		{ 3, 1, 0, 2 }, { 3, 1, 2, 0 }, { 3, 2, 0, 1 }, { 3, 2, 1, 0 },
	};
	struct lab *l = *state;

	for (unsigned o = 0; o < array_size(order); o++) {
		for (unsigned batch = 1; batch <= 4; batch++) {
			cut(l, 2 * o, 3 * MSS + 100, MSS);
			for (unsigned i = 0; i < 3; i++) {
				assert_true(receive(l, order[o][i]));
				if (l->n == batch)
					expect_nothing(l, START);
			}
			assert_true(receive(l, order[o][3]));
			expect_whole(l, 3 * MSS + 100);
		}
	}
	assert_true(sclp_join_counts(l->join)->out_of_order > 0);
	assert_int_equal(sclp_join_counts(l->join)->contradictory, 0);
}

static void the_largest_and_the_smallest(void **state)
{
	struct lab *l = *state;
	unsigned n = cut(l, PAPER_ID, SCLP_PAYLOAD_MAX, MSS);
	struct sclp_hdr h;

	assert_int_equal(n, 45);
	for (unsigned i = 0; i < n; i++)
		receive(l, i);
	/* Three runs, because the first level joins at most sixteen segments. */
	assert_int_equal(sclp_merge(l->seg, l->n, l->run), 3);
	expect_whole(l, SCLP_PAYLOAD_MAX);
	cut(l, PAPER_ID, 1, MSS);
	receive(l, 0);
	expect_whole(l, 1);
	/* A multiple of the MSS has no empty segment at its end. */
	assert_int_equal(cut(l, PAPER_ID, 2 * MSS, MSS), 2);
	receive(l, 0);
	receive(l, 1);
	expect_whole(l, 2 * MSS);
	assert_int_equal(cut(l, PAPER_ID, 0, MSS), 0);
	assert_true(sclp_decode(l->wire[0], SCLP_HDR_LEN, &h) < 0);
}

static void the_network_doubles(void **state)
{
	static const uint8_t order[] = { 0, 1, 1, 2, 0, 2, 3 };
	struct lab *l = *state;

	for (unsigned batch = 1; batch <= array_size(order); batch++) {
		cut(l, 2 * batch, 3 * MSS + 100, MSS);
		for (unsigned i = 0; i + 1 < array_size(order); i++) {
			receive(l, order[i]);
			if (l->n == batch)
				expect_nothing(l, START);
		}
		receive(l, order[array_size(order) - 1]);
		expect_whole_once(l, 3 * MSS + 100);
	}
	assert_int_equal(sclp_join_counts(l->join)->contradictory, 0);
	assert_true(sclp_join_counts(l->join)->duplicate > 0);
	/* Two batches overlap, and the later one has more segments. */
	cut(l, 100, 4 * MSS, MSS);
	receive(l, 2);
	receive(l, 3);
	expect_nothing(l, START);
	receive(l, 0);
	receive(l, 1);
	receive(l, 2);
	expect_whole(l, 4 * MSS);
}

/* --- refused segments --- */

static void damage_is_noticed(void **state)
{
	struct lab *l = *state;
	struct sclp_hdr h;

	cut(l, PAPER_ID, 3000, MSS);
	for (unsigned i = 0; i < 3; i++) {
		for (size_t bit = 0; bit < 8 * l->len[i]; bit++) {
			l->wire[i][bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_true(sclp_decode(l->wire[i], l->len[i], &h) < 0);
			l->wire[i][bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
	/* Truncated: the missing bytes are not zero. */
	for (size_t len = 0; len < l->len[2]; len++)
		assert_true(sclp_decode(l->wire[2], len, &h) < 0);
	receive(l, 0);
	l->wire[1][500] ^= 4;
	assert_false(receive(l, 1));
	receive(l, 2);
	expect_nothing(l, START);
}

static void padding_is_trimmed(void **state)
{
	/* A last segment of 6 bytes: 38 bytes of IP, which Ethernet pads to 46. */
	uint8_t packet[46] = { 0x45, 0, 0, 38, 0, 0, 0x40, 0, 64, SCLP_PROTOCOL };
	struct lab *l = *state;
	struct sclp_hdr h;
	const uint8_t *segment;
	size_t len;

	cut(l, PAPER_ID, MSS + 6, MSS);
	memcpy(packet + 20, l->wire[1], l->len[1]);
	memset(packet + 38, 0x5a, 8);
	segment = sclp_in_ipv4(packet, sizeof(packet), &len);
	assert_ptr_equal(segment, packet + 20);
	assert_int_equal(len, 18);
	assert_int_equal(sclp_decode(segment, len, &h), 0);
	assert_int_equal(h.remaining, 0);
	/* IP options, another protocol, fragments, and impossible lengths. */
	packet[0] = 0x46;
	segment = sclp_in_ipv4(packet, sizeof(packet), &len);
	assert_ptr_equal(segment, packet + 24);
	packet[0] = 0x44;
	assert_null(sclp_in_ipv4(packet, sizeof(packet), &len));
	packet[0] = 0x65;
	assert_null(sclp_in_ipv4(packet, sizeof(packet), &len));
	packet[0] = 0x45;
	packet[9] = 17;
	assert_null(sclp_in_ipv4(packet, sizeof(packet), &len));
	packet[9] = SCLP_PROTOCOL;
	packet[6] = 0x20;
	assert_null(sclp_in_ipv4(packet, sizeof(packet), &len));
	packet[6] = 0x40;
	packet[3] = 47;
	assert_null(sclp_in_ipv4(packet, sizeof(packet), &len));
	packet[3] = 19;
	assert_null(sclp_in_ipv4(packet, sizeof(packet), &len));
	assert_null(sclp_in_ipv4(packet, 19, &len));
}

/* Equal identification: only the source port differs. */
static void payloads_do_not_mix(void **state)
{
	struct lab *l = *state;

	cut(l, PAPER_ID, 2 * MSS, MSS);
	receive(l, 0);
	receive(l, 1);
	l->seg[1].h.source++;
	expect_nothing(l, START);
	assert_int_equal(sclp_join_waiting(l->join), 2);
	receive(l, 1);
	cut(l, PAPER_ID + 2, 2 * MSS, MSS);
	receive(l, 1);
	{
		const uint8_t *out;
		size_t len;

		assert_int_equal(join(l, START, &out, &len), 1);
	}
	assert_int_equal(sclp_join_waiting(l->join), 2);
}

static void contradictions_end_a_payload(void **state)
{
	struct lab *l = *state;
	struct sclp_hdr h = { 0xcafe, PORT, PAPER_ID, false, 100 };

	/* The segment overlaps a half of a present segment. */
	cut(l, PAPER_ID, 3 * MSS, MSS);
	receive(l, 0);
	receive(l, 1);
	expect_nothing(l, START);
	h.remaining = MSS / 2;
	sclp_encode(&h, l->payload, MSS, l->wire[3]);
	memcpy(l->wire[3] + SCLP_HDR_LEN, l->payload, MSS);
	l->len[3] = SCLP_HDR_LEN + MSS;
	receive(l, 3);
	expect_nothing(l, START);
	assert_int_equal(sclp_join_counts(l->join)->contradictory, 1);
	assert_int_equal(sclp_join_waiting(l->join), 0);
	/* A second first segment with another size. */
	cut(l, PAPER_ID, 3 * MSS, MSS);
	receive(l, 0);
	expect_nothing(l, START);
	cut(l, PAPER_ID, 2 * MSS, MSS);
	receive(l, 0);
	expect_nothing(l, START);
	assert_int_equal(sclp_join_counts(l->join)->contradictory, 2);
	/* More than the largest payload. */
	h.remaining = 65535;
	sclp_encode(&h, l->payload, 1, l->wire[0]);
	assert_true(sclp_decode(l->wire[0], SCLP_HDR_LEN + 1, &h) < 0);
}

/* --- limits --- */

static void half_open_payloads_die_in_a_second(void **state)
{
	struct lab *l = *state;

	for (uint32_t i = 0; i < SCLP_JOIN_MAX; i++) {
		cut(l, 2 * i, 200, 100);
		receive(l, i % 2);
		expect_nothing(l, mono_add_us(START, i));
	}
	assert_int_equal(sclp_join_waiting(l->join), SCLP_JOIN_MAX);
	/* One more payload displaces the oldest. */
	cut(l, 2 * SCLP_JOIN_MAX, 200, 100);
	receive(l, 0);
	expect_nothing(l, mono_add_us(START, SCLP_JOIN_MAX));
	assert_int_equal(sclp_join_waiting(l->join), SCLP_JOIN_MAX);
	assert_int_equal(sclp_join_counts(l->join)->evicted, 1);
	/* The youngest payload can still be completed. */
	receive(l, 1);
	{
		const uint8_t *out;
		size_t len;

		assert_int_equal(join(l, mono_add_us(START, SCLP_JOIN_MAX), &out, &len), 1);
	}
	sclp_join_age(l->join, mono_add_ms(START, 1000));
	assert_in_range(sclp_join_waiting(l->join), SCLP_JOIN_MAX - 2, SCLP_JOIN_MAX - 1);
	sclp_join_age(l->join, mono_add_us(START, 1000000 + SCLP_JOIN_MAX));
	assert_int_equal(sclp_join_waiting(l->join), 0);
	/* One payload was completed. */
	assert_int_equal(sclp_join_counts(l->join)->expired, SCLP_JOIN_MAX - 1);
	assert_int_equal(sclp_join_counts(l->join)->evicted, 1);
	/* A late segment begins a payload without a first segment. */
	cut(l, 2, 200, 100);
	receive(l, 1);
	expect_nothing(l, mono_add_ms(START, 2000));
	assert_int_equal(sclp_join_waiting(l->join), 1);
}

static void large_ones_have_a_bound_of_bytes(void **state)
{
	struct lab *l = *state;

	for (uint32_t i = 0; i < SCLP_JOIN_MAX; i++) {
		cut(l, 2 * i, 2 * MSS, MSS);
		receive(l, 0);
		expect_nothing(l, START);
	}
	assert_in_range(sclp_join_waiting(l->join), 5000, SCLP_JOIN_BYTES / MSS);
	/* The memory of all payloads is free again. */
	sclp_join_age(l->join, mono_add_ms(START, 1000));
	for (unsigned i = 0; i < 4; i++) {
		unsigned n = cut(l, 2 * i, SCLP_PAYLOAD_MAX, MSS);

		while (n > 0)
			receive(l, --n);
		expect_whole(l, SCLP_PAYLOAD_MAX);
	}
}

/* Receives segment i, which is not the first of its payload. */
static void receive_part(struct lab *l, unsigned i, uint32_t id, size_t len, unsigned remaining)
{
	struct sclp_hdr h = { 0xcafe, PORT, id, false, (uint16_t)remaining };

	sclp_encode(&h, l->payload, len, l->wire[i]);
	memcpy(l->wire[i] + SCLP_HDR_LEN, l->payload, len);
	l->len[i] = SCLP_HDR_LEN + len;
	assert_true(receive(l, i));
}

static void segments_of_one_payload_have_a_bound(void **state)
{
	struct lab *l = *state;

	/* Every second byte, so that no segments join. */
	for (unsigned i = 0; i < SCLP_JOIN_SEGMENTS + 1; i++) {
		receive_part(l, 0, PAPER_ID, 1, 2 * i);
		expect_nothing(l, START);
		assert_int_equal(sclp_join_waiting(l->join), i < SCLP_JOIN_SEGMENTS);
	}
}

/* A run beyond the bound of its payload is refused, also one segment at a time. */
static void the_bound_applies_to_runs(void **state)
{
	struct lab *l = *state;

	for (uint32_t i = 0; i < SCLP_JOIN_MAX; i++) {
		receive_part(l, 0, 2 * i, 1, 1);
		expect_nothing(l, START);
	}
	for (unsigned i = 0; i < SCLP_JOIN_SEGMENTS; i++) {
		receive_part(l, 0, PAPER_ID, 1, 2 * i);
		expect_nothing(l, START);
	}
	for (unsigned i = 0; i < SCLP_MERGE_MAX; i++)
		receive_part(l, i, PAPER_ID, 117, 20000 - 117 * i);
	expect_nothing(l, START);
	assert_int_equal(sclp_join_counts(l->join)->contradictory, 1);
}

/* --- doc/sclp.md --- */

/* Two leon-sclp with an MTU of 128: an ICMP echo of 200 bytes, with its frame in VXLAN. */
static void the_captured_exchange(void **state)
{
	static const char *const names[] = { "sclp-segment-1", "sclp-segment-2", "sclp-segment-3" };
	static const struct {
		bool first;
		uint16_t remaining;
		size_t len;
	} want[] = { { true, 154, 96 }, { false, 58, 96 }, { false, 0, 58 } };
	struct lab *l = *state;
	const uint8_t *out = NULL, *frame;
	struct eth_view v;
	size_t len = 0;

	for (unsigned i = 0; i < array_size(names); i++) {
		uint8_t packet[GOLDEN_MAX];
		size_t n = golden(names[i], packet);
		const uint8_t *segment = sclp_in_ipv4(packet, n, &l->len[i]);

		assert_non_null(segment);
		assert_int_equal(n, 20 + SCLP_HDR_LEN + want[i].len);
		memcpy(l->wire[i], segment, l->len[i]);
		assert_true(receive(l, i));
		assert_int_equal(l->seg[i].h.dest, PORT);
		assert_int_equal(l->seg[i].h.first, want[i].first);
		assert_int_equal(l->seg[i].h.remaining, want[i].remaining);
		assert_int_equal(l->seg[i].h.id, l->seg[0].h.id);
		assert_int_equal(l->seg[i].h.source, l->seg[0].h.source);
	}
	assert_int_equal(join(l, START, &out, &len), 1);
	assert_int_equal(len, 250);
	/* VXLAN (RFC 7348) with VNI 7, and the frame. */
	assert_memory_equal(out, "\x08\0\0\0\0\0\x07\0", 8);
	frame = out + 8;
	assert_int_equal(eth_parse(frame, len - 8, &v), 0);
	assert_int_equal(v.ip_version, 4);
	assert_int_equal(v.ip_proto, 1);
	assert_int_equal(frame[v.l4_offset], 8); /* echo request */
	assert_int_equal(get_u16(frame + 16), 228);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_example_of_the_paper),
		T(one_after_the_other),
		T(any_order),
		T(the_largest_and_the_smallest),
		T(the_network_doubles),
		T(damage_is_noticed),
		T(padding_is_trimmed),
		T(payloads_do_not_mix),
		T(contradictions_end_a_payload),
		T(half_open_payloads_die_in_a_second),
		T(large_ones_have_a_bound_of_bytes),
		T(segments_of_one_payload_have_a_bound),
		T(the_bound_applies_to_runs),
		T(the_captured_exchange),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
