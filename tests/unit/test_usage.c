// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Links in use: data for a host of the other node, or a stream of flooded frames.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/underlay/underlay.h"

static void data_counts_at_once(void **state)
{
	struct link_use u = { 0 };
	struct fwd_use t = { 0 };

	(void)state;
	assert_int_equal(usage_look(&u, &t), USE_NONE);
	t.link_tx++;
	t.directed++;
	assert_int_equal(usage_look(&u, &t), USE_DATA);
	assert_int_equal(usage_look(&u, &t), USE_NONE);
}

/* A worker may have counted one of the two counters only. */
static void counters_may_be_read_apart(void **state)
{
	struct link_use u = { 0 };
	struct fwd_use t = { .link_tx = 1 };

	(void)state;
	assert_int_equal(usage_look(&u, &t), USE_FLOODS);
	t.directed++;
	assert_int_equal(usage_look(&u, &t), USE_DATA);
}

static void broadcasts_are_no_data(void **state)
{
	struct link_use u = { 0 };
	struct fwd_use t = { 0 };

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		t.link_tx += i % 5 != 0;
		assert_int_equal(usage_look(&u, &t), i % 5 ? USE_FLOODS : USE_NONE);
	}
}

static void a_stream_is_data(void **state)
{
	struct link_use u = { 0 };
	struct fwd_use t = { 0 };

	(void)state;
	for (unsigned i = 1; i < 10; i++) {
		t.link_tx += 7;
		assert_int_equal(usage_look(&u, &t), USE_FLOODS);
	}
	t.link_tx++;
	assert_int_equal(usage_look(&u, &t), USE_DATA);
	assert_int_equal(usage_look(&u, &t), USE_NONE);
	t.link_tx++;
	assert_int_equal(usage_look(&u, &t), USE_FLOODS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_counts_at_once),
		cmocka_unit_test(counters_may_be_read_apart),
		cmocka_unit_test(broadcasts_are_no_data),
		cmocka_unit_test(a_stream_is_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
