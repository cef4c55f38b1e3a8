// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-accel/peer/meter counts the bytes of a round trip: before the first byte, at the limits of a
 * round trip, and after a pause. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "peer/meter.h"

#define RTT_US 100000

static mono_t at(int64_t ms)
{
	return mono_add_ms((mono_t){ 0 }, 1000 + ms);
}

static void test_nothing_yet(void **state)
{
	struct meter m = { 0 };

	(void)state;
	assert_int_equal(meter_best(&m, RTT_US, at(0)), 0);
	meter_add(&m, 0, RTT_US, at(0));
	assert_int_equal(meter_best(&m, RTT_US, at(0)), 0);
}

/* No time passes between the segments of one batch. */
static void test_no_time_passed(void **state)
{
	struct meter m = { 0 };

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		meter_add(&m, 1000, RTT_US, at(0));
	assert_int_equal(meter_best(&m, RTT_US, at(0)), 5000);
	meter_add(&m, 1, RTT_US, at(99));
	assert_int_equal(meter_best(&m, RTT_US, at(99)), 5001);
}

static void test_rounds_are_apart(void **state)
{
	struct meter m = { 0 };

	(void)state;
	meter_add(&m, 1000, RTT_US, at(0));
	meter_add(&m, 2000, RTT_US, at(100));
	meter_add(&m, 1500, RTT_US, at(250));
	assert_int_equal(meter_best(&m, RTT_US, at(250)), 2000);
}

/* The round trip with 2000 bytes is the fourth last one until 499. */
static void test_four_rounds_count(void **state)
{
	struct meter m = { 0 };

	(void)state;
	meter_add(&m, 2000, RTT_US, at(0));
	meter_add(&m, 700, RTT_US, at(150));
	assert_int_equal(meter_best(&m, RTT_US, at(399)), 2000);
	assert_int_equal(meter_best(&m, RTT_US, at(400)), 700);
	assert_int_equal(meter_best(&m, RTT_US, at(500)), 0);
}

static void test_pause(void **state)
{
	struct meter m = { 0 };

	(void)state;
	meter_add(&m, 2000, RTT_US, at(0));
	meter_add(&m, 10, RTT_US, at(3600000));
	assert_int_equal(meter_best(&m, RTT_US, at(3600000)), 10);
}

/* Without a path the round-trip time is unknown. */
static void test_no_round_trip(void **state)
{
	struct meter m = { 0 };

	(void)state;
	meter_add(&m, 2000, 0, at(0));
	assert_int_equal(meter_best(&m, 0, at(0)), 0);
	assert_int_equal(meter_best(&m, RTT_US, at(0)), 0);
}

/* The path has become shorter. */
static void test_other_round_trip(void **state)
{
	struct meter m = { 0 };

	(void)state;
	meter_add(&m, 2000, RTT_US, at(0));
	meter_add(&m, 10, RTT_US / 10, at(99));
	assert_int_equal(meter_best(&m, RTT_US / 10, at(99)), 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_yet),
		cmocka_unit_test(test_no_time_passed),
		cmocka_unit_test(test_rounds_are_apart),
		cmocka_unit_test(test_four_rounds_count),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_no_round_trip),
		cmocka_unit_test(test_other_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
