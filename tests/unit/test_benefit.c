// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-accel/peer/benefit, the benefit test: the connections that interception makes faster. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "peer/benefit.h"

#define RTT_MS	250
#define COLD	60000	/* capacity of an inter-proxy connection without traffic */
#define LINE	3000000 /* bytes per round trip of the bottleneck link */
#define LONG_MS (20 * 8 * RTT_MS)

static bool takes(uint64_t flow, uint64_t window, uint64_t interproxy, int64_t age_ms)
{
	struct benefit w = { flow, window, interproxy, age_ms, RTT_MS };

	return benefit_expected(&w);
}

/* An idle direction never prevents interception, even if all other values are unknown. */
static void test_nothing_flows(void **state)
{
	struct benefit none = { 0 };

	(void)state;
	assert_true(benefit_expected(&none));
	assert_true(takes(0, 0, 0, 0));
	assert_true(takes(0, 65535, COLD, 0));
}

static void test_slower_than_the_interproxy(void **state)
{
	(void)state;
	assert_true(takes(14600, 0, COLD, 0));
	assert_true(takes(LINE / 2, 0, LINE, 0));
	assert_true(takes(45000, 0, COLD, 0));
	assert_false(takes(45001, 0, COLD, 0));
}

/* A connection grows or fills the link. The inter-proxy connection would first have to reach that
 * rate. */
static void test_fast_already(void **state)
{
	(void)state;
	assert_false(takes(200000, 0, COLD, 1000));
	assert_false(takes(LINE, 6000000, COLD, 1000));
	assert_false(takes(LINE, 6000000, LINE, 1000));
	/* A full window of modern hosts is at or near the rate of the link. */
	assert_false(takes(LINE, LINE, COLD, 1000));
}

static void test_full_window(void **state)
{
	(void)state;
	assert_true(takes(65535, 65535, COLD, 0));
	assert_true(takes(65535, 65535, 14000, 0));
	assert_false(takes(65535, 65535, 8000, 0));
	/* At half a window, the window is not the limit. */
	assert_false(takes(65535, 131070, COLD, 0));
	/* The window is unknown. */
	assert_false(takes(65535, 0, COLD, 0));
}

static void test_long_life(void **state)
{
	(void)state;
	assert_false(takes(LINE, 0, COLD, LONG_MS - 1));
	assert_true(takes(LINE, 0, COLD, LONG_MS));
}

/* Data that a host sends at once is as fast without interception. */
static void test_keeping(void **state)
{
	(void)state;
	assert_false(benefit_present(0, 0));
	assert_false(benefit_present(12000, 0));
	assert_true(benefit_present(12001, 0));
	/* A small window is full sooner: half of it at most. */
	assert_false(benefit_present(2000, 4000));
	assert_true(benefit_present(2001, 4000));
	assert_false(benefit_present(12000, 65535));
	assert_true(benefit_present(12001, 65535));
	assert_true(benefit_present(1, 1));
}

static void test_share(void **state)
{
	(void)state;
	assert_int_equal(benefit_stream_rate(0, 0, 0), 0);
	assert_int_equal(benefit_stream_rate(100, 0, 0), 100);
	/* Idle streams leave the whole capacity, busy streams leave a share. */
	assert_int_equal(benefit_stream_rate(100, 0, 9), 100);
	assert_int_equal(benefit_stream_rate(100, 95, 9), 10);
	/* The streams use more than the estimated capacity. */
	assert_int_equal(benefit_stream_rate(100, 200, 1), 50);
	assert_int_equal(benefit_stream_rate(100, 200, 0), 100);
}

/* Hosts in request-response traffic wait for each other. */
static void test_talk(void **state)
{
	struct benefit_exchange t = { .direction = { { 200, 0 }, { 1000, 0 } }, .segments = 64 };

	(void)state;
	assert_true(benefit_is_request_response(&t));
	t.direction[1].flow = 12000;
	assert_true(benefit_is_request_response(&t));
	t.direction[1].flow = 12001;
	assert_false(benefit_is_request_response(&t));
	/* A small window that is half full may be the limit. */
	t.direction[1].flow = 3000;
	t.direction[1].window = 4000;
	assert_false(benefit_is_request_response(&t));
	/* In one direction only: there is no response. */
	t.direction[1].window = 0;
	t.direction[0].flow = 0;
	assert_false(benefit_is_request_response(&t));
	t.direction[0].flow = 200;
	t.again = 2;
	assert_true(benefit_is_request_response(&t));
	t.again = 3;
	assert_false(benefit_is_request_response(&t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_flows),
		cmocka_unit_test(test_slower_than_the_interproxy),
		cmocka_unit_test(test_fast_already),
		cmocka_unit_test(test_full_window),
		cmocka_unit_test(test_long_life),
		cmocka_unit_test(test_keeping),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_talk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
