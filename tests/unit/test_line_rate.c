// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * state/rates/line_rate finds the rate of a simulated line that is full, follows it, and ignores an
 * offset of the clocks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/defs.h"
#include "state/rates/line_rate.h"

#define STEP_US	  100000
#define DELAY_US  10000
#define OFFSET_US 3000000000u /* difference of the clocks */

static struct line_rate rate;
static uint32_t line_kbits, epoch;
static uint64_t sent_bits, received_bits, lost_bits;
static int64_t now_us, drift_ppm; /* of the clock of the peer */

static int setup(void **state)
{
	(void)state;
	line_rate_reset(&rate);
	line_kbits = 50000;
	epoch = 1;
	sent_bits = received_bits = lost_bits = 0;
	now_us = 1000000;
	drift_ppm = 0;
	return 0;
}

/* One PING each step, with a queue of the bits that the line has not carried yet. */
static void carry(uint32_t kbits, unsigned steps)
{
	while (steps--) {
		uint64_t most = (uint64_t)line_kbits * STEP_US / 1000, queue_us;

		sent_bits += (uint64_t)kbits * STEP_US / 1000;
		received_bits += min_of(sent_bits - received_bits, most);
		queue_us = (sent_bits - received_bits) * 1000 / line_kbits;
		now_us += STEP_US;
		line_rate_note(&rate,
			       &(struct line_rate_sample){
				       .epoch = epoch,
				       .arrived_us = OFFSET_US + (uint32_t)(now_us + DELAY_US) +
						     (uint32_t)queue_us +
						     (uint32_t)(now_us * drift_ppm / 1000000),
				       .sent_us = (uint32_t)now_us,
				       .received = received_bits / 8 - lost_bits / 8,
				       .sent = sent_bits / 8,
				       .rise_us = (int64_t)queue_us },
			       (mono_t){ now_us * NS_PER_US });
	}
}

static void test_line_that_is_never_full(void **state)
{
	(void)state;
	carry(30000, 50);
	assert_int_equal(rate.kbits, 0);
	assert_int_equal(rate.queue_us, 0);
	assert_true(mono_is_never(rate.full_at));
}

static void test_full_line(void **state)
{
	(void)state;
	carry(30000, 5);
	carry(55000, 10);
	assert_in_range(rate.kbits, 45000, 55000);
	assert_in_range(rate.queue_us, 50000, 150000);
}

static void test_line_becomes_slower_and_faster(void **state)
{
	(void)state;
	carry(55000, 5);
	line_kbits = 20000;
	carry(21000, 25);
	assert_in_range(rate.kbits, 18000, 23000);
	line_kbits = 50000;
	carry(0, 10); /* the queue drains */
	for (unsigned i = 0; i < 30; i++)
		carry(min_of(rate.kbits, line_kbits), 1);
	assert_in_range(rate.kbits, 45000, 60000);
}

static void test_queue_of_others_is_no_rate(void **state)
{
	(void)state;
	carry(55000, 5);
	carry(0, 20);
	/* Little own data behind a standing queue. */
	for (unsigned i = 0; i < 20; i++) {
		sent_bits = received_bits + (uint64_t)line_kbits * 20;
		carry(1000, 1);
	}
	assert_in_range(rate.kbits, 40000, 60000);
}

static void test_restart_of_the_peer(void **state)
{
	(void)state;
	carry(55000, 5);
	epoch = 2;
	carry(10000, 1);
	assert_int_equal(rate.kbits, 0);
}

static void lose(unsigned pm, unsigned steps)
{
	while (steps--) {
		lost_bits += (uint64_t)20000 * STEP_US / 1000 * pm / 1000;
		carry(20000, 1);
	}
}

/* The clock of the peer is known modulo 72 minutes. */
static void test_long_silence(void **state)
{
	static const int64_t silence_s[] = { 500, 1500, 2400, 4000, 4290, 4300, 7000 };

	for (unsigned i = 0; i < array_size(silence_s); i++) {
		setup(state);
		carry(55000, 20);
		received_bits = sent_bits;
		now_us += silence_s[i] * 1000000;
		carry(1000, 1);
		assert_in_range(rate.kbits, 0, 55000);
		carry(55000, 20);
		assert_in_range(rate.kbits, 45000, 55000);
		assert_true(line_rate_was_full(&rate, 1500, (mono_t){ now_us * NS_PER_US }));
	}
}

static void test_line_that_loses(void **state)
{
	(void)state;
	lose(10, 200);
	assert_false(rate.loses);
	lose(50, 200);
	assert_true(rate.loses);
	lose(0, 200);
	assert_false(rate.loses);
}

static void test_outage_is_no_loss(void **state)
{
	(void)state;
	lose(0, 60);
	lose(1000, 10);
	line_rate_outage(&rate);
	lose(0, 30);
	assert_false(rate.loses);
}

static void test_own_data_fills_the_line(void **state)
{
	(void)state;
	carry(30000, 20);
	assert_false(line_rate_was_full(&rate, 1500, (mono_t){ now_us * NS_PER_US }));
	carry(55000, 10);
	assert_true(line_rate_was_full(&rate, 1500, (mono_t){ now_us * NS_PER_US }));
	carry(1000, 40);
	assert_false(line_rate_was_full(&rate, 1500, (mono_t){ now_us * NS_PER_US }));
}

/* A line without a queue is tested in small steps, because interactive traffic waits behind the
 * data above the rate. */
static void test_queue_of_a_test_is_short(void **state)
{
	int64_t longest_us = 0;

	(void)state;
	carry(55000, 10);
	carry(0, 10);
	for (unsigned i = 0; i < 100; i++) {
		carry(rate.queue_us > LINE_RATE_QUEUE_US ? 0 : rate.kbits, 1);
		longest_us = max_of(longest_us, rate.queue_us);
	}
	assert_in_range(longest_us, LINE_RATE_QUEUE_US + 1, 10000);
}

/* Two free-running clocks, and a clock that ntpd slews. */
static void test_drift_is_no_queue(void **state)
{
	static const int64_t ppm[] = { 100, 500 };

	for (unsigned i = 0; i < array_size(ppm); i++) {
		setup(state);
		drift_ppm = ppm[i];
		carry(30000, 3000);
		assert_int_equal(rate.kbits, 0);
		assert_true(mono_is_never(rate.full_at));
		carry(55000, 10);
		assert_in_range(rate.kbits, 45000, 55000);
	}
}

/* 5000 ppm for 42 minutes. */
static void test_drift_adds_up_to_no_jump(void **state)
{
	(void)state;
	carry(55000, 20);
	drift_ppm = 5000;
	carry(30000, 25000);
	assert_in_range(rate.kbits, 45000, 65000);
}

static void test_difference_of_two_lines(void **state)
{
	struct line_rate other = { 0 };

	(void)state;
	carry(1000, 3);
	line_rate_note(&other,
		       &(struct line_rate_sample){ .arrived_us = OFFSET_US + DELAY_US + 7500 },
		       (mono_t){ NS_PER_S });
	assert_int_equal((int32_t)(line_rate_base_us(&other) - line_rate_base_us(&rate)), 7500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_line_that_is_never_full, setup),
		cmocka_unit_test_setup(test_full_line, setup),
		cmocka_unit_test_setup(test_line_becomes_slower_and_faster, setup),
		cmocka_unit_test_setup(test_queue_of_others_is_no_rate, setup),
		cmocka_unit_test_setup(test_restart_of_the_peer, setup),
		cmocka_unit_test_setup(test_long_silence, setup),
		cmocka_unit_test_setup(test_line_that_loses, setup),
		cmocka_unit_test_setup(test_outage_is_no_loss, setup),
		cmocka_unit_test_setup(test_own_data_fills_the_line, setup),
		cmocka_unit_test_setup(test_queue_of_a_test_is_short, setup),
		cmocka_unit_test_setup(test_drift_is_no_queue, setup),
		cmocka_unit_test_setup(test_drift_adds_up_to_no_jump, setup),
		cmocka_unit_test_setup(test_difference_of_two_lines, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
