// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sets of VLAN ids: their ranges, and how people read them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/vlan_set.h"

static void ranges(void **state)
{
	struct vlan_set s = { 0 };
	struct vlan_range r;
	unsigned at = 0;

	(void)state;
	assert_true(vlan_set_is_empty(&s));
	assert_false(vlan_set_next(&s, &at, &r));
	vlan_set_add(&s, 0);
	vlan_set_add_range(&s, 62, 66);
	vlan_set_add_range(&s, 4000, 5000);
	assert_false(vlan_set_is_empty(&s));
	assert_false(vlan_set_has(&s, 61) || vlan_set_has(&s, 67) || vlan_set_has(&s, 3999));
	at = 0;
	assert_true(vlan_set_next(&s, &at, &r));
	assert_int_equal(r.first, 0);
	assert_int_equal(r.last, 0);
	assert_true(vlan_set_next(&s, &at, &r));
	assert_int_equal(r.first, 62);
	assert_int_equal(r.last, 66);
	assert_true(vlan_set_next(&s, &at, &r));
	assert_int_equal(r.first, 4000);
	assert_int_equal(r.last, 4095);
	assert_false(vlan_set_next(&s, &at, &r));
}

static void as_text(void **state)
{
	struct vlan_set s = { 0 };
	char text[64], small[12];

	(void)state;
	vlan_set_format(&s, text, sizeof(text));
	assert_string_equal(text, "");
	vlan_set_add(&s, 10);
	vlan_set_add_range(&s, 20, 29);
	vlan_set_format(&s, text, sizeof(text));
	assert_string_equal(text, "VLAN 10, 20 to 29");
	vlan_set_format(&s, small, sizeof(small));
	assert_string_equal(small, "VLAN 10, 20");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges),
		cmocka_unit_test(as_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
