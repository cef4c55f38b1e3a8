// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wire/datagram/leon: the header agrees with the document, and each violation of a rule is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"
#include "wire/datagram/leon.h"

#define NODE_A 0xc0000201u /* 192.0.2.1 */
#define NODE_B 0xc6336402u /* 198.51.100.2 */
#define NODE_C 0xcb007103u /* 203.0.113.3 */
#define NODE_D 0x0a000004u /* 10.0.0.4 */
#define NODE_E 0x0a000005u /* 10.0.0.5 */

static const struct leon_hdr direct = {
	.kind = LEON_FRAME, .n_hops = 1, .vni = 0x012345, .source = NODE_A, .hop = { NODE_B }
};
static const struct leon_hdr relayed = { .kind = LEON_FRAGMENT,
					 .flags = LEON_F_CSUM_PARTIAL,
					 .n_hops = 3,
					 .at = 1,
					 .vni = 0xfffffe,
					 .source = NODE_A,
					 .hop = { NODE_C, NODE_D, NODE_B } };
static const struct leon_hdr longest = { .kind = LEON_CONTROL,
					 .flags = LEON_F_SEALED,
					 .n_hops = LEON_HOPS_MAX,
					 .at = 3,
					 .source = NODE_A,
					 .hop = { NODE_B, NODE_C, NODE_D, NODE_E } };

static void assert_same(const struct leon_hdr *a, const struct leon_hdr *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->n_hops, b->n_hops);
	assert_int_equal(a->at, b->at);
	assert_int_equal(a->vni, b->vni);
	assert_int_equal(a->source, b->source);
	assert_memory_equal(a->hop, b->hop, sizeof(a->hop));
}

static enum leon_parse decode(const void *data, size_t len, struct leon_hdr *h)
{
	size_t hdr_len = 0;
	enum leon_parse result;

	memset(h, 0xa5, sizeof(*h));
	result = leon_decode(data, len, h, &hdr_len);
	if (result == LEON_OK)
		assert_int_equal(hdr_len,
				 LEON_HDR_LEN(h->n_hops) +
					 (h->flags & LEON_F_LINK_VALUE ? LEON_LINK_LEN : 0));
	return result;
}

static void round_trip(const struct leon_hdr *h)
{
	uint8_t buf[LEON_HDR_LEN_MAX + 1] = { 0 };
	struct leon_hdr back;

	assert_int_equal(leon_encode(h, buf), LEON_HDR_LEN(h->n_hops));
	assert_int_equal(decode(buf, LEON_HDR_LEN(h->n_hops), &back), LEON_OK);
	assert_same(h, &back);
	/* A payload after the header changes nothing. */
	assert_int_equal(decode(buf, LEON_HDR_LEN(h->n_hops) + 1, &back), LEON_OK);
	for (size_t len = 0; len < LEON_HDR_LEN(h->n_hops); len++)
		assert_int_equal(decode(buf, len, &back), LEON_TRUNCATED);
}

static void test_round_trip(void **state)
{
	(void)state;
	round_trip(&direct);
	round_trip(&relayed);
	round_trip(&longest);
}

static void test_document(void **state)
{
	uint8_t buf[LEON_HDR_LEN_MAX];

	(void)state;
	assert_golden("header-direct", buf, leon_encode(&direct, buf));
	assert_golden("header-relayed", buf, leon_encode(&relayed, buf));
}

/* Encodes a valid header, damages one byte, and expects one verdict. */
static void expect(const struct leon_hdr *h, size_t at, uint8_t value, enum leon_parse verdict)
{
	uint8_t buf[LEON_HDR_LEN_MAX + LEON_LINK_LEN] = { 0 };
	struct leon_hdr back;

	leon_encode(h, buf);
	buf[at] = value;
	assert_int_equal(decode(buf, sizeof(buf), &back), verdict);
}

static void test_version_kind_flags(void **state)
{
	(void)state;
	for (unsigned version = 0; version < 16; version++)
		expect(&direct, 0, (uint8_t)(version << 4 | LEON_FRAME),
		       version == LEON_VERSION ? LEON_OK : LEON_BAD_VERSION);
	for (unsigned kind = 0; kind < 16; kind++)
		expect(&direct, 0, (uint8_t)(LEON_VERSION << 4 | kind),
		       kind >= LEON_FRAME && kind <= LEON_INVITATION ? LEON_OK : LEON_BAD_HEADER);
	for (unsigned flags = 0; flags < 256; flags++)
		expect(&direct, 1, (uint8_t)flags,
		       flags & ~LEON_FLAGS_KNOWN ? LEON_BAD_HEADER : LEON_OK);
}

static void test_link_value(void **state)
{
	uint8_t buf[LEON_HDR_LEN_MAX + LEON_LINK_LEN] = { 0 }, covered[LEON_HDR_LEN_MAX];
	struct leon_hdr h = relayed, back;
	size_t len = LEON_HDR_LEN(h.n_hops);

	(void)state;
	h.flags |= LEON_F_LINK_VALUE | LEON_F_SEALED;
	leon_encode(&h, buf);
	for (size_t n = len; n < len + LEON_LINK_LEN; n++)
		assert_int_equal(decode(buf, n, &back), LEON_TRUNCATED);
	assert_int_equal(decode(buf, len + LEON_LINK_LEN, &back), LEON_OK);
	assert_int_equal(leon_link_at(&back), len);
	/* A seal covers all bytes except those that relays change. */
	assert_int_equal(leon_sealed_header(buf, h.n_hops, covered), len);
	buf[1] &= (uint8_t)~LEON_F_LINK_VALUE;
	buf[LEON_HOPS_OFFSET] &= 0xf0;
	assert_memory_equal(covered, buf, len);
}

static void test_link_value_in_and_out(void **state)
{
	uint8_t buf[LEON_HDR_LEN_MAX + LEON_LINK_LEN + 7] = { 0 }, before[sizeof(buf)], *now;
	size_t hdr_len = leon_encode(&relayed, buf), len = hdr_len + 7;
	struct leon_hdr back;

	(void)state;
	memcpy(buf + hdr_len, "payload", 7);
	memcpy(before, buf, len);
	assert_int_equal(leon_insert_link(buf, len, relayed.n_hops, 0x1122334455667788ULL),
			 len + LEON_LINK_LEN);
	assert_int_equal(decode(buf, len + LEON_LINK_LEN, &back), LEON_OK);
	assert_int_equal(back.flags, relayed.flags | LEON_F_LINK_VALUE);
	assert_memory_equal(buf + hdr_len, "\x11\x22\x33\x44\x55\x66\x77\x88payload", 15);
	now = leon_remove_link(buf, relayed.n_hops);
	assert_memory_equal(now, before, len);
}

static void test_hops_and_at(void **state)
{
	uint8_t buf[LEON_HDR_LEN(15)] = { 0 };
	struct leon_hdr back;

	(void)state;
	leon_encode(&longest, buf);
	for (unsigned hops = 0; hops < 16; hops++) {
		for (unsigned at = 0; at < 16; at++) {
			bool good = hops >= 1 && hops <= LEON_HOPS_MAX && at < hops;

			buf[LEON_HOPS_OFFSET] = (uint8_t)(hops << 4 | at);
			assert_int_equal(decode(buf, sizeof(buf), &back),
					 good ? LEON_OK : LEON_BAD_HEADER);
		}
	}
}

static void test_path_rules(void **state)
{
	uint8_t buf[LEON_HDR_LEN_MAX];
	struct leon_hdr h, back;

	(void)state;
	for (unsigned i = 0; i < LEON_HOPS_MAX; i++) {
		h = longest;
		h.hop[i] = h.source;
		leon_encode(&h, buf);
		assert_int_equal(decode(buf, sizeof(buf), &back), LEON_PATH_LOOP);
		h.hop[i] = NODE_ID_NONE;
		leon_encode(&h, buf);
		assert_int_equal(decode(buf, sizeof(buf), &back), LEON_BAD_HEADER);
		for (unsigned j = 0; j < i; j++) {
			h = longest;
			h.hop[i] = h.hop[j];
			leon_encode(&h, buf);
			assert_int_equal(decode(buf, sizeof(buf), &back), LEON_PATH_LOOP);
		}
	}
	h = longest;
	h.source = NODE_ID_NONE;
	leon_encode(&h, buf);
	assert_int_equal(decode(buf, sizeof(buf), &back), LEON_BAD_HEADER);
	/* Hops after the last listed one are payload and may have any value. */
	h = longest;
	h.n_hops = 2;
	h.at = 1;
	h.hop[2] = h.source;
	leon_encode(&longest, buf);
	leon_encode(&h, buf);
	assert_int_equal(decode(buf, sizeof(buf), &back), LEON_OK);
}

static void test_positions(void **state)
{
	struct leon_hdr h = relayed;

	(void)state;
	h.at = 0;
	assert_int_equal(leon_previous(&h), NODE_A);
	assert_int_equal(leon_next(&h), NODE_C);
	assert_false(leon_is_last(&h));
	h.at = 2;
	assert_int_equal(leon_previous(&h), NODE_D);
	assert_int_equal(leon_next(&h), NODE_B);
	assert_true(leon_is_last(&h));
	assert_int_equal(leon_destination(&h), NODE_B);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_version_kind_flags),
		cmocka_unit_test(test_link_value),
		cmocka_unit_test(test_link_value_in_and_out),
		cmocka_unit_test(test_hops_and_at),
		cmocka_unit_test(test_path_rules),
		cmocka_unit_test(test_positions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
