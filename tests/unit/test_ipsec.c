// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A report of the IPsec manager is valid for IPSEC_REPORT_S seconds, for each address.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/defs.h"
#include "base/mem.h"
#include "daemon/underlay/underlay.h"

#define START ((mono_t){ 5 * NS_PER_S })

static struct ip_addr ip(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_parse(text, &a), 0);
	return a;
}

static void report(struct ipsec_report *r, const char *const *list, size_t n, mono_t now)
{
	struct ip_addr *addr = x_calloc(n ? n : 1, sizeof(*addr));

	for (size_t i = 0; i < n; i++)
		addr[i] = ip(list[i]);
	ipsec_report_set(r, addr, n, now);
}

static bool says(const struct ipsec_report *r, const char *text, mono_t now)
{
	struct ip_addr a = ip(text);

	return ipsec_protects(r, &a, now);
}

static void unsorted_families_are_found(void **state)
{
	static const char *const list[] = { "2001:db8::9", "192.0.2.9", "10.0.0.1", "2001:db8::1",
					    "192.0.2.1" };
	struct ipsec_report r = { .n = 0 };
	(void)state;

	assert_false(says(&r, "192.0.2.1", START));
	report(&r, list, array_size(list), START);
	for (size_t i = 0; i < array_size(list); i++)
		assert_true(says(&r, list[i], START));
	assert_false(says(&r, "192.0.2.2", START));
	assert_false(says(&r, "2001:db8::2", START));
	assert_false(ipsec_protects(&r, &(struct ip_addr){ .family = 0 }, START));
	ipsec_report_free(&r);
}

static void the_last_report_counts(void **state)
{
	static const char *const first[] = { "192.0.2.1" }, *const second[] = { "192.0.2.2" };
	struct ipsec_report r = { .n = 0 };
	(void)state;

	report(&r, first, 1, START);
	report(&r, second, 1, START);
	assert_false(says(&r, "192.0.2.1", START));
	assert_true(says(&r, "192.0.2.2", START));
	report(&r, NULL, 0, START);
	assert_false(says(&r, "192.0.2.2", START));
	ipsec_report_free(&r);
}

static void an_old_report_is_not_believed(void **state)
{
	static const char *const list[] = { "192.0.2.1" };
	struct ipsec_report r = { .n = 0 };
	(void)state;

	report(&r, list, 1, START);
	assert_true(says(&r, "192.0.2.1", mono_add_ms(START, IPSEC_REPORT_S * 1000)));
	assert_false(says(&r, "192.0.2.1", mono_add_ms(START, IPSEC_REPORT_S * 1000 + 1)));
	ipsec_report_free(&r);
	assert_false(says(&r, "192.0.2.1", START));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unsorted_families_are_found),
		cmocka_unit_test(the_last_report_counts),
		cmocka_unit_test(an_old_report_is_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
