// SPDX-License-Identifier: GPL-2.0-or-later
/* base/text computes the distance of words and the nearest word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/defs.h"
#include "base/text.h"

static void distances(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned distance;
	} cases[] = {
		{ "", "", 0 },
		{ "", "abc", 3 },
		{ "nodes", "nodes", 0 },
		{ "noeds", "nodes", 1 },
		{ "node", "nodes", 1 },
		{ "nodess", "nodes", 1 },
		{ "nides", "nodes", 1 },
		{ "shwo noeds", "show nodes", 2 },
		{ "kitten", "sitting", 3 },
		{ "ca", "abc", 3 },
		{ "ping", "trace", 5 },
	};
	(void)state;

	for (size_t i = 0; i < array_size(cases); i++) {
		assert_int_equal(nearest_distance(cases[i].a, cases[i].b), cases[i].distance);
		assert_int_equal(nearest_distance(cases[i].b, cases[i].a), cases[i].distance);
	}
}

static void long_words(void **state)
{
	char word[2 * NEAREST_LEN_MAX];
	(void)state;

	memset(word, 'a', sizeof(word));
	word[NEAREST_LEN_MAX] = '\0';
	assert_int_equal(nearest_distance(word, ""), NEAREST_LEN_MAX);
	word[NEAREST_LEN_MAX] = 'a';
	word[NEAREST_LEN_MAX + 1] = '\0';
	assert_int_equal(nearest_distance(word, word), NEAREST_LEN_MAX);
}

static void near(void **state)
{
	(void)state;
	assert_true(nearest_is_near("ping", 1));
	assert_false(nearest_is_near("ping", 2));
	assert_true(nearest_is_near("show nodes", 3));
	assert_false(nearest_is_near("show nodes", 4));
	assert_false(nearest_is_near("a", 1));
	assert_false(nearest_is_near("", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances),
		cmocka_unit_test(long_words),
		cmocka_unit_test(near),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
