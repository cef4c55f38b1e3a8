// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shares of an access link among senders: the rule itself, and a simulated link. Several senders
 * begin and end, and each obeys its share one round trip late.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/defs.h"
#include "state/rates/shares.h"

#define RATE 95000 /* sum of all shares on a link of LINE */
#define LINE 100000
#define MOST 40

/* --- the rule --- */

static uint64_t sum(const struct share *s, unsigned n)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < n; i++)
		all += s[i].kbits;
	return all;
}

/* Divides the rate with no withheld part. */
static void divide(struct share *s, unsigned n, uint32_t rate)
{
	struct shares of = { 0 };

	shares_divide(&of, s, n, rate);
}

static void one_has_all(void **state)
{
	struct share s = { .got_kbits = 90000, .kbits = RATE };

	(void)state;
	divide(&s, 1, RATE);
	assert_int_equal(s.kbits, RATE);
	divide(&s, 0, RATE);
}

static void all_who_use_theirs_have_equal_ones(void **state)
{
	struct share s[4] = {
		{ 20000, 20000 }, { 30000, 30000 }, { 10000, 10000 }, { 9000, 9000 }
	};

	(void)state;
	divide(s, 4, RATE);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(s[i].kbits, RATE / 4);
}

static void what_one_leaves_the_others_have(void **state)
{
	struct share s[3] = { { 10000, 30000 }, { 30000, 30000 }, { 30000, 30000 } };

	(void)state;
	divide(s, 3, RATE);
	assert_int_equal(s[0].kbits, 15000);
	assert_int_equal(s[1].kbits, 40000);
	assert_int_equal(s[2].kbits, 40000);
}

static void who_is_idle_can_begin(void **state)
{
	struct share s[MOST] = { { 90000, 95000 } };

	(void)state;
	divide(s, 5, RATE);
	assert_int_equal(s[0].kbits, RATE);
	assert_int_equal(s[4].kbits, RATE / 16 * 2 / 4);
	divide(s, 3, RATE);
	assert_int_equal(s[2].kbits, RATE / 16);
}

/* An idle sender has a part of the unused rate. All such parts together do not exceed the unused
 * rate. */
static void what_is_free_can_be_begun_with(void **state)
{
	struct share s[MOST] = { { 0, 0 } };

	(void)state;
	divide(s, 1, RATE);
	assert_int_equal(s[0].kbits, RATE);
	divide(s, 10, RATE);
	assert_in_range(sum(s, 10), RATE, RATE + RATE / 8 + 10);
	s[0] = (struct share){ 40000, RATE };
	divide(s, 2, RATE);
	assert_int_equal(s[0].kbits, 60000);
	assert_int_equal(s[1].kbits, RATE / 16 + RATE - 60000);
}

/* Data above the rate, from any sender, is withheld step by step and released again. */
static void what_is_too_much_is_withheld(void **state)
{
	struct share s[2] = { { RATE / 2 + 4000, RATE / 2 }, { RATE / 2 + 4000, RATE / 2 } };
	struct shares of = { 0 };

	(void)state;
	shares_divide(&of, s, 2, RATE);
	assert_in_range(sum(s, 2), RATE - 1002, RATE - 998);
	shares_divide(&of, s, 2, RATE);
	assert_in_range(sum(s, 2), RATE - 2002, RATE - 1998);
	s[0].got_kbits = UINT32_MAX;
	shares_divide(&of, s, 2, RATE);
	assert_in_range(sum(s, 2), RATE / 2 - 2, RATE / 2);
	s[0].got_kbits = s[1].got_kbits = RATE / 4;
	for (unsigned i = 0; i < 9; i++)
		shares_divide(&of, s, 2, RATE);
	assert_int_equal(of.withheld_kbits, 0);
}

/* For any input no share is 0, and the shares in use hardly exceed the rate. */
static void any_numbers(void **state)
{
	unsigned seed = 1;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		struct share s[MOST];
		unsigned n = 1 + (unsigned)rand_r(&seed) % MOST;
		uint32_t rate = 1 + (uint32_t)rand_r(&seed) % (i % 2 ? UINT32_MAX - 1 : 1000);

		for (unsigned k = 0; k < n; k++)
			s[k] = (struct share){ (uint32_t)rand_r(&seed) * (uint32_t)(k % 3),
					       (uint32_t)rand_r(&seed) * (uint32_t)(k % 2) };
		divide(s, n, rate);
		for (unsigned k = 0; k < n; k++)
			assert_in_range(s[k].kbits, 1, rate);
		/* Initial parts are not reserved: the sum is at most twice the rate and a
		 * rounding. */
		assert_true(sum(s, n) <= 2 * (uint64_t)rate + n);
	}
}

/* --- a link --- */

#define STEP_MS 10
#define TELL	10 /* steps from one PONG to the next */
#define LATE	5  /* steps until a share takes effect */
#define LATELY	30 /* recent steps: with 100, ten new senders kept 200 ms */

struct sim {
	unsigned n, step;
	double wants[MOST], sends[MOST], obeys[MOST][LATE + 1];
	double past[MOST][LATELY];
	struct shares shares;
	struct share share[MOST];
	double queue; /* kbit */
	double most_ms, carried, could;
	double disobeys; /* rate of the first sender, independent of its share */
};

static void measure(struct sim *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		double all = 0;

		for (unsigned k = 0; k < LATELY; k++)
			all += s->past[i][k];
		s->share[i].got_kbits = (uint32_t)(all / LATELY);
	}
	shares_divide(&s->shares, s->share, s->n, RATE);
}

/* Bytes of TCP in the sender's own queue: the full share at once, or twice as much each 100 ms. */
static double step_of(struct sim *s, unsigned i)
{
	double may = min_of(s->wants[i], s->obeys[i][s->step % (LATE + 1)]);

	s->sends[i] = min_of(may, max_of(s->sends[i] * 1.07, 1000.0));
	if (!i && s->disobeys > 0)
		s->sends[i] = s->disobeys;
	s->obeys[i][(s->step + LATE) % (LATE + 1)] = s->share[i].kbits;
	return s->sends[i];
}

static void one_step(struct sim *s)
{
	double arrives = 0, room = LINE * STEP_MS / 1000.0;

	for (unsigned i = 0; i < s->n; i++)
		arrives += s->past[i][s->step % LATELY] = step_of(s, i);
	s->queue += arrives * STEP_MS / 1000;
	s->carried += min_of(s->queue, room);
	s->could += RATE * STEP_MS / 1000.0;
	s->queue -= min_of(s->queue, room);
	s->most_ms = max_of(s->most_ms, s->queue * 1000 / LINE);
	if (s->step % TELL == 0)
		measure(s);
	s->step++;
}

static void run(struct sim *s, unsigned ms)
{
	s->most_ms = s->carried = s->could = 0;
	for (unsigned t = 0; t < ms; t += STEP_MS)
		one_step(s);
}

static void one_begins(void **state)
{
	struct sim s = { .n = 10, .wants = { 1e9 } };

	(void)state;
	run(&s, 3000);
	run(&s, 5000);
	assert_true(s.carried > 0.97 * s.could);
	assert_true(s.most_ms < 1);
}

/* Measures the time until each sender has its part, and the largest queue during that time. */
static void others_begin_and_end(void **state)
{
	struct sim s = { .n = 10, .wants = { 1e9 } };

	(void)state;
	run(&s, 8000);
	for (unsigned n = 1; n < 5; n++) {
		s.wants[n] = 1e9;
		run(&s, 3000);
		assert_true(s.most_ms < 40);
		run(&s, 3000);
		assert_true(s.most_ms < 5);
		assert_true(s.carried > 0.95 * s.could);
		for (unsigned i = 0; i <= n; i++)
			assert_true(s.sends[i] > 0.8 * RATE / (n + 1));
	}
	for (unsigned n = 4; n > 0; n--) {
		s.wants[n] = 0;
		run(&s, 5000);
		run(&s, 3000);
		assert_true(s.carried > 0.95 * s.could);
	}
}

/* Ten senders begin at one time on an unused link. */
static void many_begin_on_an_idle_line(void **state)
{
	struct sim s = { .n = 10 };

	(void)state;
	run(&s, 3000);
	for (unsigned i = 0; i < 10; i++)
		s.wants[i] = 1e9;
	run(&s, 3000);
	assert_true(s.most_ms < 40);
	run(&s, 3000);
	assert_true(s.most_ms < 5);
	assert_true(s.carried > 0.95 * s.could);
}

/* One sender relays datagrams without congestion control. The other senders yield. */
static void relayed_data_is_made_room_for(void **state)
{
	struct sim s = { .n = 3, .wants = { 1e9, 1e9, 1e9 } };

	(void)state;
	s.disobeys = 60000;
	run(&s, 12000);
	run(&s, 5000);
	assert_true(s.carried > 0.95 * s.could);
	assert_true(s.most_ms < 5);
}

/* Ten senders begin at one time on a link with one sender. */
static void many_begin(void **state)
{
	struct sim s = { .n = 11, .wants = { 1e9 } };

	(void)state;
	run(&s, 8000);
	for (unsigned i = 1; i < 11; i++)
		s.wants[i] = 1e9;
	run(&s, 3000);
	assert_true(s.most_ms < 40);
	run(&s, 5000);
	assert_true(s.most_ms < 5);
	assert_true(s.carried > 0.95 * s.could);
	for (unsigned i = 0; i < 11; i++)
		assert_true(s.sends[i] > 0.7 * RATE / 11);
}

/* --- the arrival rate --- */

static mono_t at_ms(int64_t ms)
{
	return (mono_t){ (1000 + ms) * NS_PER_MS };
}

static void the_rate_of_a_counter(void **state)
{
	struct share_meter m = { 0 };

	(void)state;
	/* No value yet, several values at one time, and no passing time. */
	assert_int_equal(share_meter_note(&m, 5000000, at_ms(0)), 0);
	assert_int_equal(share_meter_note(&m, 5001000, at_ms(0)), 0);
	assert_int_equal(share_meter_note(&m, 5001000, at_ms(1)), 0);
	/* 12.5 bytes per ms are 100 kbit/s. */
	for (unsigned i = 1; i <= 20; i++)
		assert_in_range(share_meter_note(&m, 5001000 + i * 1250, at_ms(i * 100)), 100, 180);
	assert_int_equal(share_meter_note(&m, 5001000 + 20 * 1250, at_ms(2000)), 100);
	/* The rate expires within 300 ms after the last byte. */
	share_meter_note(&m, 5026000, at_ms(2100));
	share_meter_note(&m, 5026000, at_ms(2200));
	assert_int_equal(share_meter_note(&m, 5026000, at_ms(2300)), 0);
	/* A late value gives the mean of the interval. */
	assert_int_equal(share_meter_note(&m, 5026000 + 1250 * 97, at_ms(12000)),
			 97 * 10000 / 9900);
	/* The counter has restarted. */
	assert_int_equal(share_meter_note(&m, 7, at_ms(12100)), 0);
	assert_int_equal(share_meter_note(&m, 7 + 1250, at_ms(12200)), 100);
	assert_int_equal(share_meter_note(&m, UINT64_MAX / 16000, at_ms(12300)), UINT32_MAX);
}

/* --- the requested rate --- */

static void what_is_asked_ends(void **state)
{
	struct share_request a = { 0 };

	(void)state;
	assert_false(share_expire(&a, at_ms(0)));
	assert_false(share_receive(&a, 0, at_ms(100)));
	assert_true(share_receive(&a, 500, at_ms(100)));
	assert_false(share_receive(&a, 500, at_ms(200)));
	assert_false(share_expire(&a, at_ms(199)));
	assert_true(share_expire(&a, at_ms(200)));
	assert_int_equal(a.kbits, 0);
	assert_false(share_expire(&a, at_ms(300)));
	assert_true(share_receive(&a, 500, at_ms(400)));
	assert_true(share_receive(&a, 0, at_ms(400)));
	assert_false(share_expire(&a, at_ms(1000)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_has_all),
		cmocka_unit_test(all_who_use_theirs_have_equal_ones),
		cmocka_unit_test(what_one_leaves_the_others_have),
		cmocka_unit_test(who_is_idle_can_begin),
		cmocka_unit_test(what_is_free_can_be_begun_with),
		cmocka_unit_test(what_is_too_much_is_withheld),
		cmocka_unit_test(any_numbers),
		cmocka_unit_test(one_begins),
		cmocka_unit_test(others_begin_and_end),
		cmocka_unit_test(many_begin_on_an_idle_line),
		cmocka_unit_test(relayed_data_is_made_room_for),
		cmocka_unit_test(many_begin),
		cmocka_unit_test(the_rate_of_a_counter),
		cmocka_unit_test(what_is_asked_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
