// SPDX-License-Identifier: GPL-2.0-or-later
/* Every drop reason and counter has a sentence and a unique name that is a JSON key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <string.h>

#include "fwd/stats.h"

static void check_name(const char *name)
{
	assert_true(islower((unsigned char)name[0]));
	for (; *name; name++)
		assert_true(islower((unsigned char)*name) || isdigit((unsigned char)*name) ||
			    *name == '_');
}

static void drops_are_named(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N_DROPS; i++) {
		check_name(drop_stats[i].name);
		assert_true(strlen(drop_stats[i].text) > 10);
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(drop_stats[i].name, drop_stats[j].name);
	}
	assert_string_equal(drop_stats[DROP_wrong_vni].name, "wrong_vni");
}

static void counters_are_named(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N_COUNTERS; i++) {
		check_name(counter_stats[i].name);
		assert_true(strlen(counter_stats[i].text) > 10);
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(counter_stats[i].name, counter_stats[j].name);
	}
	assert_string_equal(counter_stats[CNT_flood_tx].name, "flood_tx");
}

static void counting(void **state)
{
	static struct stats s;

	(void)state;
	stats_add(&s.counter[CNT_net_rx_bytes], 1500);
	stats_add(&s.counter[CNT_net_rx_bytes], 20);
	stats_add(&s.drop[DROP_path_loop], 1);
	stats_add(&s.drop[DROP_path_loop], 1);
	assert_int_equal(atomic_load(&s.counter[CNT_net_rx_bytes]), 1520);
	assert_int_equal(atomic_load(&s.drop[DROP_path_loop]), 2);
	assert_int_equal(atomic_load(&s.drop[DROP_truncated]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drops_are_named),
		cmocka_unit_test(counters_are_named),
		cmocka_unit_test(counting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
