// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-accel/peer/interproxy computes the settings of the socket of an inter-proxy connection,
 * before and after the link rate is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "peer/interproxy.h"

#define KIB   1024u
#define RATE  8000000u /* bytes per second */
#define ROUND 250000u

static void test_first_segments(void **state)
{
	(void)state;
	assert_int_equal(interproxy_first_segments(0, 1200), 10);
	assert_int_equal(interproxy_first_segments(5000, 1200), 10);
	assert_int_equal(interproxy_first_segments(50000, 1200), 80);
	assert_int_equal(interproxy_first_segments(250000, 1200), 400);
	assert_int_equal(interproxy_first_segments(UINT32_MAX, 1200), 1600);
	/* A larger segment gives a smaller number, so that the bytes stay equal. */
	assert_int_equal(interproxy_first_segments(250000, 1400), 342);
	assert_int_equal(interproxy_first_segments(1000000, 8900), 215);
	assert_int_equal(interproxy_first_segments(20000, 8900), 10);
}

static void test_start_rate(void **state)
{
	(void)state;
	/* Without a measurement: twice the assumed rate. */
	assert_int_equal(interproxy_start_rate(0, 0), 480000);
	/* Half of the measured rate, or of the smaller one, within bounds. */
	assert_int_equal(interproxy_start_rate(1000000, 0), 500000);
	assert_int_equal(interproxy_start_rate(0, 1000000), 500000);
	assert_int_equal(interproxy_start_rate(1000000, 2000000), 500000);
	assert_int_equal(interproxy_start_rate(2000000, 1000000), 500000);
	assert_int_equal(interproxy_start_rate(250000, 0), 240000);
	assert_int_equal(interproxy_start_rate(UINT64_MAX, 0), 1920000);
}

static void test_first_flight(void **state)
{
	struct interproxy c = { .start = 500000 };
	struct interproxy_sample s = { .starting = true, .min_us = ROUND, .rtt_us = ROUND };

	(void)state;
	/* Small messages do not slow the first flight. */
	assert_int_equal(interproxy_limit(&c, &s), 500000);
	s.rate = s.delivery = 2000;
	assert_int_equal(interproxy_limit(&c, &s), 500000);
	/* The first acknowledged data permits more. */
	s.rate = s.delivery = 200000;
	assert_int_equal(interproxy_limit(&c, &s), 600000);
	/* The first flight meets a queue, or floods the link. */
	s.rtt_us = 2 * ROUND;
	assert_int_equal(interproxy_limit(&c, &s), 300000);
	s.sent = 100 * KIB;
	s.resent = 20 * KIB;
	s.rate = 800000;
	assert_int_equal(interproxy_limit(&c, &s), 700000);
	/* A kernel without BBR. */
	s = (struct interproxy_sample){ .delivery = 400000, .min_us = ROUND, .rtt_us = ROUND };
	assert_int_equal(interproxy_limit(&c, &s), 1200000);
}

static void test_room(void **state)
{
	struct interproxy c = { 0 };
	struct interproxy_sample s = { .starting = true, .min_us = ROUND, .window = 240000 };

	(void)state;
	assert_int_equal(interproxy_least_room(20000), 12000);
	assert_int_equal(interproxy_least_room(50000), 12000);
	assert_int_equal(interproxy_least_room(250000), 60000);
	assert_int_equal(interproxy_least_room(1000000), 240000);
	/* An initial window of any size proves nothing, and neither do small messages. */
	assert_int_equal(interproxy_capacity(&c, &s), 0);
	s.rate = s.delivery = 2000;
	assert_int_equal(interproxy_capacity(&c, &s), 1000);
	/* A start phase doubles the delivered bytes, within its window. */
	s.rate = s.delivery = 400000;
	assert_int_equal(interproxy_capacity(&c, &s), 200000);
	s.rate = s.delivery = 800000;
	assert_int_equal(interproxy_capacity(&c, &s), 240000);
	/* A pause does not reduce the capacity. */
	s.rate = s.delivery = 2000;
	assert_int_equal(interproxy_capacity(&c, &s), 240000);
	s.window = 100000;
	assert_int_equal(interproxy_capacity(&c, &s), 100000);
	/* Other congestion controls report no rate. */
	s.starting = false;
	s.rate = 0;
	assert_int_equal(interproxy_capacity(&c, &s), 100000);
	/* After the start phase, and on a link of known rate, the rate decides. */
	s.rate = 2000;
	assert_int_equal(interproxy_capacity(&c, &s), 500);
	s.starting = c.is_known = true;
	assert_int_equal(interproxy_capacity(&c, &s), 500);
}

static void test_unsent(void **state)
{
	(void)state;
	assert_int_equal(interproxy_unsent(0), 32 * KIB);
	assert_int_equal(interproxy_unsent(100000), 32 * KIB);
	assert_int_equal(interproxy_unsent(12500000), 250000);
	assert_int_equal(interproxy_unsent(1250000000), 4096 * KIB);
	/* Before the first bytes the pacing rate has no limit. */
	assert_int_equal(interproxy_unsent(UINT64_MAX), 32 * KIB);
	assert_int_equal(interproxy_unsent(UINT32_MAX), 32 * KIB);
}

static struct interproxy_sample starting(void)
{
	return (struct interproxy_sample){ .starting = true,
					   .rate = RATE,
					   .sent = 1000 * KIB,
					   .rtt_us = ROUND,
					   .min_us = ROUND,
					   .window = 100000 };
}

static void test_nothing_known(void **state)
{
	struct interproxy c = { 0 };
	struct interproxy_sample s = { 0 };

	(void)state;
	assert_int_equal(interproxy_limit(&c, &s), 240000);
	assert_int_equal(interproxy_capacity(&c, &s), 0);
	s.starting = true;
	assert_int_equal(interproxy_limit(&c, &s), 240000);
	s.rtt_us = ROUND;
	s.min_us = 1000;
	assert_int_equal(interproxy_limit(&c, &s), 240000);
}

static void test_queue(void **state)
{
	struct interproxy c = { 0 };
	struct interproxy_sample s = starting();

	(void)state;
	assert_int_equal(interproxy_limit(&c, &s), 3 * RATE);
	s.rtt_us = ROUND + ROUND / 8;
	assert_int_equal(interproxy_limit(&c, &s), 3 * RATE);
	s.rtt_us++;
	assert_int_equal(interproxy_limit(&c, &s), RATE / 2 * 3);
	/* After its start phase BBR limits the queue itself. */
	s.starting = false;
	assert_int_equal(interproxy_limit(&c, &s), 0);
	/* On a short path an increase by a half is jitter. */
	s = starting();
	s.min_us = 20000;
	s.rtt_us = 30000;
	assert_int_equal(interproxy_limit(&c, &s), 3 * RATE);
}

static void test_flood(void **state)
{
	struct interproxy c = { .sent = 500 * KIB, .resent = 10 * KIB };
	struct interproxy_sample s = starting();

	(void)state;
	/* The loss of a fifth shows that the link is flooded. */
	s.resent = 109 * KIB;
	assert_int_equal(interproxy_limit(&c, &s), 3 * RATE);
	s.resent = 110 * KIB;
	assert_int_equal(interproxy_limit(&c, &s), RATE / 8 * 7);
	/* The loss ratio of few bytes, or of none, is not significant. */
	c.sent = s.sent - 64 * KIB + 1;
	assert_int_equal(interproxy_limit(&c, &s), 3 * RATE);
	c.sent = s.sent;
	c.resent = s.resent;
	assert_int_equal(interproxy_limit(&c, &s), 3 * RATE);
}

/* A start phase on a link of known rate continues at that rate, even if the socket ran empty
 * before. */
static void test_known(void **state)
{
	struct interproxy c = { .sent = 500 * KIB };
	struct interproxy_sample s = starting();

	(void)state;
	assert_false(interproxy_knows_rate(&c, &s));
	s.resent = 100 * KIB;
	assert_true(interproxy_knows_rate(&c, &s));
	/* A connection after its start phase, or with a negligible rate, proves nothing. */
	s.starting = false;
	assert_false(interproxy_knows_rate(&c, &s));
	s.starting = true;
	s.rate = 1000;
	assert_false(interproxy_knows_rate(&c, &s));
	s = starting();
	c = (struct interproxy){ .sent = s.sent, .is_known = true };
	assert_true(interproxy_knows_rate(&c, &s));
	assert_int_equal(interproxy_limit(&c, &s), RATE / 8 * 9);
	s.rtt_us = ROUND + ROUND / 2;
	assert_int_equal(interproxy_limit(&c, &s), RATE);
}

/* On a link of known rate, a probe of BBR adds 50 ms of queueing delay, and not a quarter of a
 * round trip. */
static void test_tries(void **state)
{
	struct interproxy c = { .is_known = true };
	struct interproxy_sample s = starting();

	(void)state;
	s.starting = false;
	s.min_us = s.rtt_us = 1000000;
	assert_in_range(interproxy_limit(&c, &s), RATE + RATE / 21, RATE + RATE / 20);
	s.min_us = s.rtt_us = 500000;
	assert_in_range(interproxy_limit(&c, &s), RATE + RATE / 11, RATE + RATE / 10);
	/* On this path a quarter of the rate adds less than 50 ms. */
	s.min_us = s.rtt_us = 200000;
	assert_int_equal(interproxy_limit(&c, &s), 0);
	s.min_us = 0;
	assert_int_equal(interproxy_limit(&c, &s), 0);
	/* If the start phase ended by itself, the spare capacity is unknown. */
	s.min_us = s.rtt_us = 1000000;
	c.is_known = false;
	assert_int_equal(interproxy_limit(&c, &s), 0);
	s.rate = 1000;
	c.is_known = true;
	assert_int_equal(interproxy_limit(&c, &s), 240000);
	s.rate = 0;
	assert_int_equal(interproxy_limit(&c, &s), 240000);
}

/* Small messages are no evidence of the link rate. A limit at their rate would slow the connection
 * for a minute. */
static void test_idle_so_far(void **state)
{
	struct interproxy c = { 0 };
	struct interproxy_sample s = starting();

	(void)state;
	s.rate = 2000;
	s.rtt_us = 2 * ROUND;
	assert_int_equal(interproxy_limit(&c, &s), 240000);
	s.resent = s.sent;
	assert_int_equal(interproxy_limit(&c, &s), 240000);
}

static const mono_t began = { 1000000000 };

/* Returns whether BBR is restarted after this number of probes, each of eight round trips. */
static bool after_a_try(struct interproxy *c, unsigned tries, struct interproxy_sample s,
			uint64_t rate)
{
	s.rate = rate;
	s.starting = false;
	return interproxy_restarts(c, &s, mono_add_us(began, (int64_t)tries * 8 * ROUND));
}

static void test_start_over_too_soon(void **state)
{
	struct interproxy c = { 0 };
	struct interproxy_sample s = starting();

	(void)state;
	assert_false(interproxy_restarts(&c, &s, began));
	assert_false(after_a_try(&c, 1, s, 100000));
	assert_false(after_a_try(&c, 2, s, 125000));
	assert_true(after_a_try(&c, 3, s, 156250));
	/* If the restart had no effect (for example without BBR), another follows later. */
	assert_false(after_a_try(&c, 4, s, 195312));
	assert_true(after_a_try(&c, 5, s, 244140));
}

/* A rate that BBR measured during low demand is no evidence of the link rate. */
static void test_rate_behind_a_pause(void **state)
{
	struct interproxy c = {
		.is_known = true, .known = RATE, .app_limited = began, .sent = 1000 * KIB
	};
	struct interproxy_sample s = starting();
	mono_t later = mono_add_us(began, 3 * (int64_t)ROUND);

	(void)state;
	s.rate = 1000;
	assert_int_equal(interproxy_rate(&c, &s, mono_add_us(began, ROUND)), RATE);
	assert_int_equal(interproxy_rate(&c, &s, later), 1000);
	s.app_limited = true;
	assert_int_equal(interproxy_rate(&c, &s, later), RATE);
	s.rate = 2 * RATE;
	assert_int_equal(interproxy_rate(&c, &s, later), 2 * RATE);
	/* The known rate is not used on a flooded link, without a known rate, or after the start
	 * phase. */
	s.rate = 1000;
	s.sent += 100 * KIB;
	s.resent = 20 * KIB;
	assert_int_equal(interproxy_rate(&c, &s, began), 1000);
	s.resent = 0;
	s.starting = false;
	assert_int_equal(interproxy_rate(&c, &s, began), 1000);
	s.starting = true;
	c.is_known = false;
	assert_int_equal(interproxy_rate(&c, &s, began), 1000);
}

/* A transfer follows small messages, on a link that has become slower. */
static void test_learns_when_full(void **state)
{
	struct interproxy c = { .is_known = true, .known = RATE };
	struct interproxy_sample s = starting();
	mono_t now = began;

	(void)state;
	s.rate = 1000;
	for (int i = 0; i < 10; i++) {
		s.app_limited = i % 4 > 0;
		interproxy_learn(&c, &s, now);
		c.looked = now;
		now = mono_add_us(now, ROUND);
	}
	assert_int_equal(c.known, RATE);
	/* Rare observations see only momentary backlogs. */
	for (int i = 0; i < 10; i++) {
		s.app_limited = i % 4 > 2;
		now = mono_add_ms(now, 1000);
		interproxy_learn(&c, &s, now);
		c.looked = now;
	}
	assert_int_equal(c.known, RATE);
	s.rate = RATE / 2;
	s.app_limited = false;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(c.known, RATE);
		now = mono_add_us(now, ROUND);
		interproxy_learn(&c, &s, now);
		c.looked = now;
	}
	assert_int_equal(c.known, RATE / 2);
}

static struct interproxy_sample idle(void)
{
	struct interproxy_sample s = starting();

	s.least_us = ROUND;
	s.window = RATE / 4;
	s.app_limited = true;
	return s;
}

/* BBR is not restarted, with or without a known rate and start phase. The known rate stays. */
static void assert_never_woken(const struct interproxy_sample *s)
{
	for (int i = 0; i < 4; i++) {
		struct interproxy c = { .is_known = i % 2, .known = i % 2 ? RATE : 0 };
		struct interproxy_sample one = *s;

		one.starting = i / 2;
		assert_false(interproxy_may_restart(&c, &one, began));
		assert_int_equal(c.is_known, i % 2);
		assert_int_equal(c.known, i % 2 ? RATE : 0);
	}
}

static void assert_not_woken(void)
{
	struct interproxy_sample s = idle();

	/* A short path, a path with a longer propagation delay, and a delay that BBR has not
	 * observed yet. */
	s.min_us = s.least_us = 19999;
	assert_never_woken(&s);
	s = idle();
	s.min_us += ROUND / 8 + 1;
	assert_never_woken(&s);
	s = idle();
	s.rtt_us = 2 * ROUND + 1;
	assert_never_woken(&s);
	/* No BBR, a transfer on a slow link, and a window that is temporarily small. */
	s = idle();
	s.rate = 0;
	assert_never_woken(&s);
	s = idle();
	s.app_limited = false;
	assert_never_woken(&s);
	s = idle();
	s.probing = true;
	assert_never_woken(&s);
	s = idle();
	s.recovering = true;
	assert_never_woken(&s);
}

/* BBR is restarted for data that follows a pause. */
static void test_wakes(void **state)
{
	struct interproxy c = { .is_known = true, .known = RATE };
	struct interproxy_sample s = idle();

	(void)state;
	s.rate = 1000;
	assert_true(interproxy_may_restart(&c, &s, began));
	assert_int_equal(c.app_limited.ns, began.ns);
	assert_int_equal(c.known, RATE);
	/* A new connection has no window to lose. */
	c = (struct interproxy){ 0 };
	s.window = 100;
	s.sent = 64 * KIB;
	assert_true(interproxy_may_restart(&c, &s, began));
	assert_false(c.is_known);
	/* A connection that has carried more data would lose its rate. */
	s.sent++;
	assert_false(interproxy_may_restart(&c, &s, began));
	c = (struct interproxy){ .is_known = true, .known = RATE };
	assert_false(interproxy_may_restart(&c, &s, began));
	assert_not_woken();
	/* BBR has found the link rate by itself. */
	c = (struct interproxy){ 0 };
	s = idle();
	s.starting = false;
	assert_true(interproxy_may_restart(&c, &s, began));
	assert_true(c.is_known);
	assert_int_equal(c.known, RATE);
}

/* On a link of known rate, a start phase adds no more to the queue than a probe. */
static void test_known_and_long(void **state)
{
	struct interproxy c = { .is_known = true, .sent = 1000 * KIB };
	struct interproxy_sample s = starting();

	(void)state;
	s.min_us = s.rtt_us = 1000000;
	assert_in_range(interproxy_limit(&c, &s), RATE + RATE / 21, RATE + RATE / 20);
}

/* A limited probe gains less, and two such gains still prove spare capacity. */
static void test_small_tries_find_room(void **state)
{
	struct interproxy c = { .is_known = true };
	struct interproxy_sample s = starting();

	(void)state;
	s.min_us = s.rtt_us = 2 * ROUND;
	assert_false(interproxy_restarts(&c, &s, began));
	assert_false(after_a_try(&c, 2, s, RATE));
	assert_false(after_a_try(&c, 4, s, RATE / 100 * 109));
	assert_true(after_a_try(&c, 6, s, RATE / 100 * 118));
}

static void test_line_is_full(void **state)
{
	struct interproxy c = { 0 };
	struct interproxy_sample s = starting();

	(void)state;
	assert_false(interproxy_restarts(&c, &s, began));
	for (unsigned i = 1; i < 10; i++)
		assert_false(after_a_try(&c, i, s, RATE + i * (RATE / 100)));
	/* A single increase is jitter or capacity that other traffic left. */
	assert_false(after_a_try(&c, 10, s, 2 * RATE));
	assert_false(after_a_try(&c, 11, s, 2 * RATE));
	assert_false(after_a_try(&c, 12, s, 3 * RATE));
	/* A higher rate with queueing delay means a full link. */
	s.rtt_us = 2 * ROUND;
	assert_false(after_a_try(&c, 13, s, 4 * RATE));
	assert_false(after_a_try(&c, 14, s, 5 * RATE));
}

/* Variation is not spare capacity: a gain below 1/32, or a gain with the queueing delay of a probe
 * of 50 ms. */
static void test_long_line_is_full(void **state)
{
	struct interproxy c = { .is_known = true };
	struct interproxy_sample s = starting();

	(void)state;
	s.min_us = s.rtt_us = 4 * ROUND;
	assert_false(interproxy_restarts(&c, &s, began));
	for (unsigned i = 1; i < 5; i++)
		assert_false(after_a_try(&c, 4 * i, s, RATE + i * (RATE / 1000 * 29)));
	c = (struct interproxy){ .is_known = true };
	s.min_us = 2 * ROUND;
	s.rtt_us = s.min_us + 25001;
	assert_false(interproxy_restarts(&c, &s, began));
	for (unsigned i = 1; i < 5; i++)
		assert_false(after_a_try(&c, 2 * i, s, RATE + i * (RATE / 10)));
	s.rtt_us = s.min_us + 25000;
	assert_false(after_a_try(&c, 10, s, RATE * 2));
	assert_true(after_a_try(&c, 12, s, RATE * 3));
}

static void test_nothing_to_compare(void **state)
{
	struct interproxy c = { 0 };
	struct interproxy_sample none = { 0 }, s = starting();

	(void)state;
	assert_false(interproxy_restarts(&c, &none, began));
	assert_false(interproxy_restarts(&c, &none, began));
	/* An increase from zero is not a gain. */
	assert_false(after_a_try(&c, 1, s, 1000));
	assert_false(after_a_try(&c, 2, s, 2000));
	assert_true(after_a_try(&c, 3, s, 4000));
	/* Several observations of one probe count once. */
	c = (struct interproxy){ 0 };
	assert_false(after_a_try(&c, 1, s, 1000));
	assert_false(after_a_try(&c, 1, s, 2000));
	assert_false(after_a_try(&c, 1, s, 4000));
	assert_false(after_a_try(&c, 2, s, 8000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_segments),
		cmocka_unit_test(test_start_rate),
		cmocka_unit_test(test_first_flight),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_unsent),
		cmocka_unit_test(test_nothing_known),
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_flood),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_tries),
		cmocka_unit_test(test_idle_so_far),
		cmocka_unit_test(test_start_over_too_soon),
		cmocka_unit_test(test_rate_behind_a_pause),
		cmocka_unit_test(test_learns_when_full),
		cmocka_unit_test(test_wakes),
		cmocka_unit_test(test_known_and_long),
		cmocka_unit_test(test_small_tries_find_room),
		cmocka_unit_test(test_line_is_full),
		cmocka_unit_test(test_long_line_is_full),
		cmocka_unit_test(test_nothing_to_compare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
