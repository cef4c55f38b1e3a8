// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fwd/lan/storm limits the number of frames in an interval. Virtual time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fwd/lan/lan_state.h"

#define T0 ((mono_t){ NS_PER_S })

/* Offers a frame each step_ns for span_ns. Returns the number of accepted frames. */
static unsigned offer(struct bucket *s, uint32_t rate, unsigned n_workers, mono_t from,
		      int64_t step_ns, int64_t span_ns)
{
	unsigned n = 0;

	for (int64_t at = 0; at < span_ns; at += step_ns)
		n += storm_pass(s, rate, n_workers, mono_add_ns(from, at));
	return n;
}

static void no_limit(void **state)
{
	struct bucket s = { 0 };

	(void)state;
	assert_int_equal(offer(&s, 0, 1, T0, 1, 1000), 1000);
}

static void burst_then_rate(void **state)
{
	struct bucket s = { 0 };

	(void)state;
	/* The frames of 250 ms pass at once, and no more. */
	assert_int_equal(offer(&s, 1000, 1, T0, 1, 1000), 250);
	/* Then the rate applies: of a tenfold flood of 10 s, the frames of 10 s pass. */
	assert_in_range(offer(&s, 1000, 1, mono_add_ms(T0, 1), 100000, 10 * NS_PER_S), 9990, 10010);
}

static void below_the_rate_all_pass(void **state)
{
	struct bucket s = { 0 };

	(void)state;
	assert_int_equal(offer(&s, 1000, 1, T0, 1100000, NS_PER_S), 910);
}

static void workers_share_the_rate(void **state)
{
	struct bucket s = { 0 };

	(void)state;
	assert_int_equal(offer(&s, 1000, 4, T0, 1, 1000), 62);
	assert_in_range(offer(&s, 1000, 4, mono_add_ms(T0, 1), 100000, 8 * NS_PER_S), 1990, 2010);
}

static void very_low_rates_let_one_pass(void **state)
{
	struct bucket s = { 0 };

	(void)state;
	/* One frame per second and eight workers: each worker may send one frame in eight
	 * seconds. */
	assert_int_equal(offer(&s, 1, 8, T0, NS_PER_MS, 8 * NS_PER_S), 1);
	assert_int_equal(offer(&s, 1, 8, mono_add_ms(T0, 8000), NS_PER_MS, 8 * NS_PER_S), 1);
}

static void quiet_time_saves_one_burst_only(void **state)
{
	struct bucket s = { 0 };

	(void)state;
	offer(&s, 1000, 1, T0, 1, 1000);
	assert_int_equal(offer(&s, 1000, 1, mono_add_ms(T0, 3600000), 1, 1000), 250);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_limit),
		cmocka_unit_test(burst_then_rate),
		cmocka_unit_test(below_the_rate_all_pass),
		cmocka_unit_test(workers_share_the_rate),
		cmocka_unit_test(very_low_rates_let_one_pass),
		cmocka_unit_test(quiet_time_saves_one_burst_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
