// SPDX-License-Identifier: GPL-2.0-or-later
/* wire/accel_report: reports of leon-accel to leond, at both ends of every range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "wire/accel_report.h"

static struct accel_report sent, back; /* too large for a stack */

/* An encoded report decodes to equal bytes, and is refused if a byte is missing or added. */
static size_t assert_round(void)
{
	static uint8_t buf[ACCEL_REPORT_MAX + 1], again[ACCEL_REPORT_MAX];
	size_t len = accel_report_encode(&sent, buf);

	assert_true(len <= ACCEL_REPORT_MAX);
	for (size_t n = 0; n < len; n++)
		assert_int_equal(accel_report_decode(buf, n, &back), -EBADMSG);
	buf[len] = 0;
	assert_int_equal(accel_report_decode(buf, len + 1, &back), -EBADMSG);
	assert_int_equal(accel_report_decode(buf, len, &back), 0);
	assert_int_equal(accel_report_encode(&back, again), len);
	assert_memory_equal(buf, again, len);
	return len;
}

static struct ip_addr ip(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_parse(text, &a), 0);
	return a;
}

static struct accel_conn conn(const char *near, const char *far)
{
	return (struct accel_conn){
		.serial = UINT64_MAX,
		.vlan = 4094,
		.near = ip(near),
		.far = ip(far),
		.near_port = 65535,
		.far_port = 2049,
		.node = 0x0a000002,
		.state = ACCEL_CONN_CLOSED,
		.since_ms = UINT32_MAX,
		.held = UINT32_MAX,
		.times = UINT16_MAX,
		.reason = ACCEL_REASON_LATER,
		.bytes = { UINT64_MAX, 1, 2, 3 },
		.time = { 4, UINT64_MAX },
	};
}

static void test_totals(void **state)
{
	struct accel_totals *t = &sent.totals;

	(void)state;
	memset(&sent, 0, sizeof(sent));
	sent.what = ACCEL_REPORT_TOTALS;
	assert_round();
	*t = (struct accel_totals){
		.tracked = 65536,
		.intercepted_now = 4096,
		.plain = { [ACCEL_REASON_OFF] = 1, [ACCEL_REASON_FULL] = 65535 },
		.held = 64 << 20,
		.intercepted = UINT64_MAX,
		.returned = 5,
		.reset = 6,
		.refused = 7,
		.queue_full = 8,
		.held_dropped = 9,
		.fault = { 16, 17, [ACCEL_N_FAULTS - 1] = 18 },
		.bytes = { 10, 11, 12, 13 },
		.time = { 14, 15 }
	};
	assert_round();
	assert_memory_equal(&back.totals, t, sizeof(*t));
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

static void test_node(void **state)
{
	static uint8_t buf[ACCEL_REPORT_MAX];
	size_t len;

	(void)state;
	memset(&sent, 0, sizeof(sent));
	sent.what = ACCEL_REPORT_NODE;
	sent.node = (struct accel_node){ 0x0a000002, true, 3, 4, 5, 6, UINT64_MAX, { 1, 2, 3 } };
	assert_round();
	assert_true(back.node.reached);
	assert_int_equal(back.node.refused, UINT64_MAX);
	assert_int_equal(back.node.misuse[ACCEL_BAD_MESSAGE], 3);
	len = accel_report_encode(&sent, buf);
	buf[5] = 2; /* reached: neither 0 nor 1 */
	assert_int_equal(accel_report_decode(buf, len, &back), -EBADMSG);
}

static void test_page(void **state)
{
	(void)state;
	memset(&sent, 0, sizeof(sent));
	sent.what = ACCEL_REPORT_PAGE;
	assert_round(); /* no connection is intercepted */
	sent.page.ask = 7;
	sent.page.more = true;
	sent.page.n = ACCEL_PAGE_CONNS;
	for (unsigned i = 0; i < ACCEL_PAGE_CONNS; i++)
		sent.page.conn[i] =
			i & 1 ? conn("192.0.2.1", "192.0.2.2") : conn("2001:db8::1", "2001:db8::2");
	assert_int_equal(assert_round(), 7 + ACCEL_PAGE_CONNS * ACCEL_CONN_LEN);
	assert_true(ip_equal(&back.page.conn[1].far, &sent.page.conn[1].far));
	assert_true(ip_equal(&back.page.conn[0].near, &sent.page.conn[0].near));
	assert_int_equal(back.page.conn[63].bytes.out, UINT64_MAX);
}

static void test_page_that_lies(void **state)
{
	static uint8_t buf[ACCEL_REPORT_MAX];
	size_t len;

	(void)state;
	memset(&sent, 0, sizeof(sent));
	sent.what = ACCEL_REPORT_PAGE;
	sent.page.more = true;
	/* More pages after an empty one: further requests would never end. */
	len = accel_report_encode(&sent, buf);
	assert_int_equal(accel_report_decode(buf, len, &back), -EBADMSG);
	sent.page.n = 1;
	sent.page.conn[0] = conn("192.0.2.1", "192.0.2.2");
	sent.page.conn[0].state = ACCEL_CONN_STATES;
	len = accel_report_encode(&sent, buf);
	assert_int_equal(accel_report_decode(buf, len, &back), -EBADMSG);
	sent.page.conn[0].state = 0;
	sent.page.conn[0].reason = ACCEL_N_REASONS;
	len = accel_report_encode(&sent, buf);
	assert_int_equal(accel_report_decode(buf, len, &back), -EBADMSG);
	sent.page.conn[0].reason = 0;
	sent.page.conn[0].near.family = 5;
	len = accel_report_encode(&sent, buf);
	assert_int_equal(accel_report_decode(buf, len, &back), -EBADMSG);
	buf[6] = ACCEL_PAGE_CONNS + 1;
	assert_int_equal(accel_report_decode(buf, len, &back), -EBADMSG);
}

/* An invalid leon-accel repeats or invents connections, and the request still ends. */
static void test_pages_end(void **state)
{
	struct accel_page *page = &sent.page;
	struct accel_paging p = { 0 };

	(void)state;
	memset(&sent, 0, sizeof(sent));
	page->more = true;
	page->n = 1;
	page->conn[0].serial = 0;
	assert_false(accel_paging_goes_on(&p, page));
	page->conn[0].serial = 5;
	assert_true(accel_paging_goes_on(&p, page));
	assert_int_equal(p.behind, 5);
	assert_false(accel_paging_goes_on(&p, page));
	page->conn[0].serial = 4;
	assert_false(accel_paging_goes_on(&p, page));
	for (page->conn[0].serial = 6; accel_paging_goes_on(&p, page);)
		page->conn[0].serial++;
	assert_in_range(page->conn[0].serial, ACCEL_PAGES_MAX, ACCEL_PAGES_MAX + 10);
}

static void test_asks(void **state)
{
	(void)state;
	memset(&sent, 0, sizeof(sent));
	sent.what = ACCEL_REQUEST_PAGE;
	sent.ask.ask = 9;
	sent.ask.behind = 1ULL << 40;
	assert_round();
	assert_int_equal(back.ask.behind, 1ULL << 40);
	sent.what = ACCEL_REQUEST_RETURN;
	assert_int_equal(assert_round(), 1);
}

/* A message of a newer version, or of enum accel_say. */
static void test_others(void **state)
{
	uint8_t what;

	(void)state;
	for (unsigned i = 0; i < 256; i++) {
		what = (uint8_t)i;
		if (i != ACCEL_REQUEST_RETURN)
			assert_int_equal(accel_report_decode(&what, 1, &back), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_totals),	       cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_node),	       cmocka_unit_test(test_page),
		cmocka_unit_test(test_page_that_lies), cmocka_unit_test(test_asks),
		cmocka_unit_test(test_pages_end),      cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
