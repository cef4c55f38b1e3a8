// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-portmap: times of attempts with methods of the test, and reports that leond checks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/defs.h"
#include "mapper.h"

#define T0	  ((mono_t){ 100 * NS_PER_S })
#define AFTER(ms) mono_add_ms(T0, ms)

/* The gateway of a test: answers and received requests of each method. */
static struct gateway {
	enum mapping_result first, second;
	struct mapping_answer answer;
	struct mapping_request asked;
	unsigned n_first, n_second, n_removed;
} gw;

static enum mapping_result answer(enum mapping_result r, struct mapping_answer *a)
{
	*a = gw.answer;
	if (r != MAPPING_OK)
		snprintf(a->reason, sizeof(a->reason), "no answer");
	return r;
}

static enum mapping_result map_first(const struct mapping_request *q, struct mapping_answer *a)
{
	gw.n_first++;
	gw.asked = *q;
	return answer(gw.first, a);
}

static enum mapping_result map_second(const struct mapping_request *q, struct mapping_answer *a)
{
	gw.n_second++;
	gw.asked = *q;
	return answer(gw.second, a);
}

static void unmap(const struct mapping_request *q)
{
	gw.asked = *q;
	gw.n_removed++;
}

static const struct mapping_method first = { "first", PORTMAP_NATPMP, map_first, unmap },
				   second = { "second", PORTMAP_UPNP, map_second, unmap };
static const struct mapping_method *const methods[] = { &first, &second, NULL };
static const struct mapping_request question = { .c = { .gateway = { 4, { 10, 0, 0, 1 } },
							.source = { 4, { 10, 0, 0, 2 } },
							.port = 5366,
							.external_port = 5366,
							.lifetime_s = 3600 } };

static struct mapper ready(enum mapping_result a, enum mapping_result b, uint32_t lifetime_s)
{
	struct mapper m = { .methods = methods };

	memset(&gw, 0, sizeof(gw));
	gw.first = a;
	gw.second = b;
	gw.answer.external = (struct endpoint){ .ip = { 4, { 44, 0, 0, 1 } }, .port = 5366 };
	gw.answer.lifetime_s = lifetime_s;
	mapper_request(&m, &question, T0);
	return m;
}

static void test_the_first_method_that_answers_counts(void **state)
{
	struct mapper m = ready(MAPPING_SILENT, MAPPING_OK, 3600);
	struct portmap_report p;

	(void)state;
	assert_true(mapper_run(&m, T0, &p));
	assert_int_equal(p.news, PORTMAP_MAPPED);
	assert_int_equal(p.method, PORTMAP_UPNP);
	assert_int_equal(p.lifetime_s, 3600);
	assert_true(portmap_report_check(&p));
	/* Only this one is asked for as long as the mapping exists. */
	assert_true(mapper_run(&m, AFTER(60000), &p));
	assert_int_equal(gw.n_first, 1);
	assert_int_equal(gw.n_second, 2);
}

static void test_it_checks_each_minute_and_renews_at_half(void **state)
{
	struct mapper m = ready(MAPPING_OK, MAPPING_OK, 600);
	struct portmap_report p;
	unsigned renewed = 0;

	(void)state;
	assert_true(mapper_run(&m, T0, &p));
	assert_true(gw.asked.renew);
	assert_false(mapper_run(&m, AFTER(59999), &p));
	for (int minute = 1; minute <= 10; minute++) {
		assert_true(mapper_run(&m, AFTER(minute * 60000), &p));
		assert_int_equal(p.news, PORTMAP_MAPPED);
		assert_true(p.lifetime_s >= 300);
		renewed += gw.asked.renew;
	}
	assert_int_equal(renewed, 2);
}

static void test_a_short_lifetime_is_renewed_in_time(void **state)
{
	struct mapper m = ready(MAPPING_OK, MAPPING_OK, 4);
	struct portmap_report p;

	(void)state;
	assert_true(mapper_run(&m, T0, &p));
	assert_false(mapper_run(&m, AFTER(1999), &p));
	assert_true(mapper_run(&m, AFTER(2000), &p));
	assert_true(gw.asked.renew);
	/* A gateway cannot make the program busy. */
	gw.answer.lifetime_s = 1;
	assert_true(mapper_run(&m, AFTER(4000), &p));
	assert_false(mapper_run(&m, AFTER(4999), &p));
}

static void test_failures_are_retried_more_and_more_slowly(void **state)
{
	static const int at_ms[] = { 0, 2000, 6000, 14000, 30000, 62000, 126000, 246000, 366000 };
	struct mapper m = ready(MAPPING_SILENT, MAPPING_SILENT, 0);
	struct portmap_report p;

	(void)state;
	for (size_t i = 0; i < array_size(at_ms); i++) {
		if (at_ms[i])
			assert_false(mapper_run(&m, AFTER(at_ms[i] - 1), &p));
		assert_true(mapper_run(&m, AFTER(at_ms[i]), &p));
		assert_int_equal(p.news, PORTMAP_FAILED);
		assert_string_equal(p.reason, "first: no answer; second: no answer");
	}
	/* A new request begins at once. */
	mapper_request(&m, &question, AFTER(366001));
	assert_true(mapper_run(&m, AFTER(366001), &p));
}

static void test_a_refusal_ends_the_mapping(void **state)
{
	struct mapper m = ready(MAPPING_OK, MAPPING_SILENT, 600);
	struct portmap_report p;

	(void)state;
	mapper_run(&m, T0, &p);
	gw.first = MAPPING_REFUSED;
	assert_true(mapper_run(&m, AFTER(60000), &p));
	assert_int_equal(p.news, PORTMAP_GONE);
	mapper_remove(&m);
	assert_int_equal(gw.n_removed, 0);
}

static void test_silence_keeps_it_until_the_end_of_its_lifetime(void **state)
{
	struct mapper m = ready(MAPPING_OK, MAPPING_OK, 20);
	struct portmap_report p;

	(void)state;
	mapper_run(&m, T0, &p);
	gw.first = MAPPING_SILENT;
	for (int ms = 1000; ms < 20000; ms += 1000)
		if (mapper_run(&m, AFTER(ms), &p))
			assert_int_equal(p.news, PORTMAP_FAILED);
	assert_int_equal(gw.n_second, 0);
	/* Now each method may map it. */
	for (int ms = 20000; ms < 60000 && p.news != PORTMAP_MAPPED; ms += 1000)
		mapper_run(&m, AFTER(ms), &p);
	assert_int_equal(p.news, PORTMAP_MAPPED);
	assert_int_equal(p.method, PORTMAP_UPNP);
}

static void test_another_port_is_requested_again(void **state)
{
	struct mapper m = ready(MAPPING_OK, MAPPING_OK, 600);
	struct portmap_report p;

	(void)state;
	gw.answer.external.port = 7000;
	mapper_run(&m, T0, &p);
	assert_int_equal(p.external.port, 7000);
	mapper_run(&m, AFTER(60000), &p);
	assert_int_equal(gw.asked.c.external_port, 7000);
	assert_int_equal(gw.asked.c.port, 5366);
	mapper_remove(&m);
	assert_int_equal(gw.n_removed, 1);
	assert_int_equal(gw.asked.c.external_port, 7000);
	assert_false(mapper_run(&m, AFTER(900000), &p));
}

static void test_another_gateway_begins_anew(void **state)
{
	struct mapper m = ready(MAPPING_SILENT, MAPPING_OK, 600);
	struct mapping_request other = question;
	struct portmap_report p;

	(void)state;
	mapper_run(&m, T0, &p);
	other.c.gateway.b[3] = 9;
	gw.first = MAPPING_OK;
	mapper_request(&m, &other, AFTER(1000));
	assert_true(mapper_run(&m, AFTER(1000), &p));
	assert_int_equal(p.method, PORTMAP_NATPMP);
	assert_int_equal(gw.asked.c.gateway.b[3], 9);
}

/* --- reports --- */

static struct portmap_report good(void)
{
	return (struct portmap_report){ .protocol = PORTMAP_PROTOCOL,
					.news = PORTMAP_MAPPED,
					.method = PORTMAP_UPNP,
					.lifetime_s = 60,
					.external = { .ip = { 4, { 44, 0, 0, 1 } },
						      .port = 5366 } };
}

static void test_invalid_reports_are_refused(void **state)
{
	struct portmap_report p = good();

	(void)state;
	assert_true(portmap_report_check(&p));
#define REFUSED(change)                                                                            \
	do {                                                                                       \
		p = good();                                                                        \
		change;                                                                            \
		assert_false(portmap_report_check(&p));                                            \
	} while (0)
	REFUSED(p.protocol++);
	REFUSED(p.news = PORTMAP_GONE + 1);
	REFUSED(p.method = PORTMAP_NONE);
	REFUSED(p.method = 99);
	REFUSED(p.lifetime_s = 0);
	REFUSED(p.external.port = 0);
	REFUSED(p.external.ip.family = 6);
	REFUSED(p.external.ip.family = IP_STREAM);
	REFUSED(memset(p.external.ip.b, 0, 4));
	REFUSED(p.external.ip.b[0] = 224);
	REFUSED(memset(p.external.ip.b, 255, 4));
}

static void test_reports_are_made_safe(void **state)
{
	struct portmap_report p = good();
	struct endpoint clean = good().external;

	(void)state;
	p.lifetime_s = UINT32_MAX;
	memset(p.external.ip.b + 4, 7, 12);
	p.external.line = 7;
	memset(p.reason, 'x', sizeof(p.reason));
	assert_true(portmap_report_check(&p));
	assert_int_equal(p.lifetime_s, PORTMAP_LIFETIME_MAX);
	assert_true(endpoint_equal(&p.external, &clean));
	assert_string_equal(p.reason, "");

	p.news = PORTMAP_FAILED;
	memset(p.reason, '\n', sizeof(p.reason));
	assert_true(portmap_report_check(&p));
	assert_int_equal(strlen(p.reason), PORTMAP_REASON_LEN - 1);
	assert_int_equal(strspn(p.reason, "?"), PORTMAP_REASON_LEN - 1);
	p.reason[0] = '\0';
	assert_true(portmap_report_check(&p));
	assert_string_equal(p.reason, "no reason");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_method_that_answers_counts),
		cmocka_unit_test(test_it_checks_each_minute_and_renews_at_half),
		cmocka_unit_test(test_a_short_lifetime_is_renewed_in_time),
		cmocka_unit_test(test_failures_are_retried_more_and_more_slowly),
		cmocka_unit_test(test_a_refusal_ends_the_mapping),
		cmocka_unit_test(test_silence_keeps_it_until_the_end_of_its_lifetime),
		cmocka_unit_test(test_another_port_is_requested_again),
		cmocka_unit_test(test_another_gateway_begins_anew),
		cmocka_unit_test(test_invalid_reports_are_refused),
		cmocka_unit_test(test_reports_are_made_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
