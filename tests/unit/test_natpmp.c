// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-portmap: one attempt with NAT-PMP, against a server of the test on the loopback device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/defs.h"
#include "mapper.h"

enum kind {
	RIGHT,
	OTHER_PORT,
	STRAY_BEFORE, /* garbage and an answer to another host's request come first */
	EMPTY,
	SHORT,
	GARBAGE,
	PCP_ONLY,
	NO_ADDRESS,
	NO_LIFETIME,
	REFUSED,
	NO_PUBLIC_ADDRESS,
	FULL,
	UNKNOWN_RESULT,
};

/* Two threads, one at a time: the client waits for the server's answer. */
static struct server {
	int fd;
	enum kind kind;
	uint8_t last[12];
	unsigned n;
} server;

static void say(const struct sockaddr_in *to, const void *bytes, size_t len)
{
	sendto(server.fd, bytes, len, 0, (const struct sockaddr *)to, sizeof(*to));
}

static uint8_t result_of(enum kind k)
{
	return k == PCP_ONLY		? 1
	       : k == REFUSED		? 2
	       : k == NO_PUBLIC_ADDRESS ? 3
	       : k == FULL		? 4
	       : k == UNKNOWN_RESULT	? 99
					: 0;
}

static void answer_mapping(const struct sockaddr_in *to, uint8_t result)
{
	uint8_t a[16] = { 0, 129, 0, result, 0, 0, 0, 1 };
	uint8_t stray[16] = { 0, 129, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 0, 0, 0, 9 };

	memcpy(a + 8, server.last + 4, 8);
	if (server.kind == OTHER_PORT)
		a[10] = 0x1b, a[11] = 0x58; /* 7000 */
	if (server.kind == NO_LIFETIME)
		memset(a + 12, 0, 4);
	if (server.kind == STRAY_BEFORE)
		say(to, stray, sizeof(stray));
	say(to, a, sizeof(a));
}

static void answer_address(const struct sockaddr_in *to, uint8_t result)
{
	uint8_t a[12] = { 0, 128, 0, result, 0, 0, 0, 1, 44, 0, 0, 1 };
	uint8_t stray[16] = { 0, 129, 0, 0, 0, 0, 0, 1, 0x14, 0xf6 };

	a[0] = server.kind == PCP_ONLY ? 2 : 0;
	if (server.kind == NO_ADDRESS)
		memset(a + 8, 0, 4);
	if (server.kind == STRAY_BEFORE)
		say(to, stray, sizeof(stray));
	say(to, a, sizeof(a));
}

static void answer(const struct sockaddr_in *to)
{
	uint8_t noise[64];

	memset(noise, 0xa5, sizeof(noise));
	switch (server.kind) {
	case EMPTY:
		say(to, "", 0);
		break;
	case SHORT:
		say(to, "\0\200", 2);
		break;
	case GARBAGE:
		for (size_t len = 1; len < sizeof(noise); len += 7)
			say(to, noise, len);
		break;
	default:
		if (server.last[1] == 0)
			answer_address(to, result_of(server.kind));
		else
			answer_mapping(to, result_of(server.kind));
	}
}

static void *serve(void *arg)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	ssize_t n;

	(void)arg;
	while ((n = recvfrom(server.fd, server.last, sizeof(server.last), 0,
			     (struct sockaddr *)&from, &len)) >= 2) {
		server.n++;
		answer(&from);
		len = sizeof(from);
	}
	return NULL;
}

struct attempt {
	enum mapping_result result;
	struct mapping_answer answer;
};

static struct attempt attempt(enum kind k, bool remove)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(at);
	struct mapping_request q = { .c = { .gateway = { 4, { 127, 0, 0, 1 } },
					    .source = { 4, { 127, 0, 0, 1 } },
					    .port = 5366,
					    .external_port = 5366,
					    .lifetime_s = 3600 },
				     .renew = true };
	struct attempt out = { MAPPING_SILENT, { .lifetime_s = 0 } };
	pthread_t thread;

	server = (struct server){ .fd = socket(AF_INET, SOCK_DGRAM, 0), .kind = k };
	assert_int_equal(bind(server.fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(getsockname(server.fd, (struct sockaddr *)&at, &len), 0);
	pthread_create(&thread, NULL, serve, NULL);
	q.natpmp = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	assert_int_equal(connect(q.natpmp, (struct sockaddr *)&at, sizeof(at)), 0);
	if (remove)
		natpmp_method.unmap(&q);
	else
		out.result = natpmp_method.map(&q, &out.answer);
	shutdown(server.fd, SHUT_RDWR);
	pthread_join(thread, NULL);
	close(q.natpmp);
	close(server.fd);
	return out;
}

static void test_a_mapping(void **state)
{
	struct attempt a = attempt(RIGHT, false);
	const struct endpoint want = { .ip = { 4, { 44, 0, 0, 1 } }, .port = 5366 };

	(void)state;
	assert_int_equal(a.result, MAPPING_OK);
	assert_true(endpoint_equal(&a.answer.external, &want));
	assert_int_equal(a.answer.lifetime_s, 3600);
	a = attempt(OTHER_PORT, false);
	assert_int_equal(a.result, MAPPING_OK);
	assert_int_equal(a.answer.external.port, 7000);
}

static void test_answers_to_other_requests_are_skipped(void **state)
{
	struct attempt a = attempt(STRAY_BEFORE, false);

	(void)state;
	assert_int_equal(a.result, MAPPING_OK);
	assert_int_equal(a.answer.external.port, 5366);
	assert_int_equal(a.answer.lifetime_s, 3600);
}

static void test_a_removal_has_no_lifetime(void **state)
{
	const uint8_t want[12] = { 0, 1, 0, 0, 0x14, 0xf6 };

	(void)state;
	attempt(RIGHT, true);
	assert_int_equal(server.n, 1);
	assert_memory_equal(server.last, want, sizeof(want));
}

static void test_refusals(void **state)
{
	static const struct {
		enum kind kind;
		const char *reason;
	} cases[] = {
		{ REFUSED, "the gateway does not permit mappings" },
		{ NO_PUBLIC_ADDRESS, "the gateway has no public address" },
		{ FULL, "the gateway has no free mapping" },
		{ NO_ADDRESS, "the gateway grants no address, port or lifetime" },
		{ NO_LIFETIME, "the gateway grants no address, port or lifetime" },
	};

	(void)state;
	for (size_t i = 0; i < array_size(cases); i++) {
		struct attempt a = attempt(cases[i].kind, false);

		assert_int_equal(a.result, MAPPING_REFUSED);
		assert_string_equal(a.answer.reason, cases[i].reason);
	}
}

static void test_no_valid_answer(void **state)
{
	static const enum kind kinds[] = { EMPTY, SHORT, GARBAGE, PCP_ONLY, UNKNOWN_RESULT };

	(void)state;
	for (size_t i = 0; i < array_size(kinds); i++) {
		struct attempt a = attempt(kinds[i], false);

		assert_int_equal(a.result, MAPPING_SILENT);
		assert_true(a.answer.reason[0]);
		if (kinds[i] == PCP_ONLY)
			assert_non_null(strstr(a.answer.reason, "perhaps PCP only"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_mapping),
		cmocka_unit_test(test_answers_to_other_requests_are_skipped),
		cmocka_unit_test(test_a_removal_has_no_lifetime),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_no_valid_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
