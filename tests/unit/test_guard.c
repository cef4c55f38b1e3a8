// SPDX-License-Identifier: GPL-2.0-or-later
/* wire/guard: the loop-guard frame; its authenticator is checked in test_keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "wire/eth.h"
#include "wire/guard.h"

static const struct guard_frame sample = {
	.src = { { 0x02, 0, 0, 0, 0, 0x01 } },
	.vni = 0x012345,
	.node = 0xc0000201,
	.incarnation = 0x0102030405060708ULL,
	.auth = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
};

static void test_round_trip(void **state)
{
	uint8_t buf[GUARD_FRAME_LEN];
	struct guard_frame back;
	struct eth_view v;

	(void)state;
	memset(buf, 0xa5, sizeof(buf));
	guard_encode(&sample, buf);
	assert_int_equal(guard_decode(buf, sizeof(buf), &back), 0);
	assert_memory_equal(back.src.b, sample.src.b, MAC_LEN);
	assert_int_equal(back.vni, sample.vni);
	assert_int_equal(back.node, sample.node);
	assert_int_equal(back.incarnation, sample.incarnation);
	assert_memory_equal(back.auth, sample.auth, GUARD_AUTH_LEN);
	for (size_t i = GUARD_SIGNED_LEN + GUARD_AUTH_LEN; i < GUARD_FRAME_LEN; i++)
		assert_int_equal(buf[i], 0);
	/* It is a frame like any other, of the type that the packet path looks for. */
	assert_int_equal(eth_parse(buf, sizeof(buf), &v), 0);
	assert_int_equal(v.ethertype, GUARD_TYPE);
	assert_true(mac_is_multicast(v.dst));
	assert_false(eth_is_link_local_control(v.dst));
}

static void test_truncated(void **state)
{
	uint8_t buf[GUARD_FRAME_LEN];
	struct guard_frame back;

	(void)state;
	guard_encode(&sample, buf);
	for (size_t len = 0; len < GUARD_FRAME_LEN; len++) {
		int want = len < 22				     ? -ENOMSG
			   : len < GUARD_SIGNED_LEN + GUARD_AUTH_LEN ? -EBADMSG
								     : 0;

		assert_int_equal(guard_decode(buf, len, &back), want);
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
	assert_int_equal(decode_with(13, 41), -ENOMSG);	  /* length */
	assert_int_equal(decode_with(14, 0xab), -ENOMSG); /* LLC */
	assert_int_equal(decode_with(17, 0), -ENOMSG);	  /* whose identifier */
	assert_int_equal(decode_with(18, 'l'), -ENOMSG);
	assert_int_equal(decode_with(22, 2), -EBADMSG);	  /* version */
	assert_int_equal(decode_with(6, 0x03), -EBADMSG); /* source is a group */
	none.node = NODE_ID_NONE;
	guard_encode(&none, buf);
	assert_int_equal(guard_decode(buf, sizeof(buf), &back), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
