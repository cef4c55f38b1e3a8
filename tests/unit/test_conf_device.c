// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Addresses and bridge of the interface in the configuration: refusals and differences. test_conf.c
 * reads accepted values.
 */
#include "base/defs.h"
#include "conf_lab.h"

static void networks_of_two_and_of_one_are_accepted(void **state)
{
	struct conf *c =
		good("'address': ['10.99.0.0/31', '10.99.1.1/32', 'fd00::/127', 'fe80::1/64']");

	(void)state;
	assert_int_equal(c->n_addresses, 4);
	conf_free(c);
	c = good("'bridge': 'br0', 'address': []");
	assert_string_equal(c->bridge, "br0");
	conf_free(c);
}

static void bad_addresses_are_refused(void **state)
{
	static const struct refusal cases[] = {
		{ "'address': '10.99.0.1/24'", "address", "a list" },
		{ "'address': ['10.99.0.1']", "address", "has no prefix length" },
		{ "'address': ['fd00::1']", "address", "has no prefix length" },
		{ "'address': ['10.99.0.1/33']", "address", "such as 10.99.0.1/24" },
		{ "'address': ['fd00::1/129']", "address", "such as 10.99.0.1/24" },
		{ "'address': ['10.99.0.1/']", "address", "such as 10.99.0.1/24" },
		{ "'address': ['10.99.0.1/024']", "address", "such as 10.99.0.1/24" },
		{ "'address': ['10.99.0.1/-1']", "address", "such as 10.99.0.1/24" },
		{ "'address': ['leon/24']", "address", "such as 10.99.0.1/24" },
		{ "'address': ['10.99.0.1/0']", "address", "whole Internet" },
		{ "'address': ['10.99.0.0/24']", "address", "address of the network" },
		{ "'address': ['fd00::/64']", "address", "address of the network" },
		{ "'address': ['10.99.0.255/24']", "address", "broadcast" },
		{ "'address': ['224.0.0.1/24']", "address", "not a unicast" },
		{ "'address': ['dhcp']", "address", "no DHCP client" },
		{ "'address': ['dhcpv6']", "address", "no DHCP client" },
		{ "'address': ['10.99.0.1/24', '10.99.0.1/16']", "address", "twice" },
		{ "'address': ['fd00::1/64', 'fd00:0::1/64']", "address", "twice" },
		{ "'address': ['10.0.0.1/8','10.0.0.2/8','10.0.0.3/8','10.0.0.4/8','10.0.0.5/8',"
		  "'10.0.0.6/8','10.0.0.7/8','10.0.0.8/8','10.0.0.9/8','10.0.0.10/8','10.0.0.11/8',"
		  "'10.0.0.12/8','10.0.0.13/8','10.0.0.14/8','10.0.0.15/8','10.0.0.16/8',"
		  "'10.0.0.17/8']",
		  "address", "more than 16" },
		{ "'bridge': 'b r'", "bridge", "interface name" },
		{ "'bridge': 'leon0'", "bridge", "the interface itself" },
		{ "'bridge': 'br0', 'address': ['10.99.0.1/24']", "address",
		  "give the address to bridge br0" },
	};

	(void)state;
	all_are_refused(cases, array_size(cases));
}

static void addresses_and_bridge_differ(void **state)
{
	static const char *const all[] = { "",
					   "'bridge': 'br0'",
					   "'bridge': 'br1'",
					   "'address': ['10.99.0.1/24']",
					   "'address': ['10.99.0.1/16']",
					   "'address': ['10.99.0.1/24', 'fd00::1/64']" };
	struct conf *a = good("'address': ['10.99.0.1/31', 'fe80::1/64']");
	struct conf *b = good("'address': ['fe80:0::1/64', '10.99.0.1/31']");

	(void)state;
	all_differ(all, array_size(all), CONF_DEVICE);
	assert_int_equal(conf_diff(a, b), CONF_SAME);
	conf_free(a);
	conf_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(networks_of_two_and_of_one_are_accepted),
		cmocka_unit_test(bad_addresses_are_refused),
		cmocka_unit_test(addresses_and_bridge_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
