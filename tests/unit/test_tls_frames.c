// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-tls: frames in a stream, the queue before the connection, the answers of a proxy, and
 * reports to leond.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/loop_ops.h"
#include "stream.h"
#include "hub.h"

#define MS (int64_t)1000000

static mono_t at_ms(int64_t ms)
{
	return (mono_t){ (1000 + ms) * MS };
}

/* --- framing --- */

static void test_a_frame_in_any_pieces(void **state)
{
	uint8_t stream[FRAME_HDR_LEN + 300];
	struct framed f;

	(void)state;
	frame_header(stream, 300, 0xb9);
	memset(stream + FRAME_HDR_LEN, 7, 300);
	for (size_t n = 0; n < sizeof(stream); n++)
		assert_int_equal(frame_next(stream, n, &f), 0);
	assert_int_equal(frame_next(stream, sizeof(stream), &f), sizeof(stream));
	assert_int_equal(f.len, 300);
	assert_int_equal(f.class, 0xb9);
	assert_ptr_equal(f.data, stream + FRAME_HDR_LEN);
}

static void test_bytes_without_a_frame(void **state)
{
	static const uint8_t bad[][FRAME_HDR_LEN] = {
		{ 0, 0, 0, 0 }, { 'G', 'E', 'T', ' ' }, { 0, 4, 0, 1 }, { 0x24, 1, 0, 0 }
	};
	static const uint8_t largest[FRAME_HDR_LEN] = { FRAME_DATA_MAX >> 8,
							FRAME_DATA_MAX & 0xff };
	struct framed f;

	(void)state;
	for (size_t i = 0; i < array_size(bad); i++)
		assert_int_equal(frame_next(bad[i], FRAME_HDR_LEN, &f), -1);
	assert_int_equal(frame_next(largest, FRAME_HDR_LEN, &f), 0);
}

/* --- queue --- */

static void push(struct send_queue *q, uint8_t what, size_t len, int64_t ms, unsigned displaced)
{
	uint8_t data[FRAME_DATA_MAX];

	memset(data, what, len);
	assert_int_equal(send_queue_push(q, data, len, 2, at_ms(ms)), displaced);
}

/* Takes one frame out of `room` bytes. Returns its first byte, -1 if there is none. */
static int pull_one(struct send_queue *q, size_t len)
{
	uint8_t out[FRAME_LEN_MAX];
	uint64_t n = 0;
	struct framed f;

	if (send_queue_pull(q, out, FRAME_HDR_LEN + len, &n) == 0)
		return -1;
	assert_int_equal(n, 1);
	assert_int_equal(frame_next(out, FRAME_HDR_LEN + len, &f), FRAME_HDR_LEN + len);
	assert_int_equal(f.class, 2);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(f.data[i], f.data[0]);
	return f.data[0];
}

static void test_order_over_the_end_of_the_ring(void **state)
{
	struct send_queue *q = send_queue_new();

	(void)state;
	for (unsigned i = 0; i < 5000; i++) {
		push(q, (uint8_t)i, 1000, 0, 0);
		push(q, (uint8_t)(i + 1), 777, 0, 0);
		assert_int_equal(pull_one(q, 1000), (uint8_t)i);
		assert_int_equal(pull_one(q, 777), (uint8_t)(i + 1));
	}
	assert_int_equal(pull_one(q, 1000), -1);
	free(q);
}

static void test_only_whole_frames_leave(void **state)
{
	struct send_queue *q = send_queue_new();
	uint8_t out[16384];
	uint64_t n = 0;

	(void)state;
	for (uint8_t i = 0; i < 20; i++)
		push(q, i, 1400, 0, 0);
	assert_int_equal(send_queue_pull(q, out, sizeof(out), &n), 11 * (1400 + FRAME_HDR_LEN));
	assert_int_equal(n, 11);
	assert_int_equal(pull_one(q, 1400), 11);
	/* A frame above the limit leaves alone. */
	assert_int_equal(send_queue_pull(q, out, 100, &n), 1400 + FRAME_HDR_LEN);
	free(q);
}

static void test_a_full_queue_drops_the_oldest(void **state)
{
	struct send_queue *q = send_queue_new();
	unsigned n = 0, dropped = 0;
	uint8_t data[1000] = { 0 };

	(void)state;
	while (!(dropped = send_queue_push(q, data, sizeof(data), 2, at_ms(0)))) {
		data[0] = 1;
		n++;
		assert_true(n < 2 * QUEUE_BYTES / sizeof(data));
	}
	assert_true(n > QUEUE_BYTES / sizeof(data) * 9 / 10);
	assert_int_equal(dropped, 1);
	free(q);
}

static void test_a_late_queue_drops_the_oldest(void **state)
{
	struct send_queue *q = send_queue_new();

	(void)state;
	push(q, 1, 100, 0, 0);
	push(q, 2, 100, 10, 0);
	push(q, 3, 100, QUEUE_AGE_MS + 5, 0);
	assert_int_equal(send_queue_expire(q, at_ms(QUEUE_AGE_MS - 1)), 0);
	assert_int_equal(send_queue_expire(q, at_ms(QUEUE_AGE_MS)), 1);
	/* The newest frame stays, so that a very slow line carries something. */
	assert_int_equal(send_queue_expire(q, at_ms(1000)), 1);
	assert_int_equal(pull_one(q, 100), 3);
	assert_int_equal(send_queue_expire(q, at_ms(2000)), 0);
	free(q);
}

static void test_datagrams_without_a_frame(void **state)
{
	struct send_queue *q = send_queue_new();
	static const uint8_t data[FRAME_DATA_MAX + 1];

	(void)state;
	assert_int_equal(send_queue_push(q, data, 0, 0, at_ms(0)), 1);
	assert_int_equal(send_queue_push(q, data, sizeof(data), 0, at_ms(0)), 1);
	assert_int_equal(pull_one(q, 100), -1);
	free(q);
}

/* --- proxy --- */

static void test_requests_to_a_proxy(void **state)
{
	char out[PROXY_REQUEST_MAX], name[PROXY_REQUEST_MAX] = "";

	(void)state;
	assert_true(proxy_request(out, "192.0.2.1:443", "") > 0);
	assert_string_equal(out, "CONNECT 192.0.2.1:443 HTTP/1.1\r\nHost: 192.0.2.1:443\r\n\r\n");
	assert_true(proxy_request(out, "[2001:db8::1]:443", "YTpi") > 0);
	assert_non_null(strstr(out, "\r\nProxy-Authorization: Basic YTpi\r\n\r\n"));
	memset(name, 'a', sizeof(name) - 1);
	assert_int_equal(proxy_request(out, name, ""), 0);
}

static void test_answers_of_a_proxy(void **state)
{
	static const struct {
		const char *text;
		long len;
		int status;
	} cases[] = {
		{ "HTTP/1.1 200 OK\r\n\r\n", 19, 200 },
		{ "HTTP/1.0 200\r\nVia: x\r\n\r\n", 24, 200 },
		{ "HTTP/1.1 407 Authenticate\r\n\r\nbody", 29, 407 },
		{ "HTTP/1.1 200 OK\r\n", 0, 0 },
		{ "", 0, 0 },
		{ "HTTP/1.1 20x OK\r\n\r\n", -1, 0 },
		{ "HTTP/2 200 OK\r\n\r\n", -1, 0 },
		{ "\r\n\r\n", -1, 0 },
		{ "SSH-2.0-OpenSSH\r\n\r\n", -1, 0 },
	};
	static const char endless[PROXY_ANSWER_MAX] = { 'H' };
	int status;

	(void)state;
	for (size_t i = 0; i < array_size(cases); i++) {
		assert_int_equal(proxy_answer(cases[i].text, strlen(cases[i].text), &status),
				 cases[i].len);
		if (cases[i].len > 0)
			assert_int_equal(status, cases[i].status);
	}
	assert_int_equal(proxy_answer(endless, sizeof(endless) - 1, &status), 0);
	assert_int_equal(proxy_answer(endless, sizeof(endless), &status), -1);
}

/* --- reports to leond --- */

#define QUIET 7 /* exit code of the loop without a request to end */

static void end_quietly(void *loop, mono_t now)
{
	(void)now;
	loop_quit(loop, QUIET);
}

static int exit_code_of_report(struct hub *r, enum stream_news news)
{
	struct loop *l = loop_sd_new();
	struct timer *t = timer_new(l, end_quietly, l);
	int code;

	timer_set(t, loop_now(l));
	r->loop = l;
	hub_report(r, &(struct stream_report){ .news = news });
	code = loop_run(l);
	timer_free(t);
	loop_free(l);
	return code;
}

/* leond would wait for the lost report for ever. */
static void test_a_lost_report_ends_the_program(void **state)
{
	static struct hub r;
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	r.control = pair[0];
	assert_int_equal(exit_code_of_report(&r, STREAM_DOWN), QUIET);
	while (stream_send(pair[0], "", 1, -1) == 0)
		;
	assert_int_equal(exit_code_of_report(&r, STREAM_COUNTS), QUIET);
	assert_int_equal(exit_code_of_report(&r, STREAM_DOWN), 1);
	close(pair[0]);
	close(pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_frame_in_any_pieces),
		cmocka_unit_test(test_bytes_without_a_frame),
		cmocka_unit_test(test_order_over_the_end_of_the_ring),
		cmocka_unit_test(test_only_whole_frames_leave),
		cmocka_unit_test(test_a_full_queue_drops_the_oldest),
		cmocka_unit_test(test_a_late_queue_drops_the_oldest),
		cmocka_unit_test(test_datagrams_without_a_frame),
		cmocka_unit_test(test_requests_to_a_proxy),
		cmocka_unit_test(test_answers_of_a_proxy),
		cmocka_unit_test(test_a_lost_report_ends_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
