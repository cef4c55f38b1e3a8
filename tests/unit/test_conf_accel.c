// SPDX-License-Identifier: GPL-2.0-or-later
/* acceleration in the configuration: accepted values, refusals, and differences. */
#include "base/defs.h"
#include "conf_lab.h"

static void nothing_is_off(void **state)
{
	struct conf *c = good("");

	(void)state;
	assert_false(c->acceleration);
	assert_int_equal(c->accel.mode, ACCEL_OFF);
	conf_free(c);
}

static void is_read(void **state)
{
	struct conf *c = good("'acceleration': {}");

	(void)state;
	assert_int_equal(c->accel.mode, ACCEL_MOVED);
	assert_int_equal(c->accel.threshold_us, 50000);
	assert_int_equal(c->accel.segments, 32);
	assert_int_equal(c->accel.maximum, 4096);
	assert_int_equal(c->accel.cache_log, 26);
	conf_free(c);

	c = good("'acceleration': { 'mode': 'always', 'compression': { 'cache-size': 3 },"
		 "'include': { 'prefix': ['10.0.0.0/8', '2001:db8::/32'], 'port': ['443'] },"
		 "'exclude': { 'port': ['22', '8000-8080'] } }");
	assert_int_equal(c->accel.mode, ACCEL_ALWAYS);
	assert_int_equal(c->accel.cache_log, 21);
	assert_int_equal(c->accel.include.n_prefixes, 2);
	assert_int_equal(c->accel.include.n_ports, 1);
	assert_int_equal(c->accel.exclude.n_prefixes, 0);
	assert_int_equal(c->accel.exclude.port[1].last, 8080);
	conf_free(c);

	c = good("'acceleration': { 'compression': { 'disable': true, 'cache-size': 128 } }");
	assert_int_equal(c->accel.cache_log, 0);
	conf_free(c);
}

static void nonsense_is_refused(void **state)
{
	static const struct refusal cases[] = {
		{ "'acceleration': { 'mode': 'never' }", "acceleration.mode", "moved" },
		{ "'acceleration': { 'threshold': 0 }", "acceleration.threshold", "1" },
		{ "'acceleration': { 'maximum-connections': 4097 }",
		  "acceleration.maximum-connections", "4096" },
		{ "'acceleration': { 'include': { 'prefix': ['10.0.0.1/8'] } }",
		  "acceleration.include.prefix", "no prefix" },
		{ "'acceleration': { 'exclude': { 'port': ['http'] } }",
		  "acceleration.exclude.port", "no port" },
		{ "'acceleration': { 'exclude': { 'port': ['9-8'] } }", "acceleration.exclude.port",
		  "no port" },
		{ "'acceleration': { 'include': { 'protocol': ['tcp'] } }",
		  "acceleration.include.protocol", "" },
	};

	(void)state;
	all_are_refused(cases, array_size(cases));
}

static unsigned change(const char *from, const char *to)
{
	struct conf *a = good(from), *b = good(to);
	unsigned changes = conf_diff(a, b);

	conf_free(a);
	conf_free(b);
	return changes;
}

static void changes_are_live(void **state)
{
	(void)state;
	assert_int_equal(change("", "'acceleration': {}"), CONF_ACCELERATION);
	assert_int_equal(change("'acceleration': {}", "'acceleration': {}"), CONF_SAME);
	assert_int_equal(change("'acceleration': { 'include': { 'port': ['80'] } }",
				"'acceleration': { 'include': { 'port': ['81'] } }"),
			 CONF_ACCELERATION);
	assert_int_equal(change("'acceleration': { 'include': { 'prefix': ['10.0.0.0/8'] } }",
				"'acceleration': { 'exclude': { 'prefix': ['10.0.0.0/8'] } }"),
			 CONF_ACCELERATION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_off),
		cmocka_unit_test(is_read),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(changes_are_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
