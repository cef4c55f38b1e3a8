// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-accel/frames/buffers: the kernel buffers of all inter-proxy connections share one budget. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer/interproxy.h"

#define NODES_MAX 64
/* The kernel may charge twice the payload. */
#define PAYLOAD(bytes) ((bytes) / 2)

static void all_shares_fit_the_budget(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= NODES_MAX; n++) {
		assert_true((uint64_t)buffers_of_one(n) * 2 * n <= BUFFERS_ALL);
		assert_true(buffers_of_one(n + 1) <= buffers_of_one(n));
	}
	assert_int_equal(buffers_of_one(0), BUFFERS_MAX);
	/* 1 Gbit/s and 250 ms with one far node. 100 Mbit/s with each of 16 nodes. */
	assert_true(PAYLOAD(buffers_of_one(1)) >= 1000000000u / 8 / 4);
	assert_true(PAYLOAD(buffers_of_one(16)) >= 100000000u / 8 / 4);
	assert_true(PAYLOAD(buffers_of_one(NODES_MAX)) >= 1u << 20);
}

static void connect_pair(int pair[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(a);

	assert_int_equal(bind(listener, (struct sockaddr *)&a, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&a, &len), 0);
	pair[0] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(pair[0], (struct sockaddr *)&a, len), 0);
	pair[1] = accept(listener, NULL, NULL);
	assert_true(pair[1] >= 0);
	close(listener);
}

/* A node that does not read keeps 8 MiB in the send buffer, which exceeds the share of one in 64
 * nodes. */
static void a_buffer_that_does_not_drain_ends_the_connection(void **state)
{
	static uint8_t data[1 << 20];
	mono_t now = mono_add_ms((mono_t){ 0 }, 100000);
	struct buffers b = { 0 };
	int pair[2];

	(void)state;
	if (geteuid() != 0)
		skip(); /* the sizes need CAP_NET_ADMIN */
	connect_pair(pair);
	assert_true(buffers_fit(&b, pair[0], 1, now));
	for (unsigned i = 0; i < 16; i++)
		send(pair[0], data, sizeof(data), MSG_DONTWAIT);
	assert_true(buffers_fit(&b, pair[0], 1, now));
	now = mono_add_ms(now, BUFFERS_MS);
	assert_true(buffers_fit(&b, pair[0], 1, now));
	assert_true(buffers_fit(&b, pair[0], NODES_MAX, mono_add_ms(now, BUFFERS_MS)));
	now = mono_add_ms(now, BUFFERS_MS + 1);
	assert_false(buffers_fit(&b, pair[0], NODES_MAX, now));
	assert_true(buffers_fit(&b, pair[0], 1, now));
	close(pair[0]);
	close(pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_shares_fit_the_budget),
		cmocka_unit_test(a_buffer_that_does_not_drain_ends_the_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
