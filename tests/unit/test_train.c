// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-accel/peer/train measures the rate of acknowledgements: at the rate of a link, in one batch,
 * and after a pause. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "peer/meter.h"

#define RTT_US 250000

static mono_t at_us(int64_t us)
{
	return mono_add_us((mono_t){ 0 }, 1000000 + us);
}

/* Acknowledgements of two segments each, `gap_us` apart, from `from_us` on. */
static uint64_t rate_of(struct train *t, unsigned n, int64_t from_us, int64_t gap_us)
{
	for (unsigned i = 0; i < n; i++)
		train_add(t, 2500, RTT_US, at_us(from_us + i * gap_us));
	return t->rate;
}

static void test_link(void **state)
{
	struct train slow = { 0 }, fast = { 0 };

	(void)state;
	/* 2500 bytes in 10 ms and in 2 ms. */
	assert_int_equal(rate_of(&slow, 5, 0, 10000), 250000);
	assert_int_equal(rate_of(&fast, 5, 0, 2000), 1250000);
}

static void test_short(void **state)
{
	struct train t = { 0 };

	(void)state;
	assert_int_equal(rate_of(&t, 1, 0, 0), 0);
	train_add(&t, 1250, RTT_US, at_us(1000));
	assert_int_equal(t.rate, 0);
}

/* A batch has no duration, and one acknowledgement of a whole window says nothing. */
static void test_batch(void **state)
{
	struct train t = { 0 };

	(void)state;
	assert_int_equal(rate_of(&t, 2, 0, 0), 2500000);
	t = (struct train){ 0 };
	train_add(&t, 2500, RTT_US, at_us(0));
	train_add(&t, 60000, RTT_US, at_us(1000));
	assert_int_equal(t.rate, 4500000);
}

/* The last train counts, and not the pause before. */
static void test_pause(void **state)
{
	struct train t = { 0 };

	(void)state;
	assert_int_equal(rate_of(&t, 5, 0, 2000), 1250000);
	assert_int_equal(rate_of(&t, 1, 100000, 0), 1250000);
	assert_int_equal(rate_of(&t, 5, 300000, 10000), 250000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_pause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
