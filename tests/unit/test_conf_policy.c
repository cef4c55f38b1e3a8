// SPDX-License-Identifier: GPL-2.0-or-later
/* policy in the configuration: accepted values, refusals, and differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/defs.h"
#include "conf_lab.h"
#include "state/conf/conf.h"

/* Numbers are decimal, or hexadecimal after 0x. A leading zero does not make them octal. */
static void policies_are_read(void **state)
{
	struct conf *c = good("'policy': { 'critical': { 'dscp': ['ef', '010', '0x3f', '0'],"
			      "'vlan': ['07', '4094'], 'mac': ['02:00:00:00:00:AB'],"
			      "'ethertype': ['0x88B8', '2048'],"
			      "'protocol': { 'udp': { 'port': ['053', '65535'] }, '112': {} },"
			      "'duplicate': { 'budget': 5000, 'loss': 2, 'jitter': 7 } } }");
	const struct policy *p = &c->policy;

	(void)state;
	assert_true(p->duplicate);
	assert_true(p->critical.dscp == (1ULL << 46 | 1ULL << 10 | 1ULL << 63 | 1));
	assert_true(vlan_set_has(&p->critical.vlans, 7) && vlan_set_has(&p->critical.vlans, 4094));
	assert_false(vlan_set_has(&p->critical.vlans, 6));
	assert_int_equal(p->critical.n_macs, 1);
	assert_int_equal(p->critical.mac[0].b[5], 0xab);
	assert_int_equal(p->critical.n_ethertypes, 2);
	assert_int_equal(p->critical.ethertype[0], 0x88b8);
	assert_int_equal(p->critical.ethertype[1], 2048);
	assert_int_equal(p->critical.n_services, 3);
	assert_int_equal(p->critical.service[0].protocol, 17);
	assert_int_equal(p->critical.service[0].port, 53);
	assert_int_equal(p->critical.service[1].port, 65535);
	assert_int_equal(p->critical.service[2].protocol, 112);
	assert_int_equal(p->critical.service[2].port, 0);
	assert_int_equal(p->budget_kbits, 5000);
	assert_int_equal(p->extra_delay_us, 30000);
	assert_int_equal(p->loss_pm, 20);
	assert_int_equal(p->jitter_us, 7000);
	conf_free(c);
}

static void parity_is_read(void **state)
{
	struct conf *c = good("'policy': { 'critical': { 'vlan': ['7'], 'parity': {} } }");
	const struct policy *p = &c->policy;

	(void)state;
	assert_true(p->parity && !p->duplicate && policy_uses_pairs(p));
	assert_int_equal(p->budget_kbits, 10000);
	assert_int_equal(p->extra_delay_us, 30000);
	assert_int_equal(p->loss_pm, 10);
	assert_int_equal(p->jitter_us, 0);
	conf_free(c);
	c = good("'policy': { 'critical': { 'vlan': ['7'], 'parity': { 'budget': '5mbit',"
		 "'maximum-extra-delay': 3, 'loss': 0, 'jitter': 4 } } }");
	p = &c->policy;
	assert_int_equal(p->budget_kbits, 5000);
	assert_int_equal(p->extra_delay_us, 3000);
	assert_int_equal(p->loss_pm, 0);
	assert_int_equal(p->jitter_us, 4000);
	conf_free(c);
}

static void bad_policies_are_refused(void **state)
{
	static const struct refusal cases[] = {
		{ "'policy': { 'critical': { 'dscp': ['EF'] } }", "policy.critical.dscp",
		  "no code point" },
		{ "'policy': { 'critical': { 'dscp': ['064'] } }", "policy.critical.dscp",
		  "no code point" },
		{ "'policy': { 'critical': { 'vlan': ['0x'] } }", "policy.critical.vlan",
		  "no VLAN" },
		{ "'policy': { 'critical': { 'ethertype': ['0x5ff'] } }",
		  "policy.critical.ethertype", "0x0600" },
		{ "'policy': { 'critical': { 'protocol': { 'x': {} } } }",
		  "policy.critical.protocol.x", "no protocol" },
		{ "'policy': { 'critical': { 'protocol': { 'gre': { 'port': ['1'] } } } }",
		  "policy.critical.protocol.gre.port", "no ports" },
		{ "'policy': { 'critical': { 'duplicate': {} } }", "policy.critical",
		  "not which they are" },
		{ "'policy': { 'critical': { 'parity': {} } }", "policy.critical",
		  "not which they are" },
		{ "'policy': { 'critical': { 'vlan': ['1'], 'duplicate': {}, 'parity': {} } }",
		  "policy.critical", "choose one" },
		{ "'policy': { 'critical': { 'vlan': ['1'], 'duplicate': { 'loss': 101 } } }",
		  "policy.critical.duplicate.loss", "0 to 100" },
	};

	(void)state;
	all_are_refused(cases, array_size(cases));
}

static void must_differ(const char *a, const char *b, unsigned changes)
{
	struct conf *one = good(a), *other = good(b);

	assert_int_equal(conf_diff(one, other), changes);
	assert_int_equal(conf_diff(other, one), changes);
	assert_int_equal(conf_diff(one, one), 0);
	conf_free(one);
	conf_free(other);
}

#define CRITICAL(more) "'policy': { 'critical': { 'vlan': ['7'], " more " } }"

/* All changes apply without a restart. */
static void policies_differ(void **state)
{
	static const char *const others[] = {
		"'policy': { 'critical': { 'vlan': ['8'], 'duplicate': {} } }",
		"'policy': { 'critical': { 'vlan': ['7'] } }",
		CRITICAL("'dscp': ['ef'], 'duplicate': {}"),
		CRITICAL("'mac': ['02:00:00:00:00:01'], 'duplicate': {}"),
		CRITICAL("'ethertype': ['0x88b8'], 'duplicate': {}"),
		CRITICAL("'protocol': { 'vrrp': {} }, 'duplicate': {}"),
		CRITICAL("'duplicate': { 'budget': 1 }"),
		CRITICAL("'duplicate': { 'maximum-extra-delay': 1 }"),
		CRITICAL("'duplicate': { 'loss': 1 }"),
		CRITICAL("'duplicate': { 'jitter': 1 }"),
		CRITICAL("'parity': {}"),
		"",
	};

	(void)state;
	for (size_t i = 0; i < array_size(others); i++)
		must_differ(CRITICAL("'duplicate': {}"), others[i], CONF_POLICY);
	must_differ(CRITICAL("'protocol': { 'udp': { 'port': ['1'] } }"),
		    CRITICAL("'protocol': { 'udp': { 'port': ['2'] } }"), CONF_POLICY);
}

static void code_points_of_datagrams(void **state)
{
	static const struct refusal cases[] = {
		{ "'dscp': { 'set': 'best' }", "dscp.set", "0 to 63" },
		{ "'dscp': { 'control': '64' }", "dscp.control", "0 to 63" },
		{ "'dscp': { 'set': 'ef', 'copy': true }", "dscp.set", "exclude each other" },
	};
	struct conf *c = good("'dscp': { 'set': 'af21', 'control': '48' }"), *none = good("");

	(void)state;
	assert_int_equal(c->dscp_set, 18);
	assert_int_equal(c->dscp_control, 48);
	assert_false(c->dscp_copy || c->ecn_disable);
	assert_int_equal(none->dscp_set, CONF_DSCP_NONE);
	assert_int_equal(none->dscp_control, CONF_DSCP_NONE);
	conf_free(none);
	conf_free(c);
	all_are_refused(cases, array_size(cases));
	must_differ("'dscp': { 'set': 'af21' }", "'dscp': { 'set': '19' }", CONF_DATAGRAMS);
	must_differ("'dscp': { 'control': 'cs6' }", "", CONF_DATAGRAMS);
	must_differ("'dscp': { 'copy': true }", "", CONF_DATAGRAMS);
	must_differ("'ecn': { 'disable': true }", "", CONF_DATAGRAMS);
	must_differ("'fwmark': 7", "", CONF_DATAGRAMS);
	must_differ("'fwmark': 7, 'transport': { 'tls': {} }", "'transport': { 'tls': {} }",
		    CONF_DATAGRAMS | CONF_TRANSPORT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(policies_are_read),	    cmocka_unit_test(parity_is_read),
		cmocka_unit_test(bad_policies_are_refused), cmocka_unit_test(policies_differ),
		cmocka_unit_test(code_points_of_datagrams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
