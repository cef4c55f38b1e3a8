// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sets of VLAN ids: ranges, and their text for people.
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
	struct id_range r;
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

static bool covered(const struct id_range *r, unsigned n, unsigned id)
{
	for (unsigned i = 0; i < n; i++)
		if (id >= r[i].first && id <= r[i].last)
			return true;
	return false;
}

/* Returns at most `max` ranges that cover the set. */
static unsigned few(const struct vlan_set *s, struct id_range *r, unsigned max)
{
	return id_ranges_close(r, vlan_set_ranges(s, r), max);
}

/* A small number of ranges loses no member of the set, and adds only the smallest gaps. */
static void few_ranges(void **state)
{
	struct id_range r[VLAN_RANGES_MAX];
	struct vlan_set s = { 0 };

	(void)state;
	assert_int_equal(few(&s, r, 40), 0);
	vlan_set_add_range(&s, 10, 19);
	vlan_set_add_range(&s, 21, 29); /* a gap of 1 */
	vlan_set_add(&s, 33);		/* a gap of 3 */
	vlan_set_add(&s, 37);		/* a gap of 3 */
	vlan_set_add(&s, 100);
	assert_int_equal(few(&s, r, 5), 5);
	assert_int_equal(few(&s, r, 4), 4);
	assert_int_equal(r[0].last, 29);
	assert_int_equal(few(&s, r, 3), 3);
	assert_int_equal(r[0].last, 33);
	assert_int_equal(few(&s, r, 2), 2);
	assert_int_equal(r[0].last, 37);
	assert_int_equal(few(&s, r, 1), 1);
	assert_int_equal(r[0].last, 100);
	/* The largest number of ranges. */
	s = (struct vlan_set){ 0 };
	for (unsigned id = 0; id < VLAN_IDS; id += 2)
		vlan_set_add(&s, (uint16_t)id);
	assert_int_equal(few(&s, r, VLAN_RANGES_MAX), VLAN_RANGES_MAX);
	assert_int_equal(few(&s, r, 40), 40);
	for (unsigned id = 0; id < VLAN_IDS; id += 2)
		assert_true(covered(r, 40, id));
	for (unsigned i = 1; i < 40; i++)
		assert_true(r[i].first > r[i - 1].last + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges),
		cmocka_unit_test(as_text),
		cmocka_unit_test(few_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
