// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-accel/conn/hosts keeps the latest moved hosts, up to its capacity. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conn/hosts.h"

static struct mac mac(unsigned n)
{
	return (struct mac){ { 2, 0, 0, 0, (uint8_t)(n >> 8), (uint8_t)n } };
}

static void test_vlans_are_apart(void **state)
{
	struct moved m = { 0 };

	(void)state;
	assert_false(moved_has(&m, 0, mac(1)));
	moved_add(&m, 7, mac(1));
	assert_true(moved_has(&m, 7, mac(1)));
	assert_false(moved_has(&m, 0, mac(1)));
	assert_false(moved_has(&m, 7, mac(2)));
	moved_free(&m);
	assert_false(moved_has(&m, 7, mac(1)));
}

static void test_oldest_goes(void **state)
{
	struct moved m = { 0 };

	(void)state;
	for (unsigned i = 0; i < MOVED_MAX; i++)
		moved_add(&m, 0, mac(i));
	moved_add(&m, 0, mac(0)); /* again: now the latest host */
	moved_add(&m, 0, mac(MOVED_MAX));
	assert_true(moved_has(&m, 0, mac(0)));
	assert_false(moved_has(&m, 0, mac(1)));
	assert_true(moved_has(&m, 0, mac(2)));
	assert_true(moved_has(&m, 0, mac(MOVED_MAX)));
	moved_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vlans_are_apart),
		cmocka_unit_test(test_oldest_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
