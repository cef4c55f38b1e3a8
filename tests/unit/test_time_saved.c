// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-accel/conn/time_saved estimates the transfer time with and without acceleration, before and
 * after measurements.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "peer/meter.h"

#define RTT_US 250000
#define WINDOW 65535

static mono_t at(int64_t ms)
{
	return mono_add_ms((mono_t){ 0 }, 1000 + ms);
}

static void add(struct time_saved *s, enum saved_direction d, uint64_t bytes, int64_t ms)
{
	struct saved_step step = { d, bytes, RTT_US, WINDOW };

	time_saved_add(s, &step, at(ms));
}

static void assert_time(const struct time_saved *s, uint64_t with, uint64_t without)
{
	struct accel_time t = time_saved_total(s);

	assert_int_equal(t.with_ms, with);
	assert_int_equal(t.without_ms, without);
}

static void test_nothing_yet(void **state)
{
	struct time_saved s = { 0 };

	(void)state;
	assert_time(&s, 0, 0);
	/* The first byte has no measured duration. */
	add(&s, SAVED_OUT, 0, 0);
	assert_time(&s, 0, 0);
}

/* 50 MB with a window of 64 KiB at 250 ms take 191 s. */
static void test_one_window_a_round_trip(void **state)
{
	struct time_saved s = { 0 };

	(void)state;
	for (unsigned i = 0; i <= 100; i++)
		add(&s, SAVED_IN, 500000, i * 50);
	assert_time(&s, 5000, 192645);
}

static void test_many_small_pieces_are_as_one(void **state)
{
	struct time_saved s = { 0 };

	(void)state;
	for (unsigned i = 0; i < 65535; i++)
		add(&s, SAVED_OUT, 1, 0);
	assert_in_range(time_saved_total(&s).without_ms, 249, 250);
}

/* Data at one time only must not divide by zero. */
static void test_no_time_passed(void **state)
{
	struct time_saved s = { 0 };

	(void)state;
	add(&s, SAVED_OUT, WINDOW, 0);
	add(&s, SAVED_OUT, WINDOW, 0);
	assert_time(&s, 0, 500);
}

static void test_pauses_are_the_hosts(void **state)
{
	struct time_saved s = { 0 };

	(void)state;
	add(&s, SAVED_OUT, 1000, 0);
	add(&s, SAVED_OUT, 1000, 700); /* two round trips and 200 ms */
	add(&s, SAVED_OUT, 1000, 60000);
	assert_time(&s, 700, 700);
}

/* Both directions together take no longer than the slower one. */
static void test_two_directions(void **state)
{
	struct time_saved s = { 0 };

	(void)state;
	for (unsigned i = 0; i <= 10; i++) {
		add(&s, SAVED_OUT, WINDOW, i * 10);
		add(&s, SAVED_IN, 2 * WINDOW, i * 10);
	}
	assert_time(&s, 100, 5500);
}

static void test_nothing_known_claims_nothing(void **state)
{
	struct saved_step step = { SAVED_OUT, 1 << 20, RTT_US, 0 };
	struct time_saved s = { 0 };

	(void)state;
	time_saved_add(&s, &step, at(0));
	time_saved_add(&s, &step, at(100));
	assert_time(&s, 100, 100);
	step.window = WINDOW;
	step.rtt_us = 0;
	time_saved_add(&s, &step, at(200));
	assert_time(&s, 200, 200);
}

/* A time before the previous one. */
static void test_time_does_not_run_back(void **state)
{
	struct time_saved s = { 0 };

	(void)state;
	add(&s, SAVED_OUT, 1, 100);
	add(&s, SAVED_OUT, 1, 50);
	assert_int_equal(time_saved_total(&s).with_ms, 0);
}

static void test_no_overflow(void **state)
{
	struct saved_step step = { SAVED_OUT, 1ULL << 30, 10000000, 1 };
	struct time_saved s = { 0 };

	(void)state;
	time_saved_add(&s, &step, at(0));
	/* 1 GiB in single bytes, 10 s each. */
	assert_int_equal(time_saved_total(&s).without_ms, (1ULL << 30) * 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_yet),
		cmocka_unit_test(test_one_window_a_round_trip),
		cmocka_unit_test(test_many_small_pieces_are_as_one),
		cmocka_unit_test(test_no_time_passed),
		cmocka_unit_test(test_pauses_are_the_hosts),
		cmocka_unit_test(test_two_directions),
		cmocka_unit_test(test_nothing_known_claims_nothing),
		cmocka_unit_test(test_time_does_not_run_back),
		cmocka_unit_test(test_no_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
