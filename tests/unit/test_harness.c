// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A test that is skipped leaves its program successful, with all releases of cmocka and meson.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void a_skipped_test_is_not_a_failure(void **state)
{
	(void)state;
	skip();
}

static void another_one_runs(void **state)
{
	(void)state;
	assert_true(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_skipped_test_is_not_a_failure),
		cmocka_unit_test(another_one_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
