// SPDX-License-Identifier: GPL-2.0-or-later
/* The JSON writer: nesting, escaping, UTF-8 repair, numbers, growth, and misuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/json/jsonw.h"
#include "expect_bug.h"

static void check_and_free(struct jsonw *w, const char *expected)
{
	size_t len;
	const char *text = jsonw_text(w, &len);

	assert_string_equal(text, expected);
	assert_int_equal(len, strlen(expected));
	jsonw_free(w);
}

static void nesting(void **state)
{
	struct jsonw *w = jsonw_new();

	(void)state;
	jsonw_object(w, NULL);
	jsonw_u64(w, "version", 1);
	jsonw_array(w, "nodes");
	jsonw_object(w, NULL);
	jsonw_str(w, "name", "west");
	jsonw_str(w, "site", NULL);
	jsonw_end(w);
	jsonw_array(w, NULL);
	jsonw_end(w);
	jsonw_null(w, NULL);
	jsonw_end(w);
	jsonw_object(w, "empty");
	jsonw_end(w);
	jsonw_bool(w, "up", true);
	jsonw_bool(w, "down", false);
	jsonw_end(w);
	check_and_free(w, "{\"version\":1,\"nodes\":[{\"name\":\"west\",\"site\":null},[],null],"
			  "\"empty\":{},\"up\":true,\"down\":false}");
}

static void numbers(void **state)
{
	struct jsonw *w = jsonw_new();

	(void)state;
	jsonw_array(w, NULL);
	jsonw_u64(w, NULL, UINT64_MAX);
	jsonw_double(w, NULL, 0.25);
	jsonw_double(w, NULL, 1e300);
	jsonw_double(w, NULL, (double)NAN);
	jsonw_double(w, NULL, (double)-INFINITY);
	jsonw_end(w);
	check_and_free(w, "[18446744073709551615,0.25,1e+300,null,null]");
}

static void strings(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "", "\"\"" },
		{ "a\"b\\c/", "\"a\\\"b\\\\c/\"" },
		{ "\b\f\n\r\t\001\037", "\"\\b\\f\\n\\r\\t\\u0001\\u001f\"" },
		{ "z\303\274rich \342\202\254 \360\237\230\200",
		  "\"z\303\274rich \342\202\254 \360\237\230\200\"" },
		{ "\377x", "\"\357\277\275x\"" },		/* invalid first byte */
		{ "\300\257", "\"\357\277\275\357\277\275\"" }, /* overlong slash */
		{ "\355\240\200", "\"\357\277\275\357\277\275\357\277\275\"" }, /* surrogate */
		{ "\364\220\200\200",
		  "\"\357\277\275\357\277\275\357\277\275\357\277\275\"" }, /* above U+10FFFF */
		/* truncated at the end */
		{ "\342\202", "\"\357\277\275\357\277\275\"" },
		/* truncated by a quote */
		{ "\360\237\"", "\"\357\277\275\357\277\275\\\"\"" },
	};

	(void)state;
	for (size_t i = 0; i < array_size(cases); i++) {
		struct jsonw *w = jsonw_new();
		char *exact = strdup(cases[i].in);

		assert_non_null(exact);
		jsonw_str(w, NULL, exact);
		free(exact);
		check_and_free(w, cases[i].out);
	}
}

static void keys_are_escaped(void **state)
{
	struct jsonw *w = jsonw_new();

	(void)state;
	jsonw_object(w, NULL);
	jsonw_u64(w, "a\"b", 1);
	jsonw_end(w);
	check_and_free(w, "{\"a\\\"b\":1}");
}

static void grows(void **state)
{
	struct jsonw *w = jsonw_new();
	const char *text;
	size_t len, commas = 0;

	(void)state;
	jsonw_array(w, NULL);
	for (unsigned i = 0; i < 50000; i++)
		jsonw_u64(w, NULL, 1000000 + i);
	jsonw_end(w);
	text = jsonw_text(w, &len);
	assert_int_equal(len, 2 + 50000 * 8 - 1);
	for (size_t i = 0; i < len; i++)
		commas += text[i] == ',';
	assert_int_equal(commas, 49999);
	jsonw_free(w);
}

static void value_without_key(void *arg)
{
	struct jsonw *w = jsonw_new();

	(void)arg;
	jsonw_object(w, NULL);
	jsonw_u64(w, NULL, 1);
}

static void key_in_array(void *arg)
{
	struct jsonw *w = jsonw_new();

	(void)arg;
	jsonw_array(w, NULL);
	jsonw_u64(w, "k", 1);
}

static void unbalanced_end(void *arg)
{
	struct jsonw *w = jsonw_new();

	(void)arg;
	jsonw_array(w, NULL);
	jsonw_end(w);
	jsonw_end(w);
}

static void text_while_open(void *arg)
{
	struct jsonw *w = jsonw_new();

	(void)arg;
	jsonw_array(w, NULL);
	jsonw_text(w, NULL);
}

static void text_of_nothing(void *arg)
{
	(void)arg;
	jsonw_text(jsonw_new(), NULL);
}

static void two_roots(void *arg)
{
	struct jsonw *w = jsonw_new();

	(void)arg;
	jsonw_null(w, NULL);
	jsonw_null(w, NULL);
}

static void too_deep(void *arg)
{
	struct jsonw *w = jsonw_new();

	(void)arg;
	for (int i = 0; i < 1000; i++)
		jsonw_array(w, NULL);
}

static void misuse_aborts(void **state)
{
	static void (*const misuses[])(
		void *) = { value_without_key, key_in_array, unbalanced_end, text_while_open,
			    text_of_nothing,   two_roots,    too_deep };

	(void)state;
	for (size_t i = 0; i < array_size(misuses); i++)
		assert_true(ends_in_bug(misuses[i], NULL));
	jsonw_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nesting), cmocka_unit_test(numbers),
		cmocka_unit_test(strings), cmocka_unit_test(keys_are_escaped),
		cmocka_unit_test(grows),   cmocka_unit_test(misuse_aborts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
