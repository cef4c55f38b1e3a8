// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Segments in the configuration: accepted values, refusals, and differences.
 */
#include "conf_lab.h"

#define STORAGE "'segment': { 'storage': { 'vlan': 10, 'id': 70010 } }"

static void segments_are_read(void **state)
{
	struct conf *c = good("'segment': { 'z': { 'vlan': 0, 'id': 16777215 },"
			      " 'a.b-c_1': { 'vlan': 4094, 'id': 1 } }");

	(void)state;
	assert_int_equal(c->n_segments, 2);
	assert_string_equal(c->segment[0].name, "a.b-c_1");
	assert_int_equal(c->segment[0].vlan, 4094);
	assert_int_equal(c->segment[0].id, 1);
	assert_string_equal(c->segment[1].name, "z");
	assert_int_equal(c->segment[1].vlan, 0);
	assert_int_equal(c->segment[1].id, 16777215);
	conf_free(c);
	/* VLANs may exchange their ids, and a VLAN may use the number of a VLAN that is not
	 * served. */
	c = good("'vlan': ['10-11'], 'segment': { 'a': { 'vlan': 10, 'id': 11 },"
		 " 'b': { 'vlan': 11, 'id': 12 } }");
	assert_int_equal(c->n_segments, 2);
	conf_free(c);
}

static void bad_segments_are_refused(void **state)
{
	static const struct refusal cases[] = {
		{ "'segment': { 'a': { 'id': 5 } }", "segment.a.vlan", "is missing" },
		{ "'segment': { 'a': { 'vlan': 5 } }", "segment.a.id", "is missing" },
		{ "'segment': { 'a': { 'vlan': 4095, 'id': 5 } }", "segment.a.vlan", "0 to 4094" },
		{ "'segment': { 'a': { 'vlan': 5, 'id': 0 } }", "segment.a.id", "1 to 16777215" },
		{ "'segment': { 'a': { 'vlan': 5, 'id': 16777216 } }", "segment.a.id",
		  "1 to 16777215" },
		{ "'segment': { 'a': { 'vlan': 5, 'id': 4095 } }", "segment.a.id", "no VLAN tag" },
		{ "'segment': { 'a b': { 'vlan': 5, 'id': 5 } }", "segment.a b", "letters" },
		{ "'segment': { 'a': { 'vlan': 5, 'id': 9 }, 'b': { 'vlan': 6, 'id': 9 } }",
		  "segment", "the same id 9" },
		{ "'segment': { 'a': { 'vlan': 5, 'id': 9 }, 'b': { 'vlan': 5, 'id': 8 } }",
		  "segment", "VLAN 5" },
		{ "'vlan': ['10-20'], 'segment': { 'a': { 'vlan': 10, 'id': 20 } }", "segment",
		  "and so has VLAN 20" },
		{ "'acceleration': {}, " STORAGE, "segment", "together with acceleration" },
	};

	(void)state;
	all_are_refused(cases, array_size(cases));
}

static void segments_differ(void **state)
{
	static const char *const all[] = {
		"",
		STORAGE,
		"'segment': { 'storage': { 'vlan': 11, 'id': 70010 } }",
		"'segment': { 'storage': { 'vlan': 10, 'id': 70011 } }",
		"'segment': { 'disks': { 'vlan': 10, 'id': 70010 } }",
	};

	(void)state;
	all_differ(all, array_size(all), CONF_FRAMES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_are_read),
		cmocka_unit_test(bad_segments_are_refused),
		cmocka_unit_test(segments_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
