// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines in the configuration: accepted values, refusals, and differences.
 */
#include "conf_lab.h"

/* conf_lab.h takes any key "interface" for the one of the document. */
#define TOP "'interface': 'leon0', "
#define TWO TOP "'line': { 'lte': { 'interface': 'wwan0' }, 'fibre': { 'address': '192.0.2.1' } }"

static void lines_are_read(void **state)
{
	struct conf *c = good(TWO);
	char text[IP_STRLEN];

	(void)state;
	assert_int_equal(c->n_lines, 2);
	assert_string_equal(c->line[0].name, "fibre");
	assert_string_equal(ip_format(&c->line[0].ip, text, sizeof(text)), "192.0.2.1");
	assert_string_equal(c->line[0].interface, "");
	assert_string_equal(c->line[1].name, "lte");
	assert_int_equal(c->line[1].ip.family, 0);
	assert_string_equal(c->line[1].interface, "wwan0");
	conf_free(c);
	c = good(TOP "\'line\': { 'both': { 'address': '2001:db8::1', 'interface': 'eth0' } }");
	assert_int_equal(c->n_lines, 1);
	assert_int_equal(c->line[0].ip.family, 6);
	conf_free(c);
	c = good("");
	assert_int_equal(c->n_lines, 0);
	conf_free(c);
}

static void bad_lines_are_refused(void **state)
{
	static const struct refusal cases[] = {
		{ TOP "\'line\': { 'a': {} }", "line.a", "neither address nor interface" },
		{ TOP "\'line\': { 'a b': { 'interface': 'eth0' } }", "line.a b", "letters" },
		{ TOP "\'line\': { 'a234567890123456': { 'interface': 'eth0' } }",
		  "line.a234567890123456", "1 to 15" },
		{ TOP "\'line\': { 'a': { 'address': 'fe80::1' } }", "line.a.address", "unicast" },
		{ TOP "\'line\': { 'a': { 'address': '224.0.0.1' } }", "line.a.address",
		  "unicast" },
		{ TOP "\'line\': { 'a': { 'address': 'host.example' } }", "line.a.address",
		  "unicast" },
		{ TOP "\'line\': { 'a': { 'interface': 'eth0' }, 'b': { 'interface': 'eth0' } }",
		  "line", "two lines with one source" },
		{ TOP "\'line\': { 'a': { 'interface': 'e0' }, 'b': { 'interface': 'e1' },"
		      " 'c': { 'interface': 'e2' } }",
		  "line", "more than 2" },
		{ TWO ", 'source-address': ['192.0.2.1']", "source-address", "excludes" },
		{ TWO ", 'source-interface': 'eth0'", "source-interface", "excludes" },
		{ TWO ", 'transport': { 'tls': {} }", "transport", "excludes" },
	};

	(void)state;
	all_are_refused(cases, array_size(cases));
}

static void lines_differ(void **state)
{
	static const char *const all[] = {
		"",
		TWO,
		TOP
		"\'line\': { 'lte': { 'interface': 'wwan1' }, 'fibre': { 'address': '192.0.2.1' } }",
		TOP
		"\'line\': { 'lte': { 'interface': 'wwan0' }, 'fibre': { 'address': '192.0.2.2' } }",
		TOP
		"\'line\': { 'dsl': { 'interface': 'wwan0' }, 'fibre': { 'address': '192.0.2.1' } }",
	};

	(void)state;
	all_differ(all, array_size(all), CONF_RESTART);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_read),
		cmocka_unit_test(bad_lines_are_refused),
		cmocka_unit_test(lines_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
