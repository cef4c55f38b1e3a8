// SPDX-License-Identifier: GPL-2.0-or-later
/* ipc/accel_report: reports of leon-accel to leond as JSON, at both ends of every range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/accel_report.h"

/* Numbers of JSON readers end at the largest signed number. */
#define MOST ((uint64_t)INT64_MAX)

/* Fills an array with different numbers, and the last one with the largest number. */
static void number(uint64_t *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = i + 1 < n ? 100 + i : MOST;
}

static struct jsonr *parse(const char *text)
{
	return jsonr_parse(text, strlen(text), JSONR_USUAL_MAX);
}

/* The text of a totals, node or connection object, owned by the caller. */
#define WRITTEN(write, value)                                                                      \
	({                                                                                         \
		struct jsonw *w_ = jsonw_new();                                                    \
		char *text_;                                                                       \
		size_t len_;                                                                       \
		jsonw_object(w_, NULL);                                                            \
		write(value, w_);                                                                  \
		jsonw_end(w_);                                                                     \
		text_ = strdup(jsonw_text(w_, &len_));                                             \
		jsonw_free(w_);                                                                    \
		text_;                                                                             \
	})

static void totals_come_back(void **state)
{
	struct accel_totals sent = {
		.tracked = 65536,
		.intercepted_now = 4096,
		.held = 64 << 20,
		.undelivered = 1,
		.intercepted = MOST,
		.returned = 5,
		.reset = 6,
		.refused = 7,
		.leond_queue_full = 8,
		.held_dropped = 9,
		.full = 10,
		.again = 11,
		.bytes = { 12, 13, 14, 15 },
		.time = { 16, 17 },
	};
	struct accel_totals back;
	struct jsonr *doc;
	char *text;

	(void)state;
	number(sent.plain + 1, ACCEL_N_REASONS - 1); /* NONE is no reason */
	number(sent.misuse, ACCEL_N_MISUSES);
	number(sent.fault, ACCEL_N_FAULTS);
	text = WRITTEN(accel_totals_write, &sent);
	doc = parse(text);
	assert_true(accel_totals_read(jsonr_root(doc), &back));
	assert_null(jsonr_error(doc));
	assert_memory_equal(&back, &sent, sizeof(sent));
	jsonr_free(doc);
	free(text);
}

static void a_node_comes_back(void **state)
{
	struct accel_node sent = { .id = 0x0a000002,
				   .reached = true,
				   .intercepted_now = 3,
				   .intercepted = 4,
				   .returned = 5,
				   .reset = 6,
				   .refused = MOST };
	struct accel_node back;
	struct jsonr *doc;
	char *text;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		text = WRITTEN(accel_node_write, &sent);
		doc = parse(text);
		assert_true(accel_node_read(jsonr_root(doc), &back));
		assert_null(jsonr_error(doc));
		assert_int_equal(back.id, sent.id);
		assert_true(back.reached);
		assert_int_equal(back.intercepted_now, 3);
		assert_int_equal(back.intercepted, 4);
		assert_int_equal(back.returned, 5);
		assert_int_equal(back.reset, 6);
		assert_int_equal(back.refused, MOST);
		assert_memory_equal(back.misuse, sent.misuse, sizeof(sent.misuse));
		jsonr_free(doc);
		free(text);
		number(sent.misuse, ACCEL_N_MISUSES);
	}
}

static struct accel_conn conn(const char *near, const char *far, const char *reason)
{
	struct accel_conn c = { .serial = MOST,
				.vlan = 4094,
				.node = 0x0a000002,
				.state = "plain",
				.reason = reason,
				.since_ms = 1,
				.held = 2,
				.undelivered = 3,
				.times = 4,
				.bytes = { 5, 6, 7, 8 },
				.time = { 9, 10 } };

	assert_int_equal(endpoint_parse(near, 0, &c.near), 0);
	assert_int_equal(endpoint_parse(far, 0, &c.far), 0);
	return c;
}

static void assert_comes_back(const struct accel_conn *sent)
{
	char *text = WRITTEN(accel_conn_write, sent), *again;
	struct jsonr *doc = parse(text);
	struct accel_conn back;

	assert_true(accel_conn_read(jsonr_root(doc), &back));
	assert_null(jsonr_error(doc));
	assert_true(endpoint_equal(&back.near, &sent->near));
	assert_true(endpoint_equal(&back.far, &sent->far));
	assert_int_equal(back.serial, MOST);
	assert_int_equal(back.bytes.carried_in, 8);
	assert_int_equal(back.time.without_ms, 10);
	assert_string_equal(back.state, "plain");
	again = WRITTEN(accel_conn_write, &back);
	assert_string_equal(again, text);
	free(again);
	jsonr_free(doc);
	free(text);
}

static void a_connection_comes_back(void **state)
{
	struct accel_conn v4 = conn("192.0.2.1:65535", "192.0.2.2:2049", NULL);
	struct accel_conn v6 = conn("[2001:db8::1]:1", "[2001:db8::2]:2", "later");

	(void)state;
	assert_comes_back(&v4);
	assert_comes_back(&v6);
}

/* An error of leon-accel, another document, or values of another type. */
static void other_documents_are_no_report(void **state)
{
	static const char *const text[] = {
		"{}",
		"{\"version\":1,\"error\":\"unknown command\"}",
		"{\"counters\":{}}",
		"{\"counters\":[],\"plain\":{}}",
		"{\"node\":7}",
		"{\"node\":\"x\"}",
		"{\"near\":\"192.0.2.1:1\",\"far\":\"192.0.2.2:2\",\"state\":\"plain\"}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		struct jsonr *doc = parse(text[i]);
		struct accel_totals t;
		struct accel_node n;
		struct accel_conn c;

		assert_false(accel_totals_read(jsonr_root(doc), &t));
		assert_false(accel_node_read(jsonr_root(doc), &n));
		assert_false(accel_conn_read(jsonr_root(doc), &c));
		jsonr_free(doc);
	}
}

/* A number of another type is an error of the document. */
static void a_wrong_number_is_an_error(void **state)
{
	struct jsonr *doc = parse("{\"counters\":{\"reset\":\"many\"},\"plain\":{}}");
	struct accel_totals t;

	(void)state;
	accel_totals_read(jsonr_root(doc), &t);
	assert_non_null(jsonr_error(doc));
	assert_int_equal(t.reset, 0);
	jsonr_free(doc);
}

/* Each reason except the first has its own word and a sentence. */
static void test_reasons(void **state)
{
	(void)state;
	assert_null(accel_reason_word(ACCEL_REASON_NONE));
	assert_null(accel_reason_word(ACCEL_N_REASONS));
	assert_string_equal(accel_reason_word(ACCEL_REASON_FAST), "fast-enough");
	for (enum accel_reason i = ACCEL_REASON_NONE + 1; i < ACCEL_N_REASONS; i++) {
		assert_true(strlen(accel_reason_sentence(i)) > 10);
		for (enum accel_reason j = ACCEL_REASON_NONE + 1; j < i; j++)
			assert_string_not_equal(accel_reason_word(i), accel_reason_word(j));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_come_back),
		cmocka_unit_test(a_node_comes_back),
		cmocka_unit_test(a_connection_comes_back),
		cmocka_unit_test(other_documents_are_no_report),
		cmocka_unit_test(a_wrong_number_is_an_error),
		cmocka_unit_test(test_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
