// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Export of flows in the configuration: accepted values, refusals, and differences.
 */
#include "conf_lab.h"

static void the_collector_is_read(void **state)
{
	struct conf *c = good("'flow-export': { 'collector': '2001:db8::9', 'port': 2055 }");

	(void)state;
	assert_int_equal(c->flow_collector.family, 6);
	assert_int_equal(c->flow_port, 2055);
	assert_int_equal(c->flow_sampling, 100);
	conf_free(c);
	c = good("");
	assert_int_equal(c->flow_collector.family, 0);
	conf_free(c);
}

static void bad_collectors_are_refused(void **state)
{
	static const struct refusal cases[] = {
		{ "'flow-export': {}", "flow-export.collector", "is missing" },
		{ "'flow-export': { 'sampling': 10 }", "flow-export.collector", "is missing" },
		{ "'flow-export': { 'collector': 'a.example' }", "flow-export.collector",
		  "unicast IP address" },
		{ "'flow-export': { 'collector': '224.0.0.1' }", "flow-export.collector",
		  "unicast IP address" },
		{ "'flow-export': { 'collector': 'fe80::1' }", "flow-export.collector",
		  "not of one link only" },
		{ "'flow-export': { 'collector': 7 }", "flow-export.collector", "" },
	};

	(void)state;
	all_are_refused(cases, array_size(cases));
}

static void collectors_differ(void **state)
{
	struct conf *a = good("'flow-export': { 'collector': '192.0.2.9' }");
	struct conf *b = good("'flow-export': { 'collector': '192.0.2.8' }"), *none = good("");

	(void)state;
	assert_int_equal(conf_diff(a, a), 0);
	assert_int_equal(conf_diff(a, b), CONF_FLOWS);
	assert_int_equal(conf_diff(a, none), CONF_FLOWS);
	conf_free(a);
	conf_free(b);
	conf_free(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_collector_is_read),
		cmocka_unit_test(bad_collectors_are_refused),
		cmocka_unit_test(collectors_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
