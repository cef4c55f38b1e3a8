// SPDX-License-Identifier: GPL-2.0-or-later
/* wire/datagram/leon, copies: the header of a duplicated frame, at both ends of every range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "golden.h"
#include "wire/datagram/leon.h"

static void test_document(void **state)
{
	struct copy_hdr h = { 2, 0x0006437e2a1b5c, LEON_FRAME };
	uint8_t buf[COPY_HDR_LEN];

	(void)state;
	copy_encode(&h, buf);
	assert_golden("copy", buf, sizeof(buf));
}

static int decode(uint8_t worker, uint64_t counter, uint8_t kind, size_t payload)
{
	struct copy_hdr h = { worker, counter, kind }, back;
	uint8_t buf[COPY_HDR_LEN + 4] = { 0 };
	int err;

	copy_encode(&h, buf);
	err = copy_decode(buf, COPY_HDR_LEN + payload, &back);
	if (!err) {
		assert_int_equal(back.worker, worker);
		assert_true(back.counter == (counter & COPY_COUNTER_MASK));
		assert_int_equal(back.kind, kind);
	}
	return err;
}

static void test_ranges(void **state)
{
	(void)state;
	assert_int_equal(decode(0, 0, LEON_FRAME, 1), 0);
	assert_int_equal(decode(COPY_WORKERS_MAX - 1, COPY_COUNTER_MASK, LEON_FRAGMENT, 4), 0);
	/* A counter beyond its maximum wraps and does not change the worker number. */
	assert_int_equal(decode(3, COPY_COUNTER_MASK + 1, LEON_FRAME, 4), 0);
	assert_int_equal(decode(COPY_WORKERS_MAX, 1, LEON_FRAME, 4), -EBADMSG);
	assert_int_equal(decode(255, 1, LEON_FRAME, 4), -EBADMSG);
	assert_int_equal(decode(0, 1, LEON_FRAME, 0), -EBADMSG);
	for (unsigned kind = 0; kind < 256; kind++)
		assert_int_equal(decode(0, 1, (uint8_t)kind, 4),
				 kind == LEON_FRAME || kind == LEON_FRAGMENT ? 0 : -EBADMSG);
}

static void test_short(void **state)
{
	uint8_t buf[COPY_HDR_LEN] = { 0 };
	struct copy_hdr h;

	(void)state;
	for (size_t len = 0; len <= sizeof(buf); len++)
		assert_int_equal(copy_decode(buf, len, &h), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
