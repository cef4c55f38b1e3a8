// SPDX-License-Identifier: GPL-2.0-or-later
/* wire/capture: the filter as text, in a message and on frames; records cut at every length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/defs.h"
#include "wire/bytes.h"
#include "wire/flow_capture.h"

/* 10.0.0.1:1000 to 10.0.0.2:80, TCP, VLAN 7. */
static const uint8_t tagged[] = {
	2,    0,    0, 0,  0, 2, 2, 0, 0,  0, 0, 1, 0x81, 0, 0, 7, 8,  0,	/* */
	0x45, 0,    0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10,	  0, 0, 1, 10, 0, 0, 2, /* */
	3,    0xe8, 0, 80, 0, 0, 0, 0, 0,  0, 0, 0, 0x50, 2, 0, 0, 0,  0, 0, 0
};
/* ARP request of 10.0.0.1 for 10.0.0.2. */
static const uint8_t arp[] = { 255, 255, 255, 255, 255, 255, 2,	 0, 0, 0, 0, 1, 8, 6, /* */
			       0,   1,	 8,   0,   6,	4,   0,	 1,		      /* */
			       2,   0,	 0,   0,   0,	1,   10, 0, 0, 1,	      /* */
			       0,   0,	 0,   0,   0,	0,   10, 0, 0, 2 };

static bool matches(const char *text, const void *frame, size_t len)
{
	struct capture_filter f, back = { 0 };
	uint8_t buf[CAPTURE_FILTER_LEN];
	struct wbuf w = wbuf_of(buf, sizeof(buf));
	struct rbuf r = rbuf_of(buf, sizeof(buf));
	char err[200] = "";

	if (!capture_filter_parse(text, &f, err, sizeof(err)))
		fail_msg("\"%s\": %s", text, err);
	capture_filter_code(&(struct codec){ .out = &w }, &f);
	assert_true(w.ok && wbuf_left(&w) == 0);
	capture_filter_code(&(struct codec){ .in = &r }, &back);
	assert_true(r.ok && capture_filter_valid(&back));
	assert_int_equal(capture_filter_match(&f, frame, len),
			 capture_filter_match(&back, frame, len));
	return capture_filter_match(&back, frame, len);
}

static void test_match(void **state)
{
	static const struct {
		const char *text;
		bool tagged, arp;
	} want[] = {
		{ "host 10.0.0.1", true, true },
		{ "host 10.0.0.2 and host 10.0.0.1", true, true },
		{ "host 10.0.0.1 host 10.0.0.3", false, false },
		{ "host 10.0.0.1 proto tcp port 80", true, false },
		{ "port 1000", true, false },
		{ "port 81", false, false },
		{ "proto udp port 80", false, false },
		{ "proto 6", true, false },
		{ "vlan 7", true, false },
		{ "vlan 0", false, true },
		{ "mac 02:00:00:00:00:01", true, true },
		{ "mac 02:00:00:00:00:01 mac 02:00:00:00:00:02", true, false },
		{ "mac 02:00:00:00:00:02 mac 02:00:00:00:00:01 vlan 8", false, false },
		{ "host 2001:db8::1", false, false },
	};

	(void)state;
	for (size_t i = 0; i < array_size(want); i++) {
		assert_int_equal(matches(want[i].text, tagged, sizeof(tagged)), want[i].tagged);
		assert_int_equal(matches(want[i].text, arp, sizeof(arp)), want[i].arp);
	}
	/* The port is beyond the end. */
	for (size_t len = 0; len < 42; len++)
		assert_false(matches("port 80", tagged, len));
	assert_true(matches("port 80", tagged, 42));
}

static void test_text_errors(void **state)
{
	static const char *const wrong[][2] = {
		{ "", "the filter names no flow: give at least one of mac, host, vlan, proto or "
		      "port" },
		{ "and", "the filter names no flow: give at least one of mac, host, vlan, proto or "
			 "port" },
		{ "host", "\"host\" at the end of the filter has no value" },
		{ "host b", "\"b\" is no IP address" },
		{ "host 10.0.0.1 host ::1", "the two hosts need addresses of one family" },
		{ "host 10.0.0.1 host 10.0.0.2 host 10.0.0.3", "a flow has at most two hosts" },
		{ "vlan 0 vlan 2", "the filter has two values of \"vlan\"" },
		{ "proto tcp proto 6", "the filter has two values of \"proto\"" },
		{ "port 80 and port 81", "the filter has two values of \"port\"" },
		{ "mac 1", "\"1\" is no MAC address such as 02:00:00:00:00:01" },
		{ "vlan 4095", "\"4095\" is no VLAN from 0 (untagged) to 4094" },
		{ "vlan -1", "\"-1\" is no VLAN from 0 (untagged) to 4094" },
		{ "port 0", "\"0\" is no port from 1 to 65535" },
		{ "port 8x", "\"8x\" is no port from 1 to 65535" },
		{ "tcp 1", "unknown word \"tcp\" in the filter: expected mac, host, vlan, proto or "
			   "port" },
	};
	struct capture_filter f;
	char err[200];

	(void)state;
	for (size_t i = 0; i < array_size(wrong); i++) {
		assert_false(capture_filter_parse(wrong[i][0], &f, err, sizeof(err)));
		assert_string_equal(err, wrong[i][1]);
	}
	assert_false(capture_filter_parse("proto 256", &f, err, sizeof(err)));
	assert_non_null(strstr(err, "\"256\" is no protocol"));
}

static void test_filter_ranges(void **state)
{
	struct capture_filter f = { .vlan = CAPTURE_NO_VLAN };

	(void)state;
	assert_false(capture_filter_valid(&f));
	f.port = 1;
	assert_true(capture_filter_valid(&f));
	f.vlan = 4095;
	assert_false(capture_filter_valid(&f));
	f.vlan = 0;
	f.n_macs = 3;
	assert_false(capture_filter_valid(&f));
	f.n_macs = 2;
	f.n_hosts = 1;
	assert_false(capture_filter_valid(&f));
	f.host[0].family = 8;
	assert_false(capture_filter_valid(&f));
	f.host[0].family = 6;
	assert_true(capture_filter_valid(&f));
}

static void test_record(void **state)
{
	struct capture_record r = { .at_us = 0xfffffff0,
				    .place = CAPTURE_SENT,
				    .flags = CAPTURE_SEALED,
				    .n_hops = LEON_HOPS_MAX,
				    .source = 1,
				    .hop = { 2, 3, 4, 5 },
				    .nonce = 0x3020000000000007ULL,
				    .len = 70000,
				    .n = sizeof(tagged) };
	uint8_t buf[CAPTURE_RECORD_MAX + sizeof(tagged)];
	const uint8_t *bytes;
	struct capture_record back;
	size_t len = capture_record_write(&r, tagged, buf, sizeof(buf));

	(void)state;
	assert_int_equal(len, sizeof(buf));
	assert_int_equal(capture_record_read(buf, len, &back, &bytes), len);
	assert_memory_equal(bytes, tagged, sizeof(tagged));
	assert_int_equal(back.at_us, r.at_us);
	assert_int_equal(back.nonce, r.nonce);
	assert_int_equal(back.hop[3], 5);
	assert_int_equal(back.len, 70000);
	for (size_t cut = 0; cut < len; cut++) {
		assert_int_equal(capture_record_read(buf, cut, &back, &bytes), 0);
		assert_int_equal(capture_record_write(&r, tagged, buf, cut), 0);
	}
	capture_record_write(&r, tagged, buf, sizeof(buf));
	buf[4] = CAPTURE_PLACES;
	assert_int_equal(capture_record_read(buf, len, &back, &bytes), -EBADMSG);
	buf[4] = CAPTURE_SENT;
	buf[6] = LEON_HOPS_MAX + 1;
	assert_int_equal(capture_record_read(buf, len, &back, &bytes), -EBADMSG);
	r.len = r.n - 1u;
	capture_record_write(&r, tagged, buf, sizeof(buf));
	assert_int_equal(capture_record_read(buf, len, &back, &bytes), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_match),
					    cmocka_unit_test(test_text_errors),
					    cmocka_unit_test(test_filter_ranges),
					    cmocka_unit_test(test_record) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
