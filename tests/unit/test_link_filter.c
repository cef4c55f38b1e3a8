// SPDX-License-Identifier: GPL-2.0-or-later
/* The present delay that the filter of one link computes. test_latdb.c tests its other parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "state/latency/latdb.h"

#define S(n) ((mono_t){ (n)*NS_PER_S })

/* Returns a pseudo-random value, uniform between 50 and 150 ms. */
static uint32_t drawn(unsigned i)
{
	return 50000 + (i * 2654435761u >> 8) % 100001;
}

/* The filter follows a permanent change in both directions within three probes. A single answer
 * does not affect path choice. */
static void now_follows_what_stands(void **state)
{
	struct link_filter f;
	int t = 1;

	(void)state;
	link_filter_reset(&f, 1800);
	for (int i = 0; i < 200; i++)
		link_filter_answer(&f, 40000 + (uint32_t)(i % 3) * 200, S(t++));
	assert_in_range(f.now_us, 40000, 40400);
	link_filter_answer(&f, 400000, S(t++));
	assert_in_range(f.now_us, 40000, 40600);
	for (int i = 0; i < 5; i++) {
		link_filter_answer(&f, 40200, S(t++));
		assert_in_range(f.now_us, 40000, 40600);
	}
	for (int i = 0; i < 3; i++)
		link_filter_answer(&f, 60000, S(t++));
	assert_in_range(f.now_us, 56000, 60000);
	for (int i = 0; i < 60; i++)
		link_filter_answer(&f, 60000, S(t++));
	for (int i = 0; i < 3; i++)
		link_filter_answer(&f, 40000, S(t++));
	assert_in_range(f.now_us, 40000, 43000);
}

/* If each answer is random, the present delay is their average. The variation of the average is a
 * fraction of the variation of the answers, with one or ten probes per second. */
static void now_is_the_average_of_noise(void **state)
{
	(void)state;
	for (unsigned per_s = 1; per_s <= 10; per_s += 9) {
		struct link_filter f;

		link_filter_reset(&f, 1800);
		for (unsigned i = 0; i < 1800 * per_s; i++) {
			link_filter_answer(&f, drawn(i),
					   (mono_t){ (1 + i / per_s) * NS_PER_S +
						     i % per_s * (NS_PER_S / per_s) });
			if (i > 120 * per_s)
				assert_in_range(f.now_us, 82000, 118000);
		}
		assert_in_range(f.dev_us, 22000, 28000);
		assert_in_range(f.variation_us, 300, 6000);
		assert_in_range(f.long_term_us, 97000, 103000);
	}
}

/* An answer that other answers overtook counts for the average and not for the present delay. */
static void overtaken_answers_are_not_forgotten(void **state)
{
	struct link_filter f;

	(void)state;
	link_filter_reset(&f, 1800);
	for (int i = 0; i < 1000; i++) {
		mono_t at = S(1 + i);

		link_filter_answer(&f, 100000, at);
		if (i % 2)
			link_filter_overtaken(&f, 3000000, mono_add_ms(at, 500));
	}
	assert_in_range(f.quick_us, 100000, 100000);
	assert_in_range(f.long_term_us, 700000, 1300000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(now_follows_what_stands),
		cmocka_unit_test(now_is_the_average_of_noise),
		cmocka_unit_test(overtaken_answers_are_not_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
