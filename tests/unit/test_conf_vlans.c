// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The served VLANs in the configuration: accepted values, refusals, and differences.
 */
#include "conf_lab.h"

static void vlans_are_read(void **state)
{
	struct conf *c = good("'vlan': ['10', '20-29', '0', '4094', '25-30']");
	char text[64];

	(void)state;
	assert_true(c->has_vlans);
	vlan_set_format(&c->vlans, text, sizeof(text));
	assert_string_equal(text, "VLAN 0, 10, 20 to 30, 4094");
	conf_free(c);
	/* Without the key all VLANs are served. */
	c = good("'vlan': []");
	assert_false(c->has_vlans);
	conf_free(c);
}

static void bad_vlans_are_refused(void **state)
{
	static const struct refusal cases[] = {
		{ "'vlan': ['4095']", "vlan", "from 0 (untagged frames) to 4094" },
		{ "'vlan': ['20-10']", "vlan", "no VLAN" },
		{ "'vlan': ['10-']", "vlan", "no VLAN" },
		{ "'vlan': ['-10']", "vlan", "no VLAN" },
		{ "'vlan': ['']", "vlan", "no VLAN" },
		{ "'vlan': ['10-20-30']", "vlan", "no VLAN" },
		{ "'vlan': ['ten']", "vlan", "such as 10" },
		{ "'vlan': ['11111111111111111111-2']", "vlan", "no VLAN" },
		{ "'fdb': { 'maximum-per-vlan': 1048577 }", "fdb.maximum-per-vlan",
		  "0 to 1048576" },
	};

	(void)state;
	all_are_refused(cases, array_size(cases));
}

static void vlans_differ(void **state)
{
	static const char *const all[] = { "", "'vlan': ['10']", "'vlan': ['10-11']" };

	(void)state;
	all_differ(all, array_size(all), CONF_FRAMES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vlans_are_read),
		cmocka_unit_test(bad_vlans_are_refused),
		cmocka_unit_test(vlans_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
