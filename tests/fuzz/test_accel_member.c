// SPDX-License-Identifier: GPL-2.0-or-later
/* The complete leon-accel against a hostile member, on socket pairs and virtual time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "accel_lab.h"

#define MEMBER	1u /* the leader, so it connects */
#define NEAR_US 1000
#define FAR_US	200000
#define ROOM	1500
/* Both buffers of a socket pair (512 KiB at most here), the data of one read of leon-accel, and the
 * waiting answers. */
#define UNREAD_MAX (4u << 20)
#define TRIED	   (32u << 20)

static const struct accel_settings settings = {
	.mode = ACCEL_LATENCY, .threshold_us = 50000, .maximum = 16, .cache_log = 27
};

static bool put(struct accel_lab *l, const struct accel_frame *f)
{
	uint8_t buf[ACCEL_SMALL_MAX];
	size_t len = accel_encode(f, buf);

	return send(l->interproxy, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len;
}

static void initiator(struct accel_lab *l, uint8_t window_log)
{
	const struct accel_frame hello = { .type = ACCEL_HELLO,
					   .hello = { ACCEL_VERSION, MEMBER, window_log } };

	assert_true(put(l, &hello));
	accel_lab_run(l, 0);
}

/* Sends PINGs until leon-accel stops reading. Returns their bytes. */
static size_t flood(struct accel_lab *l)
{
	const struct accel_frame ping = { .type = ACCEL_PING };
	const size_t each = ACCEL_HDR_LEN + 8;
	size_t n = 0;

	for (unsigned stuck = 0; n < TRIED && stuck < 3;) {
		if (put(l, &ping)) {
			n += each;
			stuck = 0;
		} else {
			accel_lab_run(l, 0);
			stuck++;
		}
	}
	return n;
}

static void unread_answers_stop_the_reading(void **state)
{
	struct accel_lab l;

	(void)state;
	accel_lab_begin(&l, MEMBER, &settings);
	initiator(&l, 27);
	assert_in_range(flood(&l), 1, UNREAD_MAX);
	/* If the member reads, leon-accel reads too. */
	for (unsigned i = 0; i < 100; i++) {
		accel_lab_drain(&l);
		accel_lab_run(&l, 0);
	}
	assert_in_range(flood(&l), 1, UNREAD_MAX);
	assert_int_equal(l.e.n_interproxies, 1);
	accel_lab_end(&l);
}

/* True if leon-accel has closed the inter-proxy connection. */
static bool is_closed(struct accel_lab *l)
{
	uint8_t buf[4096];
	ssize_t n;

	while ((n = recv(l->interproxy, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		;
	return n == 0 || errno == ECONNRESET;
}

static void an_unwanted_connection_is_refused(void **state)
{
	struct accel_lab l;

	(void)state;
	accel_lab_begin(&l, MEMBER, &settings);
	initiator(&l, 20);
	assert_int_equal(l.e.n_interproxies, 1);
	close(l.interproxy);
	l.interproxy = -1;
	accel_lab_run(&l, 0);
	assert_int_equal(l.e.n_interproxies, 0);
	/* The member is near now, and connects nevertheless. */
	accel_lab_node(&l, NEAR_US, ROOM, false);
	accel_lab_connect(&l);
	accel_lab_run(&l, 0);
	assert_true(is_closed(&l));
	assert_int_equal(l.e.n_interproxies, 0);
	assert_int_equal(l.e.windows, 0);
	assert_int_equal(l.e.counters.misuse[ACCEL_UNWANTED], 1);
	/* The member is far again. */
	close(l.interproxy);
	l.interproxy = -1;
	accel_lab_node(&l, FAR_US, ROOM, false);
	accel_lab_connect(&l);
	accel_lab_run(&l, 0);
	assert_false(is_closed(&l));
	assert_int_equal(l.e.n_interproxies, 1);
	assert_int_equal(l.e.counters.misuse[ACCEL_UNWANTED], 1);
	accel_lab_end(&l);
}

static void a_window_above_the_limit_ends_the_connection(void **state)
{
	struct accel_lab l;

	(void)state;
	accel_lab_begin(&l, MEMBER, &settings);
	initiator(&l, 28);
	assert_true(is_closed(&l));
	assert_int_equal(l.e.windows, 0);
	assert_int_equal(l.e.counters.misuse[ACCEL_BAD_MESSAGE], 1);
	accel_lab_end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unread_answers_stop_the_reading),
		cmocka_unit_test(an_unwanted_connection_is_refused),
		cmocka_unit_test(a_window_above_the_limit_ends_the_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
