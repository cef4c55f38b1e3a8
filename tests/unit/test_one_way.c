// SPDX-License-Identifier: GPL-2.0-or-later
/* One-way delay variation with unsynchronised clocks: offsets cancel, each direction has its own
 * value, and clocks may wrap, drift and jump. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "state/latency/one_way.h"

/* Two nodes with one PING per second. */
struct pair {
	struct one_way w;
	int64_t at_us;	   /* by the clock of the sender of PING */
	int64_t offset_us; /* offset of the other clock */
	int64_t drift_ppm;
};

static mono_t mono_of(int64_t us)
{
	return (mono_t){ us * 1000 };
}

static void ping(struct pair *p, int64_t forward_us, int64_t reverse_us, uint32_t held_us)
{
	int64_t sent = p->at_us, arrived = sent + forward_us;
	struct one_way_times t = {
		.sent_us = sent,
		.answered_us = arrived + held_us + reverse_us,
		.arrived_us = (uint32_t)(arrived + p->offset_us + arrived * p->drift_ppm / 1000000),
		.held_us = held_us,
	};

	one_way_note(&p->w, &t, mono_of(t.answered_us));
	p->at_us += 1000000;
}

static void the_direction_that_varies_is_notified(void **state)
{
	static const int64_t offsets[] = { 0, 123456789, -987654321, 1LL << 40 };

	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		struct pair p = { .at_us = 5000000, .offset_us = offsets[k] };

		for (unsigned i = 0; i < 120; i++)
			ping(&p, 20000 + (i % 2 ? 8000 : 0), 35000, i % 3 * 700);
		assert_true(one_way_is_known(&p.w, mono_of(p.at_us)));
		assert_in_range(p.w.forward.beyond_us, 3500, 4500);
		assert_in_range(p.w.reverse.beyond_us, 0, 10);
		assert_in_range(p.w.jitter_us, 7500, 8000);
	}
}

static void what_lasts_is_the_new_least(void **state)
{
	struct pair p = { .at_us = 1000000 };

	(void)state;
	for (unsigned i = 0; i < 60; i++)
		ping(&p, 20000, 20000, 0);
	ping(&p, 20000, 50000, 0);
	assert_true(p.w.reverse.beyond_us > 0);
	/* A permanent increase of the propagation delay is not variation. */
	for (unsigned i = 0; i < 400; i++)
		ping(&p, 20000, 50000, 0);
	assert_in_range(p.w.reverse.beyond_us, 0, 60);
	assert_int_equal(p.w.forward.beyond_us, 0);
}

static void a_clock_may_wrap_and_drift(void **state)
{
	/* The clock wraps within the first minute of the test. */
	struct pair p = { .at_us = 1000000, .offset_us = (1LL << 32) - 30000000 };

	(void)state;
	for (unsigned i = 0; i < 120; i++)
		ping(&p, 20000, 20000, 0);
	assert_int_equal(p.w.forward.beyond_us, 0);
	assert_int_equal(p.w.reverse.beyond_us, 0);
	p = (struct pair){ .at_us = 1000000, .drift_ppm = 50 };
	for (unsigned i = 0; i < 5000; i++)
		ping(&p, 20000, 20000, 0);
	assert_in_range(p.w.forward.beyond_us, 100, 1000);
	assert_in_range(p.w.reverse.beyond_us, 0, 60);
}

static void a_clock_that_jumps_begins_anew(void **state)
{
	struct pair p = { .at_us = 1000000, .offset_us = 3600000000LL };

	(void)state;
	for (unsigned i = 0; i < 30; i++)
		ping(&p, 20000, 20000, 0);
	p.offset_us = 0;
	ping(&p, 20000, 20000, 0);
	assert_false(one_way_is_known(&p.w, mono_of(p.at_us)));
	for (unsigned i = 0; i < 30; i++)
		ping(&p, 20000, 20000, 0);
	assert_true(one_way_is_known(&p.w, mono_of(p.at_us)));
	assert_int_equal(p.w.forward.beyond_us, 0);
	/* After one minute without samples the value is unknown. */
	assert_false(one_way_is_known(&p.w, mono_of(p.at_us + 61000000)));
}

/* The clocks drift apart by 120 ms during a silence of 40 minutes. */
static void a_silence_begins_anew(void **state)
{
	struct pair p = { .at_us = 1000000, .drift_ppm = 50 };
	uint32_t offset_us, rtt_us;

	(void)state;
	for (unsigned i = 0; i < 30; i++)
		ping(&p, 20000, 20000, 0);
	p.at_us += 2400LL * 1000000;
	ping(&p, 20000, 20000, 0);
	assert_false(one_way_is_known(&p.w, mono_of(p.at_us)));
	for (unsigned i = 0; i < 30; i++) {
		ping(&p, 20000, 20000, 0);
		assert_in_range(p.w.forward.beyond_us, 0, 1000);
		if (!one_way_clock(&p.w, mono_of(p.at_us), &offset_us, &rtt_us))
			continue;
		assert_in_range(rtt_us, 39000, 41000);
		assert_in_range(offset_us, p.at_us * p.drift_ppm / 1000000 - 2000,
				p.at_us * p.drift_ppm / 1000000 + 2000);
	}
	assert_true(one_way_is_known(&p.w, mono_of(p.at_us)));
}

/* A few lost answers are no silence. */
static void a_short_silence_keeps_the_minima(void **state)
{
	struct pair p = { .at_us = 1000000 };

	(void)state;
	for (unsigned i = 0; i < 30; i++)
		ping(&p, 20000, 20000, 0);
	p.at_us += 50LL * 1000000;
	ping(&p, 20000, 20000, 0);
	assert_true(one_way_is_known(&p.w, mono_of(p.at_us)));
}

static void answers_of_one_instant_are_taken(void **state)
{
	struct pair p = { .at_us = 1000000 };

	(void)state;
	/* A delayed thread reads several samples at one time of its clock. */
	for (unsigned i = 0; i < 5; i++)
		one_way_note(&p.w, &(struct one_way_times){ .answered_us = 20000 + i },
			     mono_of(p.at_us));
	assert_true(one_way_is_known(&p.w, mono_of(p.at_us)));
	for (unsigned i = 0; i < 60; i++)
		ping(&p, 20000, 20000, 0);
	assert_in_range(p.w.jitter_us, 0, 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_direction_that_varies_is_notified),
		cmocka_unit_test(what_lasts_is_the_new_least),
		cmocka_unit_test(a_clock_may_wrap_and_drift),
		cmocka_unit_test(a_clock_that_jumps_begins_anew),
		cmocka_unit_test(a_silence_begins_anew),
		cmocka_unit_test(a_short_silence_keeps_the_minima),
		cmocka_unit_test(answers_of_one_instant_are_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
