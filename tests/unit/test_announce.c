// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * state/routes/announce selects the prefixes to announce, and delays a prefix that returns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "state/routes/announce.h"

static struct conf conf_of(const char *p, const char *q)
{
	struct conf c = { 0 };

	assert_int_equal(prefix_parse(p, &c.prefix[c.n_prefixes++]), 0);
	if (q)
		assert_int_equal(prefix_parse(q, &c.prefix[c.n_prefixes++]), 0);
	return c;
}

static mono_t at_ms(int64_t ms)
{
	return mono_add_ms((mono_t){ NS_PER_S }, ms);
}

static unsigned listed(const struct announce *a)
{
	struct prefix out[MSG_PREFIXES_MAX];

	return announce_list(a, out);
}

static void first_look_decides_at_once(void **state)
{
	struct conf c = conf_of("10.1.0.0/16", "10.2.0.0/16");
	struct announce a = { 0 };

	(void)state;
	announce_configure(&a, &c);
	assert_int_equal(listed(&a), 0);
	assert_true(announce_note(&a, 0, ANNOUNCE_ROUTE, at_ms(0)));
	assert_true(announce_note(&a, 1, ANNOUNCE_NO_ROUTE, at_ms(0)));
	assert_int_equal(listed(&a), 1);
	assert_false(announce_note(&a, 0, ANNOUNCE_ROUTE, at_ms(1000)));
	assert_false(announce_note(&a, 1, ANNOUNCE_LINK_DOWN, at_ms(1000)));
	assert_int_equal(a.entry[1].since.ns, at_ms(0).ns);
	assert_string_equal(announce_reason(&a, &a.entry[1]),
			    "the link of the route to it is down");
}

static void goes_at_once_and_returns_when_it_lasts(void **state)
{
	static const enum announce_reach none[] = { ANNOUNCE_NO_ROUTE, ANNOUNCE_DEFAULT_ONLY,
						    ANNOUNCE_OVERLAY, ANNOUNCE_LINK_DOWN };
	struct conf c = conf_of("10.1.0.0/16", NULL);

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct announce a = { 0 };

		announce_configure(&a, &c);
		announce_note(&a, 0, ANNOUNCE_ROUTE, at_ms(0));
		assert_true(announce_note(&a, 0, none[i], at_ms(1)));
		assert_false(a.entry[0].announced);
		assert_false(announce_note(&a, 0, ANNOUNCE_ROUTE, at_ms(100)));
		assert_false(announce_note(&a, 0, ANNOUNCE_ROUTE, at_ms(2099)));
		/* A flap restarts the hold time. */
		assert_false(announce_note(&a, 0, none[i], at_ms(2100)));
		assert_false(announce_note(&a, 0, ANNOUNCE_ROUTE, at_ms(2200)));
		assert_false(announce_note(&a, 0, ANNOUNCE_ROUTE, at_ms(4199)));
		assert_true(announce_note(&a, 0, ANNOUNCE_ROUTE, at_ms(4200)));
		assert_true(a.entry[0].announced);
	}
}

static void what_is_not_known_changes_nothing(void **state)
{
	struct conf c = conf_of("10.1.0.0/16", "10.2.0.0/16");
	struct announce a = { 0 };

	(void)state;
	announce_configure(&a, &c);
	assert_true(announce_note(&a, 0, ANNOUNCE_UNKNOWN, at_ms(0)));
	assert_true(a.entry[0].announced);
	announce_note(&a, 1, ANNOUNCE_NO_ROUTE, at_ms(0));
	for (int i = 1; i < 10; i++)
		for (unsigned k = 0; k < 2; k++)
			assert_false(announce_note(&a, k, ANNOUNCE_UNKNOWN, at_ms(i * 1000)));
	assert_int_equal(a.entry[1].reach, ANNOUNCE_NO_ROUTE);
	assert_int_equal(listed(&a), 1);
}

static void reload_keeps_what_stays(void **state)
{
	struct conf c = conf_of("10.1.0.0/16", "10.2.0.0/16");
	struct conf d = conf_of("10.2.0.0/16", "10.3.0.0/16");
	struct announce a = { 0 };

	(void)state;
	announce_configure(&a, &c);
	announce_note(&a, 0, ANNOUNCE_ROUTE, at_ms(0));
	announce_note(&a, 1, ANNOUNCE_NO_ROUTE, at_ms(0));
	announce_configure(&a, &d);
	assert_int_equal(a.n, 2);
	/* The prefix is not new, so the first observation is not decisive. */
	assert_false(announce_note(&a, 0, ANNOUNCE_ROUTE, at_ms(10)));
	assert_true(announce_note(&a, 1, ANNOUNCE_ROUTE, at_ms(10)));
	d.export_unconditional = true;
	announce_configure(&a, &d);
	assert_true(announce_note(&a, 0, ANNOUNCE_UNKNOWN, at_ms(20)));
	assert_int_equal(listed(&a), 2);
	assert_string_equal(announce_reason(&a, &a.entry[0]), "export unconditional is configured");
	d.export_unconditional = false;
	announce_configure(&a, &d);
	assert_true(announce_note(&a, 0, ANNOUNCE_NO_ROUTE, at_ms(30)));
	assert_int_equal(listed(&a), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_look_decides_at_once),
		cmocka_unit_test(goes_at_once_and_returns_when_it_lasts),
		cmocka_unit_test(what_is_not_known_changes_nothing),
		cmocka_unit_test(reload_keeps_what_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
