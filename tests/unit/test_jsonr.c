// SPDX-License-Identifier: GPL-2.0-or-later
/* The JSON reader: values, every kind of error with its path, unknown keys, and limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/json/jsonr.h"

/* Parses a copy of exact size without a NUL, because only the length counts. */
static struct jsonr *parse(const char *text)
{
	size_t len = strlen(text);
	char *copy = malloc(len ? len : 1);
	struct jsonr *r;

	assert_non_null(copy);
	memcpy(copy, text, len);
	r = jsonr_parse(copy, len, JSONR_USUAL_MAX);
	free(copy);
	return r;
}

static void values(void **state)
{
	struct jsonr *r = parse("{\"name\":\"west\",\"port\":5366,\"big\":18446744073709551615,"
				"\"on\":true,\"sub\":{\"x\":1},\"list\":[\"a\",\"b\"],"
				"\"peers\":[{\"id\":1},{\"id\":2}]}\n");
	struct jsonr_node *root = jsonr_root(r), *list, *peers;
	const char *s = NULL;
	uint64_t v = 0;
	bool on = false;

	(void)state;
	assert_non_null(root);
	assert_true(jsonr_str(root, "name", &s));
	assert_string_equal(s, "west");
	assert_true(jsonr_u64(root, "port", 1, 65535, &v));
	assert_true(v == 5366);
	assert_true(jsonr_u64(root, "big", 0, UINT64_MAX, &v));
	assert_true(v == UINT64_MAX);
	assert_true(jsonr_bool(root, "on", &on));
	assert_true(on);
	assert_true(jsonr_u64(jsonr_object(root, "sub"), "x", 0, 9, &v));
	assert_true(v == 1);
	list = jsonr_array(root, "list");
	assert_int_equal(jsonr_len(list), 2);
	assert_true(jsonr_str_at(list, 1, &s));
	assert_string_equal(s, "b");
	assert_false(jsonr_str_at(list, 2, &s));
	peers = jsonr_array(root, "peers");
	assert_true(jsonr_u64(jsonr_at(peers, 0), "id", 0, 9, &v));
	assert_true(v == 1);
	assert_true(jsonr_u64(jsonr_at(peers, 1), "id", 0, 9, &v));
	assert_true(v == 2);
	assert_null(jsonr_at(peers, 2));
	jsonr_finish(r);
	assert_null(jsonr_error(r));
	jsonr_free(r);
}

static void absent_is_no_error(void **state)
{
	struct jsonr *r = parse("{\"nothing\":null}");
	struct jsonr_node *root = jsonr_root(r);
	const char *s = "kept";
	uint64_t v = 7;
	bool b = true;

	(void)state;
	assert_false(jsonr_str(root, "a", &s));
	assert_false(jsonr_u64(root, "b", 0, 1, &v));
	assert_false(jsonr_bool(root, "c", &b));
	assert_null(jsonr_object(root, "d"));
	assert_null(jsonr_array(root, "e"));
	assert_int_equal(jsonr_len(jsonr_array(root, "e")), 0);
	assert_false(jsonr_has(root, "f"));
	assert_false(jsonr_str(root, "nothing", &s));
	assert_false(jsonr_has(root, "nothing"));
	jsonr_finish(r);
	assert_null(jsonr_error(r));
	assert_string_equal(s, "kept");
	assert_true(v == 7 && b);
	jsonr_free(r);
}

static void map_members(void **state)
{
	struct jsonr *r = parse("{\"peer\":{\"west\":{\"port\":1},\"east\":{\"port\":2}}}");
	struct jsonr_node *map = jsonr_object(jsonr_root(r), "peer");
	const char *name = NULL;
	uint64_t v = 0;

	(void)state;
	assert_int_equal(jsonr_len(map), 2);
	assert_true(jsonr_u64(jsonr_member(map, 1, &name), "port", 0, 9, &v));
	assert_string_equal(name, "east");
	assert_true(v == 2);
	assert_true(jsonr_u64(jsonr_member(map, 0, &name), "port", 0, 9, &v));
	assert_string_equal(name, "west");
	assert_null(jsonr_member(map, 2, &name));
	jsonr_finish(r);
	assert_null(jsonr_error(r));
	jsonr_free(r);
}

/* Reads one member as `how` specifies. The reader must then report exactly this error. */
static void check_error(const char *text, char how, const char *expected)
{
	struct jsonr *r = parse(text);
	struct jsonr_node *path = jsonr_object(jsonr_root(r), "path");
	struct jsonr_node *list = jsonr_array(path, "list");
	const char *s;
	uint64_t v;
	bool b;

	if (how == 's')
		assert_false(jsonr_str(path, "k", &s));
	else if (how == 'u')
		assert_false(jsonr_u64(path, "k", 1, 10, &v));
	else if (how == 'b')
		assert_false(jsonr_bool(path, "k", &b));
	else if (how == 'o')
		assert_null(jsonr_object(path, "k"));
	else if (how == 'a')
		assert_null(jsonr_array(path, "k"));
	else if (how == 'l')
		assert_null(jsonr_at(list, 1));
	else if (how == 't')
		assert_false(jsonr_str_at(list, 1, &s));
	else if (how == 'n')
		jsonr_str(jsonr_at(list, 1), "k", &s);
	jsonr_finish(r);
	assert_non_null(jsonr_error(r));
	assert_string_equal(jsonr_error(r), expected);
	jsonr_free(r);
}

static void errors_name_path_and_expectation(void **state)
{
	static const struct {
		const char *text;
		char how;
		const char *error;
	} cases[] = {
		{ "{\"path\":{\"k\":\"x\"}}", 'u',
		  "path.k: expected a number from 1 to 10, found \"x\"" },
		{ "{\"path\":{\"k\":0}}", 'u', "path.k: expected a number from 1 to 10, found 0" },
		{ "{\"path\":{\"k\":-3}}", 'u',
		  "path.k: expected a number from 1 to 10, found -3" },
		{ "{\"path\":{\"k\":2.5}}", 'u',
		  "path.k: expected a number from 1 to 10, found 2.5" },
		{ "{\"path\":{\"k\":11}}", 'u',
		  "path.k: expected a number from 1 to 10, found 11" },
		{ "{\"path\":{\"k\":true}}", 'u',
		  "path.k: expected a number from 1 to 10, found true" },
		{ "{\"path\":{\"k\":4711}}", 's', "path.k: expected a string, found a number" },
		{ "{\"path\":{\"k\":\"a\\u0000b\"}}", 's',
		  "path.k: string contains a NUL character" },
		{ "{\"path\":{\"k\":\"yes\"}}", 'b',
		  "path.k: expected true or false, found a string" },
		{ "{\"path\":{\"k\":[]}}", 'o', "path.k: expected an object, found a list" },
		{ "{\"path\":{\"k\":{}}}", 'a', "path.k: expected a list, found an object" },
		{ "{\"path\":{\"list\":[{},7]}}", 'l',
		  "path.list[1]: expected an object, found a number" },
		{ "{\"path\":{\"list\":[\"a\",null]}}", 't',
		  "path.list[1]: expected a string, found null" },
		{ "{\"path\":{\"list\":[{},{\"k\":true}]}}", 'n',
		  "path.list[1].k: expected a string, found true or false" },
		{ "{\"path\":{\"list\":[{},{\"z\":1}]}}", 'n', "path.list[1].z: unknown key" },
		{ "{\"path\":{\"z\":{}}}", '-', "path.z: unknown key" },
		{ "{\"y\":1,\"path\":{\"z\":{}}}", '-', "y: unknown key" },
		{ "{\"path\":true}", '-', "path: expected an object, found true or false" },
		{ "[1]", '-', "top level: expected an object, found a list" },
		{ "null", '-', "top level: expected an object, found null" },
	};

	(void)state;
	for (size_t i = 0; i < array_size(cases); i++)
		check_error(cases[i].text, cases[i].how, cases[i].error);
}

static void first_error_wins_and_stops_all(void **state)
{
	struct jsonr *r = parse("{\"a\":1,\"b\":2,\"l\":[\"x\"]}");
	struct jsonr_node *root = jsonr_root(r), *list = jsonr_array(root, "l");
	const char *s = "kept";
	uint64_t v = 9;

	(void)state;
	assert_false(jsonr_str(root, "a", &s));
	assert_false(jsonr_u64(root, "b", 0, 5, &v));
	assert_false(jsonr_str_at(list, 0, &s));
	assert_int_equal(jsonr_len(list), 0);
	assert_null(jsonr_root(r));
	jsonr_fail(root, "something else");
	jsonr_fail(NULL, "something else");
	assert_string_equal(s, "kept");
	assert_true(v == 9);
	assert_string_equal(jsonr_error(r), "a: expected a string, found a number");
	jsonr_free(r);
}

static void fail_by_the_caller(void **state)
{
	struct jsonr *r = parse("{\"path\":{\"x\":1}}");

	(void)state;
	jsonr_fail(jsonr_object(jsonr_root(r), "path"), "threshold %d is odd", 3);
	assert_string_equal(jsonr_error(r), "path: threshold 3 is odd");
	jsonr_free(r);
}

static void syntax_errors(void **state)
{
	static const struct {
		const char *text, *start;
	} cases[] = {
		{ "", "line 1, column 1: not valid JSON" },
		{ "{\"a\":1", "line 1, column 7: not valid JSON (the text ends too early)" },
		{ "{\n\"a\": x}", "line 2, column 6: not valid JSON" },
		{ "{\"a\":1,}", "line 1, column 8: not valid JSON" },
		{ "{\"a\":1} {", "line 1, column 9: not valid JSON" },
		{ "{\"a\":01}", "line 1, column 8: not valid JSON" },
		{ "{\"a\":\"\377\"}", "line 1, column 7: not valid JSON (invalid UTF-8)" },
		{ "{\"a\":\"\xc3\"}", "line 1, column 7: not valid JSON (invalid UTF-8)" },
		{ "{\"a\":\"\xed\xa0\x80\"}", "line 1, column 7: not valid JSON (invalid UTF-8)" },
		{ "{\"a\":\"\\\xc3\xa9\"}", "line 1, column 7: not valid JSON" },
		{ "{\"a\":\"\\\\\\\xc3\xa9\"}", "line 1, column 9: not valid JSON" },
		{ "{\"\xc3\xa9\":\"\xf0\x9f\x90\xb1\",x}", "line 1, column 14: not valid JSON" },
		{ "{\"a\":\xc3\xa9}", "line 1, column 6: not valid JSON" },
		{ "\xef\xbb\xbf{}", "line 1, column 1: not valid JSON" },
	};

	(void)state;
	for (size_t i = 0; i < array_size(cases); i++) {
		struct jsonr *r = parse(cases[i].text);

		assert_non_null(jsonr_error(r));
		assert_memory_equal(jsonr_error(r), cases[i].start, strlen(cases[i].start));
		assert_null(jsonr_root(r));
		jsonr_finish(r);
		jsonr_free(r);
	}
}

/* In strict mode json-c 0.18 refuses every string with such characters. */
static void characters_beyond_ascii(void **state)
{
	/* The first and last character of each length, a backslash before such a character, and an
	 * escape. */
	static const char *const values[] = {
		"\xc2\x80",	    "\xc3\xa9t\xc3\xa9", "\xdf\xbf",	 "\xe0\xa0\x80",
		"\xed\x9f\xbf",	    "\xee\x80\x80",	 "\xef\xbf\xbd", "\xf0\x90\x80\x80",
		"\xf0\x9f\x90\xb1", "\xf4\x8f\xbf\xbf",	 "\\\\\xc3\xa9", "\\u00e9\xc3\xa9",
	};
	static const char *const read[array_size(values)] = {
		[10] = "\\\xc3\xa9", [11] = "\xc3\xa9\xc3\xa9"
	};

	(void)state;
	for (size_t i = 0; i < array_size(values); i++) {
		const char *s = NULL;
		char text[64];
		struct jsonr *r;

		snprintf(text, sizeof(text), "{\"\xc3\xa9\":\"%s\"}", values[i]);
		r = parse(text);
		assert_null(jsonr_error(r));
		assert_true(jsonr_str(jsonr_root(r), "\xc3\xa9", &s));
		assert_string_equal(s, read[i] ? read[i] : values[i]);
		jsonr_free(r);
	}
}

static void nul_in_text(void **state)
{
	struct jsonr *r = jsonr_parse("{}\0{}", 5, JSONR_USUAL_MAX);

	(void)state;
	assert_string_equal(jsonr_error(r), "line 1, column 3: not valid JSON (NUL character)");
	jsonr_free(r);
}

static void nesting_is_limited(void **state)
{
	char text[512];
	struct jsonr *r;

	(void)state;
	for (int depth = 20; depth <= 60; depth += 40) {
		int at = snprintf(text, sizeof(text), "{\"a\":");

		for (int i = 0; i < depth; i++)
			text[at++] = '[';
		for (int i = 0; i < depth; i++)
			text[at++] = ']';
		text[at++] = '}';
		text[at] = '\0';
		r = parse(text);
		assert_int_equal(jsonr_error(r) != NULL, depth > 32);
		jsonr_free(r);
	}
}

static void size_is_limited(void **state)
{
	size_t len = (16u << 20) + 1;
	char *text = malloc(len);
	struct jsonr *r;

	(void)state;
	assert_non_null(text);
	memset(text, ' ', len);
	text[0] = '{';
	text[len - 2] = '}';
	r = jsonr_parse(text, len, JSONR_USUAL_MAX);
	assert_string_equal(jsonr_error(r), "document is larger than 16 MiB");
	jsonr_free(r);
	r = jsonr_parse(text, len - 1, JSONR_USUAL_MAX);
	assert_null(jsonr_error(r));
	jsonr_free(r);
	r = jsonr_parse(text, len, len);
	assert_null(jsonr_error(r));
	jsonr_free(r);
	free(text);
	jsonr_free(NULL);
}

static void long_values_are_cut(void **state)
{
	char text[2048];
	struct jsonr *r;
	uint64_t v;

	(void)state;
	snprintf(text, sizeof(text), "{\"%0900d\":\"%0900d\"}", 1, 2);
	r = parse(text);
	snprintf(text, sizeof(text), "%0900d", 1);
	assert_false(jsonr_u64(jsonr_root(r), text, 0, 1, &v));
	assert_non_null(strstr(jsonr_error(r), ": expected a number from 0 to 1, found \"000"));
	assert_non_null(strstr(jsonr_error(r), "..."));
	jsonr_free(r);
}

/* Keys come from the document and errors go to terminals: one sentence, no escape sequence. */
static void control_characters_are_masked(void **state)
{
	struct jsonr *r = parse("{\"a\\nb\\u001b[31m\":{\"c\nd\":{}}}");
	const char *name;

	(void)state;
	jsonr_fail(jsonr_member(jsonr_member(jsonr_root(r), 0, &name), 0, &name), "bad\n");
	assert_string_equal(jsonr_error(r), "a?b?[31m.c?d: bad?");
	jsonr_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(absent_is_no_error),
		cmocka_unit_test(map_members),
		cmocka_unit_test(errors_name_path_and_expectation),
		cmocka_unit_test(first_error_wins_and_stops_all),
		cmocka_unit_test(fail_by_the_caller),
		cmocka_unit_test(syntax_errors),
		cmocka_unit_test(characters_beyond_ascii),
		cmocka_unit_test(nul_in_text),
		cmocka_unit_test(nesting_is_limited),
		cmocka_unit_test(size_is_limited),
		cmocka_unit_test(long_values_are_cut),
		cmocka_unit_test(control_characters_are_masked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
