// SPDX-License-Identifier: GPL-2.0-or-later
/* The allocators that abort on failure: zeroed, aligned, and no overflow of n * size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "expect_bug.h"

static void calloc_is_zeroed(void **state)
{
	unsigned char *p = x_calloc(100, 3);

	(void)state;
	for (int i = 0; i < 300; i++)
		assert_int_equal(p[i], 0);
	free(p);
}

static void zero_size_is_not_null(void **state)
{
	void *p = x_calloc(0, 8), *q = x_realloc(NULL, 0, 8);

	(void)state;
	assert_non_null(p);
	assert_non_null(q);
	free(p);
	free(q);
}

static void realloc_keeps_content(void **state)
{
	char *p = x_strdup("0123456789");

	(void)state;
	p = x_realloc(p, 1000, 100);
	assert_string_equal(p, "0123456789");
	free(p);
}

static void aligned_is_aligned_and_zeroed(void **state)
{
	(void)state;
	for (size_t n = 1; n < 200; n += 13) {
		unsigned char *p = x_calloc_aligned(n, 7);

		assert_int_equal((uintptr_t)p % 64, 0);
		for (size_t i = 0; i < n * 7; i++)
			assert_int_equal(p[i], 0);
		free(p);
	}
}

static size_t resident_pages(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*u %lu", &pages), 1);
	fclose(f);
	return pages;
}

/* One megabyte is 256 pages. Other parts of the process may change a few pages. */
static void buffer_costs_what_is_used(void **state)
{
	size_t before;
	unsigned char *p;

	(void)state;
	mallopt(M_PERTURB, 0); /* the test runner lets malloc() fill its memory */
	before = resident_pages();
	p = x_buffer(16, 1 << 20);
	assert_int_equal((uintptr_t)p % 64, 0);
	assert_true(resident_pages() < before + 4 * 256);
	memset(p, 1, 1 << 20);
	assert_true(resident_pages() < before + 6 * 256);
	free(p);
}

static void wipe_wipes(void **state)
{
	char secret[] = "secret";

	(void)state;
	x_wipe(secret, 3);
	assert_memory_equal(secret, "\0\0\0ret", 7);
	x_wipe(NULL, 0);
}

static void overflow_in_calloc(void *arg)
{
	(void)arg;
	free(x_calloc(SIZE_MAX / 2, 3));
}

static void overflow_in_realloc(void *arg)
{
	(void)arg;
	free(x_realloc(NULL, SIZE_MAX / 8 + 1, 8));
}

static void overflow_aborts(void **state)
{
	(void)state;
	assert_true(ends_in_bug(overflow_in_calloc, NULL));
	assert_true(ends_in_bug(overflow_in_realloc, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calloc_is_zeroed),
		cmocka_unit_test(zero_size_is_not_null),
		cmocka_unit_test(realloc_keeps_content),
		cmocka_unit_test(aligned_is_aligned_and_zeroed),
		cmocka_unit_test(buffer_costs_what_is_used),
		cmocka_unit_test(wipe_wipes),
		cmocka_unit_test(overflow_aborts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
