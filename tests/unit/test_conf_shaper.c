// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rates in the configuration: formats, rates of single nodes, refusals, and differences.
 */
#include "conf_lab.h"

#include "base/defs.h"

static void rates_are_read(void **state)
{
	static const struct {
		const char *text;
		uint32_t kbits;
	} cases[] = {
		{ "0", 0 },
		{ "4294967295", UINT32_MAX },
		{ "'0bit'", 0 },
		{ "'1000bit'", 1 },
		{ "'1999bit'", 1 },
		{ "'500kbit'", 500 },
		{ "'10mbit'", 10000 },
		{ "'007mbit'", 7000 },
		{ "'1gbit'", 1000000 },
		{ "'4tbit'", 4000000000 },
		{ "'4294967295kbit'", UINT32_MAX },
		{ "'4294967295999bit'", UINT32_MAX },
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < array_size(cases); i++) {
		struct conf *c;

		snprintf(text, sizeof(text), "'shaper': { 'egress': %s }", cases[i].text);
		c = good(text);
		assert_int_equal(c->shaper_egress_kbits, cases[i].kbits);
		conf_free(c);
	}
}

static void all_rates_may_have_units(void **state)
{
	struct conf *c = good("'policy': { 'critical': { 'dscp': ['ef'],"
			      " 'duplicate': { 'budget': '2mbit' } } },"
			      " 'shaper': { 'ingress': '9500kbit', 'per-peer': '3mbit', 'peer': {"
			      " '192.0.2.7': { 'rate': '4mbit' } } }");

	(void)state;
	assert_int_equal(c->critical_budget_kbits, 2000);
	assert_int_equal(c->shaper_per_peer_kbits, 3000);
	assert_int_equal(c->shaper_ingress_kbits, 9500);
	assert_int_equal(conf_rate_to(c, 0xc0000207), 4000);
	conf_free(c);
}

static void bad_rates_are_refused(void **state)
{
	static const struct refusal cases[] = {
		{ "'shaper': { 'egress': '10' }", "shaper.egress", "\"50mbit\"" },
		{ "'shaper': { 'egress': '' }", "shaper.egress", "\"50mbit\"" },
		{ "'shaper': { 'egress': 'mbit' }", "shaper.egress", "found \"mbit\"" },
		{ "'shaper': { 'egress': '1.5mbit' }", "shaper.egress", "\"50mbit\"" },
		{ "'shaper': { 'egress': '-1mbit' }", "shaper.egress", "\"50mbit\"" },
		{ "'shaper': { 'egress': ' 1mbit' }", "shaper.egress", "\"50mbit\"" },
		{ "'shaper': { 'egress': '1mbit ' }", "shaper.egress", "\"50mbit\"" },
		{ "'shaper': { 'egress': '1Mbit' }", "shaper.egress", "\"50mbit\"" },
		{ "'shaper': { 'egress': '10%' }", "shaper.egress", "\"50mbit\"" },
		{ "'shaper': { 'egress': '999bit' }", "shaper.egress", "\"50mbit\"" },
		{ "'shaper': { 'egress': '9999999999999999999kbit' }", "shaper.egress",
		  "\"50mbit\"" },
		{ "'shaper': { 'egress': '999999999999999tbit' }", "shaper.egress", "\"50mbit\"" },
		{ "'shaper': { 'egress': '4294967296kbit' }", "shaper.egress", "0 to 4294967295" },
		{ "'shaper': { 'per-peer': '101gbit' }", "shaper.per-peer", "0 to 100000000" },
		{ "'shaper': { 'ingress': '101gbit' }", "shaper.ingress", "0 to 100000000" },
		{ "'shaper': { 'per-peer': true }", "shaper.per-peer", "0 to 100000000" },
		{ "'shaper': { 'peer': { 'seoul': { 'rate': 1 } } }", "shaper.peer.seoul",
		  "show nodes" },
		{ "'shaper': { 'peer': { '0.0.0.0': { 'rate': 1 } } }", "shaper.peer.0.0.0.0",
		  "show nodes" },
		{ "'shaper': { 'peer': { '255.255.255.255': { 'rate': 1 } } }",
		  "shaper.peer.255.255.255.255", "show nodes" },
		{ "'shaper': { 'peer': { '192.0.2.7': {} } }", "shaper.peer.192.0.2.7.rate",
		  "is missing" },
		{ "'shaper': { 'peer': { '192.0.2.7': { 'rate': '101gbit' } } }",
		  "shaper.peer.192.0.2.7.rate", "0 to 100000000" },
		{ "'shaper': { 'peer': { '192.0.2.7': { 'rate': 1, 'x': 1 } } }",
		  "shaper.peer.192.0.2.7.x", "unknown" },
	};

	(void)state;
	all_are_refused(cases, array_size(cases));
}

static void too_many_are_refused(void **state)
{
	static char text[64 * (CONF_SHAPER_PEERS_MAX + 2)];
	char err[ERR_LEN];

	(void)state;
	for (unsigned n = CONF_SHAPER_PEERS_MAX; n <= CONF_SHAPER_PEERS_MAX + 1; n++) {
		size_t at = (size_t)snprintf(text, sizeof(text), "'shaper': { 'peer': {");
		struct conf *c;

		for (unsigned i = 0; i < n; i++)
			at += (size_t)snprintf(text + at, sizeof(text) - at,
					       "%s '10.0.%u.%u': { 'rate': %u }", i ? "," : "",
					       i / 200, i % 200 + 1, i);
		snprintf(text + at, sizeof(text) - at, "} }");
		c = parse(text, err);
		assert_int_equal(c != NULL, n == CONF_SHAPER_PEERS_MAX);
		if (c)
			assert_int_equal(conf_rate_to(c, 0x0a000105), 204);
		else
			assert_non_null(strstr(err, "more than 256"));
		conf_free(c);
	}
}

/* The own rate of a node has precedence over the common rate. 0 is an own rate too. */
static void which_rate_a_node_has(void **state)
{
	struct conf *c = good("'shaper': { 'per-peer': 5000, 'peer': {"
			      " '192.0.2.9': { 'rate': 0 }, '192.0.2.7': { 'rate': 700 },"
			      " '192.0.2.8': { 'rate': 9000 } } }");

	(void)state;
	assert_int_equal(conf_rate_to(c, 0xc0000206), 5000);
	assert_int_equal(conf_rate_to(c, 0xc0000207), 700);
	assert_int_equal(conf_rate_to(c, 0xc0000208), 9000);
	assert_int_equal(conf_rate_to(c, 0xc0000209), 0);
	assert_int_equal(conf_lowest_rate(c), 700);
	conf_free(c);
	c = good("");
	assert_int_equal(conf_rate_to(c, 0xc0000207), 0);
	assert_int_equal(conf_lowest_rate(c), 0);
	conf_free(c);
	c = good(
		"'shaper': { 'peer': { '192.0.2.9': { 'rate': 0 }, '192.0.2.7': { 'rate': 7 } } }");
	assert_int_equal(conf_lowest_rate(c), 7);
	conf_free(c);
}

static void rates_differ(void **state)
{
	static const char *const all[] = {
		"",
		"'shaper': { 'per-peer': 1 }",
		"'shaper': { 'ingress': 1 }",
		"'shaper': { 'peer': { '192.0.2.7': { 'rate': 1 } } }",
		"'shaper': { 'peer': { '192.0.2.7': { 'rate': 2 } } }",
		"'shaper': { 'peer': { '192.0.2.8': { 'rate': 1 } } }",
	};
	struct conf *a = good("'shaper': { 'egress': 2000, 'peer': { '192.0.2.7': { 'rate': 1 },"
			      " '192.0.2.8': { 'rate': 1 } } }");
	struct conf *b = good("'shaper': { 'egress': '2mbit', 'peer': {"
			      " '192.0.2.8': { 'rate': '1kbit' }, '192.0.2.7': { 'rate': 1 } } }");

	(void)state;
	all_differ(all, array_size(all), CONF_FRAMES);
	/* Spelling and order are no difference. */
	assert_int_equal(conf_diff(a, b), CONF_SAME);
	conf_free(a);
	conf_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_read),	 cmocka_unit_test(all_rates_may_have_units),
		cmocka_unit_test(bad_rates_are_refused), cmocka_unit_test(too_many_are_refused),
		cmocka_unit_test(which_rate_a_node_has), cmocka_unit_test(rates_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
