// SPDX-License-Identifier: GPL-2.0-or-later
/* wire/datagram/leon checks frame lengths at both ends of every range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>

#include "golden.h"
#include "wire/datagram/leon.h"

static size_t add(uint8_t *buf, size_t at, size_t len, uint8_t flags, uint8_t fill)
{
	bundle_encode(len, flags, buf + at);
	memset(buf + at + BUNDLE_HDR_LEN, fill, len);
	return at + BUNDLE_HDR_LEN + len;
}

static void test_document(void **state)
{
	uint8_t buf[64];
	struct bundle_frame f;
	size_t end = 0, at = 0;

	(void)state;
	end = add(buf, end, 16, LEON_F_CSUM_PARTIAL, 0xaa);
	end = add(buf, end, 14, LEON_F_SEGMENT, 0xbb);
	assert_golden("bundle", buf, end);
	assert_int_equal(bundle_next(buf, end, &at, &f), 1);
	assert_int_equal(f.at, 2);
	assert_int_equal(f.len, 16);
	assert_int_equal(f.flags, LEON_F_CSUM_PARTIAL);
	assert_int_equal(bundle_next(buf, end, &at, &f), 1);
	assert_int_equal(f.at, 20);
	assert_int_equal(f.len, 14);
	assert_int_equal(f.flags, LEON_F_SEGMENT);
	assert_int_equal(bundle_next(buf, end, &at, &f), 0);
	/* The end is stable. */
	assert_int_equal(bundle_next(buf, end, &at, &f), 0);
}

static void test_limits(void **state)
{
	static uint8_t buf[BUNDLE_HDR_LEN + BUNDLE_FRAME_MAX];
	struct bundle_frame f;
	size_t at = 0, end = add(buf, 0, BUNDLE_FRAME_MAX, LEON_FLAGS_FRAME, 1);

	(void)state;
	assert_int_equal(bundle_next(buf, end, &at, &f), 1);
	assert_int_equal(f.len, BUNDLE_FRAME_MAX);
	assert_int_equal(f.flags, LEON_FLAGS_FRAME);
	at = 0;
	assert_int_equal(bundle_next(buf, end - 1, &at, &f), -EBADMSG);
	end = add(buf, 0, BUNDLE_FRAME_MIN, 0, 1);
	assert_int_equal(bundle_next(buf, end, &at, &f), 1);
	assert_int_equal(f.len, BUNDLE_FRAME_MIN);
}

static void test_bad(void **state)
{
	uint8_t buf[64] = { 0 };
	struct bundle_frame f;
	size_t at = 0, end;

	(void)state;
	assert_int_equal(bundle_next(buf, 0, &at, &f), -EBADMSG);
	end = add(buf, 0, BUNDLE_FRAME_MIN, 0, 1);
	for (size_t cut = 1; cut < end; cut++) {
		at = 0;
		assert_int_equal(bundle_next(buf, cut, &at, &f), -EBADMSG);
		assert_int_equal(at, 0);
	}
	/* One byte follows the last frame. */
	at = 0;
	assert_int_equal(bundle_next(buf, end + 1, &at, &f), 1);
	assert_int_equal(bundle_next(buf, end + 1, &at, &f), -EBADMSG);
	add(buf, 0, BUNDLE_FRAME_MIN - 1, LEON_F_CSUM_PARTIAL, 1);
	at = 0;
	assert_int_equal(bundle_next(buf, sizeof(buf), &at, &f), -EBADMSG);
	bundle_encode(0, 0, buf);
	assert_int_equal(bundle_next(buf, sizeof(buf), &at, &f), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
