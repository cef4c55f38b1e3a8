// SPDX-License-Identifier: GPL-2.0-or-later
/* leonctl/live/http accepts a request in any number of pieces and refuses all other input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/defs.h"
#include "live/live.h"

#define END "\r\n\r\n"

static const struct {
	const char *text;
	enum http_verdict want;
} cases[] = {
	{ "GET /metrics HTTP/1.1\r\nHost: x" END, HTTP_METRICS },
	{ "GET /metrics HTTP/1.0" END, HTTP_METRICS },
	{ "GET /metrics HTTP/1.0\n\n", HTTP_METRICS },
	{ "GET /metrics?name[]=up HTTP/1.1" END, HTTP_METRICS },
	{ "HEAD /metrics HTTP/1.1" END, HTTP_METRICS_HEAD },
	{ "GET / HTTP/1.1" END, HTTP_ROOT },
	{ "GET /metrics/ HTTP/1.1" END, HTTP_NOT_FOUND },
	{ "GET /metric HTTP/1.1" END, HTTP_NOT_FOUND },
	{ "GET /../etc/leon/leon0.json HTTP/1.1" END, HTTP_NOT_FOUND },
	{ "POST /metrics HTTP/1.1" END, HTTP_BAD_METHOD },
	{ "get /metrics HTTP/1.1" END, HTTP_BAD_METHOD },
	{ "GET  HTTP/1.1" END, HTTP_NOT_FOUND },
	{ "GET /metrics HTTP/2.0" END, HTTP_BAD },
	{ "GET /metrics HTTP/1.10" END, HTTP_BAD },
	{ "GET /metrics" END, HTTP_BAD },
	{ "GET" END, HTTP_BAD },
	{ " GET / HTTP/1.1" END, HTTP_BAD },
	{ END, HTTP_BAD },
	{ "\n\n", HTTP_BAD },
	{ "G\001T / HTTP/1.1" END, HTTP_BAD },
	{ "\x16\x03\x01 this is TLS" END, HTTP_BAD },
	{ "", HTTP_MORE },
	{ "GET /metrics HTTP/1.1\r\n", HTTP_MORE },
};

static void requests(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_size(cases); i++)
		if (http_request(cases[i].text, strlen(cases[i].text)) != cases[i].want)
			fail_msg("case %zu: %s", i, cases[i].text);
}

static void piece_by_piece(void **state)
{
	const char *text = cases[0].text;
	(void)state;

	for (size_t len = 0; len < strlen(text); len++)
		assert_int_equal(http_request(text, len), HTTP_MORE);
}

static void endless(void **state)
{
	char text[HTTP_HEAD_MAX];
	(void)state;

	memset(text, 'a', sizeof(text));
	assert_int_equal(http_request(text, sizeof(text) - 1), HTTP_MORE);
	assert_int_equal(http_request(text, sizeof(text)), HTTP_BAD);
	memset(text, 0, sizeof(text));
	assert_int_equal(http_request(text, sizeof(text)), HTTP_BAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests),
		cmocka_unit_test(piece_by_piece),
		cmocka_unit_test(endless),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
