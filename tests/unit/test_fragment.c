// SPDX-License-Identifier: GPL-2.0-or-later
/* wire/datagram/leon, fragments: the fragment header, at both ends of every range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "golden.h"
#include "wire/datagram/leon.h"

static int decode(uint16_t offset, uint16_t total, size_t piece_len)
{
	static uint8_t buf[FRAGMENT_HDR_LEN + 65536];
	struct fragment_hdr h = { 0x12345678, offset, total }, back;
	int err;

	fragment_encode(&h, buf);
	err = fragment_decode(buf, FRAGMENT_HDR_LEN + piece_len, &back);
	if (!err) {
		assert_int_equal(back.id, h.id);
		assert_int_equal(back.offset, h.offset);
		assert_int_equal(back.total, h.total);
	}
	return err;
}

static void test_document(void **state)
{
	struct fragment_hdr h = { 0x12345678, 1384, 3000 };
	uint8_t buf[FRAGMENT_HDR_LEN];

	(void)state;
	fragment_encode(&h, buf);
	assert_golden("fragment", buf, sizeof(buf));
}

static void test_good(void **state)
{
	(void)state;
	assert_int_equal(decode(0, 1, 1), 0);
	assert_int_equal(decode(0, 3000, 1468), 0);
	assert_int_equal(decode(2936, 3000, 64), 0);
	assert_int_equal(decode(FRAGMENT_FRAME_MAX - 1, FRAGMENT_FRAME_MAX, 1), 0);
}

static void test_bad(void **state)
{
	struct fragment_hdr h;
	uint8_t buf[FRAGMENT_HDR_LEN] = { 0, 0, 0, 1, 0, 0, 0, 10 };

	(void)state;
	assert_int_equal(decode(0, 0, 1), -EBADMSG);
	assert_int_equal(decode(0, FRAGMENT_FRAME_MAX + 1, 1), -EBADMSG);
	assert_int_equal(decode(0, 10, 0), -EBADMSG);
	assert_int_equal(decode(0, 10, 11), -EBADMSG);
	assert_int_equal(decode(10, 10, 1), -EBADMSG);
	assert_int_equal(decode(9, 10, 2), -EBADMSG);
	/* Sums beyond 16 bits. */
	assert_int_equal(decode(65535, 9000, 1), -EBADMSG);
	assert_int_equal(decode(0, 9000, 65536), -EBADMSG);
	for (size_t len = 0; len <= FRAGMENT_HDR_LEN; len++)
		assert_int_equal(fragment_decode(buf, len, &h), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
