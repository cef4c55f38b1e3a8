// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * proto/measure/line_rates passes the inputs of each pair of lines to state/rates/line_rate.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/loop.h"
#include "proto/measure/measure.h"

#define IN_USE	  0u
#define SECOND	  3u
#define RTT_US	  20000
#define STEP_MS	  100
#define RATE_KBIT 30000
#define DRIFT_PPM 100

static struct overlay o;
static struct peer p;
static struct line_pair pairs[LINE_PAIRS];
static struct msg_pong pong;
static int64_t drift_us; /* of the clock of the peer */
static uint32_t set_kbits[2];

static void line_traffic(void *arg, uint16_t slot, unsigned pair, uint64_t *tx, uint64_t *rx)
{
	(void)arg, (void)slot, (void)pair;
	*tx = pong.received;
	*rx = 0;
}

static void line_set(void *arg, uint16_t slot, bool second, uint32_t kbits, uint32_t delay_us)
{
	(void)arg, (void)slot, (void)delay_us;
	set_kbits[second] = kbits;
}

static void line_correct(void *arg, uint16_t slot, bool second, int64_t us)
{
	(void)arg, (void)slot, (void)second, (void)us;
}

static int setup(void **state)
{
	(void)state;
	memset(&p, 0, sizeof(p));
	memset(pairs, 0, sizeof(pairs));
	o = (struct overlay){ .loop = loop_sim_new(), .n_lines = 2 };
	o.ops.line_traffic = line_traffic;
	o.ops.line_set = line_set;
	o.ops.line_correct = line_correct;
	p.lines.pair = pairs;
	p.lines.in_use = IN_USE;
	pong = (struct msg_pong){ .epoch = 1, .has_received = true };
	drift_us = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	loop_free(o.loop);
	return 0;
}

static struct link_filter *filter_of(unsigned pair)
{
	return pair == IN_USE ? &p.probe.filter : &pairs[pair].filter;
}

/* Answers to a PING each step, with a queue in the direction of the PINGs. */
static void answer(unsigned pair, uint32_t queue_us, unsigned steps)
{
	while (steps--) {
		mono_t sent = loop_now(o.loop);

		pong.received += RATE_KBIT * STEP_MS / 8;
		pong.arrived_us = (uint32_t)(sent.ns / NS_PER_US + drift_us) + queue_us;
		drift_us += STEP_MS * DRIFT_PPM / 1000;
		loop_sim_run_until(o.loop, mono_add_ms(sent, STEP_MS));
		link_filter_answer(filter_of(pair), RTT_US + queue_us, loop_now(o.loop));
		line_rates_answer(&o, &p, pair, &pong, sent, 0);
	}
}

static void test_drift_is_no_queue(void **state)
{
	(void)state;
	for (unsigned pair = IN_USE; pair <= SECOND; pair += SECOND) {
		answer(pair, 0, 3000);
		assert_true(mono_is_never(pairs[pair].rate.full_at));
		answer(pair, 10000, 2);
		assert_false(mono_is_never(pairs[pair].rate.full_at));
	}
}

/* Such as by answers in another order. */
static void test_second_line_whose_measurement_restarts(void **state)
{
	(void)state;
	p.lines.distributes = true;
	p.lines.second = SECOND;
	pairs[IN_USE].rate.kbits = 50000;
	answer(SECOND, 0, 5);
	assert_int_equal(set_kbits[0], 50000);
	pong.received = 0;
	answer(SECOND, 0, 1);
	assert_in_range(set_kbits[1], 1, 50000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_drift_is_no_queue, setup, teardown),
		cmocka_unit_test_setup_teardown(test_second_line_whose_measurement_restarts, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
