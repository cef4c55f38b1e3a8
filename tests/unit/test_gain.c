// SPDX-License-Identifier: GPL-2.0-or-later
/* The improvement of the path in use over the direct path, by time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "state/latency/gain.h"

#define S(n) ((mono_t){ (n)*NS_PER_S })

static struct path of(uint32_t rtt_us)
{
	return (struct path){ .n_hops = rtt_us ? 1 : 0,
			      .cost_us = rtt_us ? rtt_us : COST_INFINITE,
			      .rtt_us = rtt_us };
}

static void note(struct gain *g, uint32_t used_us, uint32_t direct_us, int64_t at)
{
	struct path used = of(used_us), direct = of(direct_us);

	gain_note(g, &used, &direct, S(at));
}

static void times_weigh(void **state)
{
	struct gain g = { 0 }, sum = { 0 };

	(void)state;
	assert_int_equal(gain_used_us(&g), 0);
	note(&g, 50000, 100000, 1);
	note(&g, 20000, 20000, 11); /* 10 s at half the cost */
	gain_add(&sum, &g, S(41));  /* 30 s without improvement, not finished */
	assert_int_equal(sum.both_ms, 40000);
	assert_int_equal(gain_used_us(&sum), (50000 * 10 + 20000 * 30) / 40);
	assert_int_equal(gain_direct_us(&sum), (100000 * 10 + 20000 * 30) / 40);
	/* Reading does not change the state. */
	assert_int_equal(g.both_ms, 10000);
}

static void no_ratio_without_both(void **state)
{
	struct gain g = { 0 }, sum = { 0 };
	struct path used = of(30000), direct = of(90000);

	(void)state;
	note(&g, 0, 0, 1);
	note(&g, 50000, 0, 11); /* no path worked until now */
	note(&g, 50000, 100000, 31);
	direct.silent = true;
	gain_note(&g, &used, &direct, S(36));
	gain_add(&sum, &g, S(100));
	assert_int_equal(sum.without_direct_ms, 20000);
	assert_int_equal(sum.both_ms, 5000);
	assert_int_equal(gain_used_us(&sum), 50000);
}

/* Several observations within one millisecond lose no time. */
static void short_stretches_add_up(void **state)
{
	struct path used = of(10000), direct = of(20000);
	struct gain g = { 0 };

	(void)state;
	for (int64_t i = 0; i <= 10000; i++)
		gain_note(&g, &used, &direct, (mono_t){ NS_PER_S + i * 100000 });
	assert_int_equal(g.both_ms, 1000);
	assert_int_equal(gain_used_us(&g), 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_weigh),
		cmocka_unit_test(no_ratio_without_both),
		cmocka_unit_test(short_stretches_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
