// SPDX-License-Identifier: GPL-2.0-or-later
/* The ring: order, wrap-around, refusal when full, misuse, and two threads under TSan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "base/ring.h"
#include "expect_bug.h"

#define N_RECORDS 200000u

static bool produce(struct ring *r, uint16_t type, const void *data, size_t len)
{
	void *p = ring_reserve(r, type, len);

	if (!p)
		return false;
	memcpy(p, data, len);
	ring_commit(r);
	return true;
}

static void first_in_first_out(void **state)
{
	struct ring *r = ring_new(4096);
	const void *p;
	uint16_t type;
	size_t len;

	(void)state;
	assert_null(ring_peek(r, &type, &len));
	assert_true(produce(r, 7, "one", 3));
	assert_true(produce(r, 8, "", 0));
	p = ring_peek(r, &type, &len);
	assert_non_null(p);
	assert_int_equal(type, 7);
	assert_int_equal(len, 3);
	assert_memory_equal(p, "one", 3);
	/* A second peek, and new records in between, change nothing. */
	assert_true(produce(r, 9, "three", 5));
	assert_ptr_equal(ring_peek(r, &type, &len), p);
	ring_release(r);
	assert_non_null(ring_peek(r, &type, &len));
	assert_int_equal(type, 8);
	assert_int_equal(len, 0);
	ring_release(r);
	assert_non_null(ring_peek(r, &type, &len));
	assert_int_equal(type, 9);
	ring_release(r);
	assert_null(ring_peek(r, &type, &len));
	ring_free(r);
	ring_free(NULL);
}

static void invisible_before_commit(void **state)
{
	struct ring *r = ring_new(4096);
	uint16_t type;
	size_t len;
	void *p;

	(void)state;
	p = ring_reserve(r, 1, 100);
	assert_non_null(p);
	assert_int_equal((uintptr_t)p % 8, 0);
	assert_null(ring_peek(r, &type, &len));
	ring_commit(r);
	assert_non_null(ring_peek(r, &type, &len));
	ring_free(r);
}

static void full_refuses_and_recovers(void **state)
{
	struct ring *r = ring_new(4096);
	unsigned char data[500] = { 0 };
	unsigned n = 0;
	uint16_t type;
	size_t len;

	(void)state;
	while (produce(r, 1, data, sizeof(data)))
		n++;
	assert_int_equal(n, 8); /* 512 bytes each with header and alignment */
	assert_non_null(ring_peek(r, &type, &len));
	ring_release(r);
	assert_true(produce(r, 1, data, sizeof(data)));
	assert_false(produce(r, 1, data, sizeof(data)));
	ring_free(r);
}

static void too_large_is_refused(void **state)
{
	struct ring *r = ring_new(4096);

	(void)state;
	assert_null(ring_reserve(r, 1, 4096));
	assert_null(ring_reserve(r, 1, SIZE_MAX));
	assert_null(ring_reserve(r, 1, 2041));
	assert_non_null(ring_reserve(r, 1, 2040));
	ring_free(r);
}

/* At any position, half of the ring fits into an empty ring, and the content survives the wrap. */
static void every_size_at_every_position(void **state)
{
	struct ring *r = ring_new(4096);
	unsigned char data[2040];
	const unsigned char *p;
	uint16_t type;
	size_t len;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		size_t size = (i * 37u) % (sizeof(data) + 1);

		memset(data, (int)(i & 0xff), sizeof(data));
		assert_true(produce(r, (uint16_t)i, data, size));
		p = ring_peek(r, &type, &len);
		assert_non_null(p);
		assert_int_equal(type, i & 0xffff);
		assert_int_equal(len, size);
		assert_memory_equal(p, data, size);
		ring_release(r);
	}
	ring_free(r);
}

static void *producer(void *arg)
{
	struct ring *r = arg;

	for (uint32_t i = 0; i < N_RECORDS;) {
		size_t len = 4 + i % 300;
		uint8_t *p = ring_reserve(r, (uint16_t)(i & 0xfff), len);

		if (!p) {
			sched_yield();
			continue;
		}
		memcpy(p, &i, 4);
		memset(p + 4, (int)(i & 0xff), len - 4);
		ring_commit(r);
		i++;
	}
	return NULL;
}

static void two_threads(void **state)
{
	struct ring *r = ring_new(8192);
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, producer, r), 0);
	for (uint32_t i = 0; i < N_RECORDS;) {
		const uint8_t *p;
		uint16_t type;
		uint32_t value;
		size_t len;

		p = ring_peek(r, &type, &len);
		if (!p) {
			sched_yield();
			continue;
		}
		memcpy(&value, p, 4);
		assert_int_equal(value, i);
		assert_int_equal(type, i & 0xfff);
		assert_int_equal(len, 4 + i % 300);
		if (len > 4)
			assert_int_equal(p[len - 1], i & 0xff);
		ring_release(r);
		i++;
	}
	pthread_join(thread, NULL);
	ring_free(r);
}

static void size_not_a_power(void *arg)
{
	(void)arg;
	ring_new(5000);
}

static void size_too_small(void *arg)
{
	(void)arg;
	ring_new(2048);
}

static void commit_nothing(void *arg)
{
	(void)arg;
	ring_commit(ring_new(4096));
}

static void release_nothing(void *arg)
{
	(void)arg;
	ring_release(ring_new(4096));
}

static void misuse_aborts(void **state)
{
	(void)state;
	assert_true(ends_in_bug(size_not_a_power, NULL));
	assert_true(ends_in_bug(size_too_small, NULL));
	assert_true(ends_in_bug(commit_nothing, NULL));
	assert_true(ends_in_bug(release_nothing, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_in_first_out),
		cmocka_unit_test(invisible_before_commit),
		cmocka_unit_test(full_refuses_and_recovers),
		cmocka_unit_test(too_large_is_refused),
		cmocka_unit_test(every_size_at_every_position),
		cmocka_unit_test(misuse_aborts),
		cmocka_unit_test(two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
