// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * state/latency/energy: the example of the paper, and intervals with no saved time or with only
 * saved time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "state/latency/energy.h"

/* 100 t at 10 Mbit/s uses 1010 t. t at 1 Gbit/s and 99 t of sleep use 112.6 t. */
static void test_paper(void **state)
{
	(void)state;
	assert_int_equal(energy_slow_mj(100000), 1010000);
	assert_int_equal(energy_fast_mj(100000, 1000), 112600);
}

static void test_nothing(void **state)
{
	(void)state;
	assert_int_equal(energy_slow_mj(0), 0);
	assert_int_equal(energy_fast_mj(0, 0), 0);
}

/* Without saved time there is no sleep. */
static void test_as_slow(void **state)
{
	(void)state;
	assert_int_equal(energy_fast_mj(1000, 1000), 13600);
	assert_int_equal(energy_fast_mj(500, 1000), 13600);
}

/* 4,096 connections for a year at the largest power do not overflow. */
static void test_large(void **state)
{
	uint64_t ms = 4096ULL * 365 * 86400 * 1000;

	(void)state;
	assert_int_equal(energy_mj(10000000, ms), ms * 10000);
	assert_int_equal(energy_mj(10100, 1), 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paper),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_as_slow),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
