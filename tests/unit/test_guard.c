// SPDX-License-Identifier: GPL-2.0-or-later
/* wire/frame/guard: the guard frame. test_keys tests its authenticator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/frame/eth.h"
#include "wire/frame/guard.h"

static const struct guard_frame sample = {
	.src = { { 0x02, 0, 0, 0, 0, 0x01 } },
	.vni = 0x012345,
	.node = 0xc0000201,
	.incarnation = 0x0102030405060708ULL,
	.sequence = 0x1112131415161718ULL,
	.segment = 0x0abcde,
	.flags = GUARD_READY | GUARD_FORWARDS,
	.received = { 0xc0000202, 0xc0000203, 4, 5, 6, 7, 8, 9 },
	.auth = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
};

static struct guard_frame tagged(uint16_t tag)
{
	struct guard_frame g = sample;

	g.tag = tag;
	return g;
}

static void test_round_trip(void **state)
{
	(void)state;
	for (uint16_t tag = 0; tag < 4096; tag += 819) {
		struct guard_frame g = tagged(tag), back = { 0 };
		uint8_t buf[GUARD_FRAME_MAX];
		size_t len = guard_encode(&g, buf);
		struct eth_view v;

		assert_int_equal(len, tag ? GUARD_FRAME_MAX : GUARD_FRAME_LEN);
		assert_int_equal(guard_decode(buf, len, &back), 0);
		assert_memory_equal(back.src.b, g.src.b, MAC_LEN);
		assert_int_equal(back.tag, tag);
		assert_int_equal(back.vni, g.vni);
		assert_int_equal(back.node, g.node);
		assert_int_equal(back.incarnation, g.incarnation);
		assert_int_equal(back.sequence, g.sequence);
		assert_int_equal(back.segment, g.segment);
		assert_int_equal(back.flags, g.flags);
		assert_memory_equal(back.received, g.received, sizeof(g.received));
		assert_memory_equal(back.auth, g.auth, GUARD_AUTH_LEN);
		/* The frame is valid Ethernet, of the kind that the packet path detects. */
		assert_int_equal(eth_parse(buf, len, &v), 0);
		assert_true(v.ethertype < ETH_TYPE_MIN);
		assert_int_equal(v.vlan, tag);
		assert_true(mac_is_multicast(v.dst));
		assert_false(eth_is_link_local_control(v.dst));
	}
}

static void test_truncated(void **state)
{
	(void)state;
	for (uint16_t tag = 0; tag < 20; tag += 10) {
		struct guard_frame g = tagged(tag), back;
		uint8_t buf[GUARD_FRAME_MAX];
		size_t whole = guard_encode(&g, buf), header = tag ? 26 : 22;

		for (size_t len = 0; len <= whole; len++) {
			int want = len < header ? -ENOMSG : len < whole ? -EBADMSG : 0;

			assert_int_equal(guard_decode(buf, len, &back), want);
		}
	}
}

static int decode_with(size_t at, uint8_t value)
{
	uint8_t buf[GUARD_FRAME_LEN];
	struct guard_frame back;

	guard_encode(&sample, buf);
	buf[at] = value;
	return guard_decode(buf, sizeof(buf), &back);
}

static void test_damaged(void **state)
{
	struct guard_frame none = sample, back;
	uint8_t buf[GUARD_FRAME_LEN];

	(void)state;
	assert_int_equal(decode_with(0, 0x01), -ENOMSG); /* destination */
	assert_int_equal(decode_with(5, 0x01), -ENOMSG);
	assert_int_equal(decode_with(12, 6), -ENOMSG);	  /* an EtherType */
	assert_int_equal(decode_with(13, 41), -EBADMSG);  /* length of another version */
	assert_int_equal(decode_with(14, 0xab), -ENOMSG); /* LLC */
	assert_int_equal(decode_with(17, 0), -ENOMSG);	  /* LLC identifier */
	assert_int_equal(decode_with(18, 'l'), -ENOMSG);
	assert_int_equal(decode_with(22, 2), -EBADMSG);	  /* version */
	assert_int_equal(decode_with(6, 0x03), -EBADMSG); /* source is a group */
	none.node = NODE_ID_NONE;
	guard_encode(&none, buf);
	assert_int_equal(guard_decode(buf, sizeof(buf), &back), -EBADMSG);
}

static void test_steps_of_the_interval(void **state)
{
	(void)state;
	for (uint32_t ms = 100; ms <= 60000; ms++) {
		uint8_t flags = guard_interval_flags(ms);

		assert_int_equal(flags & ~GUARD_INTERVAL, 0);
		assert_in_range(guard_interval_of(flags | GUARD_READY), ms, 2 * ms - 1);
	}
	assert_int_equal(guard_interval_of(GUARD_READY | GUARD_FORWARDS), 0);
	assert_int_equal(guard_interval_of(0xff), guard_interval_of(0xb0));
}

/* A port that removes or replaces the tag does not change the signed bytes. */
static void test_signed_is_without_the_tag(void **state)
{
	struct guard_frame g = tagged(10), back;
	uint8_t with[GUARD_FRAME_MAX], without[GUARD_FRAME_MAX];

	(void)state;
	guard_encode(&g, with);
	guard_encode(&sample, without);
	assert_memory_equal(guard_signed(with), guard_signed(without), GUARD_SIGNED_LEN);
	put_u16(with + 2 * MAC_LEN, ETHERTYPE_DOT1AD);
	assert_int_equal(guard_decode(with, sizeof(with), &back), 0);
	assert_int_equal(back.tag, 10);
	assert_memory_equal(guard_signed(with), guard_signed(without), GUARD_SIGNED_LEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_steps_of_the_interval),
		cmocka_unit_test(test_signed_is_without_the_tag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
