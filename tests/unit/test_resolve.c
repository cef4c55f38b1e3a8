// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The resolver thread: requests, answers, errors, an end that does not wait for name servers, and
 * the order of lock and wake-up. The names need no name server.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include "daemon/underlay/resolve.h"

#define DEADLINE_MS 30000

/* Returns the next answer. Fails the test if there is none. */
static struct resolve_answer next_answer(struct resolver *r)
{
	struct resolve_answer a;
	struct pollfd p = { .fd = resolver_fd(r), .events = POLLIN };

	while (!resolver_next(r, &a))
		assert_int_equal(poll(&p, 1, DEADLINE_MS), 1);
	return a;
}

static void resolves(void **state)
{
	struct resolver *r = resolver_new();
	struct resolve_answer a;
	char buf[ENDPOINT_STRLEN];
	(void)state;

	assert_non_null(r);
	assert_true(resolver_request(r, 42, "192.0.2.7", 5366));
	a = next_answer(r);
	assert_int_equal(a.id, 42);
	assert_string_equal(a.error, "");
	assert_int_equal(a.n, 1);
	assert_string_equal(endpoint_format(&a.ep[0], buf, sizeof(buf)), "192.0.2.7:5366");
	resolver_free(r);
}

static void reports_errors(void **state)
{
	struct resolver *r = resolver_new();
	struct resolve_answer a;
	(void)state;

	/* A label of more than 63 characters is refused on the host. */
	assert_true(
		resolver_request(r, 1,
				 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
				 "aaaaaaaa.invalid",
				 1));
	a = next_answer(r);
	assert_int_equal(a.id, 1);
	assert_string_not_equal(a.error, "");
	assert_int_equal(a.n, 0);

	/* An address that resolves but cannot be a destination. */
	assert_true(resolver_request(r, 2, "224.0.0.1", 1));
	a = next_answer(r);
	assert_string_not_equal(a.error, "");
	assert_int_equal(a.n, 0);
	resolver_free(r);
}

static void answers_every_question(void **state)
{
	struct resolver *r = resolver_new();
	uint64_t asked = 0;
	(void)state;

	while (resolver_request(r, asked, "::1", 1)) {
		asked++;
		/* The queue fills only if the resolver thread is slower than this one. */
		if (asked == 2000)
			break;
	}
	assert_true(asked > 100);
	for (uint64_t i = 0; i < asked; i++)
		assert_int_equal(next_answer(r).id, i);
	resolver_free(r);
}

static void ends_with_work_left(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		struct resolver *r = resolver_new();

		for (uint64_t k = 0; k < 20; k++)
			resolver_request(r, k, "192.0.2.1", 1);
		resolver_free(r);
	}
	resolver_free(NULL);
}

/* --- the write that wakes the reader --- */

static sem_t writes, taken;
static bool watched, timed_out;

ssize_t __real_write(int fd, const void *data, size_t len);
ssize_t __wrap_write(int fd, const void *data, size_t len);
ssize_t __wrap_write(int fd, const void *data, size_t len)
{
	struct timespec end;

	if (watched) {
		clock_gettime(CLOCK_REALTIME, &end);
		end.tv_sec += 5;
		sem_post(&writes);
		timed_out = sem_timedwait(&taken, &end) < 0;
	}
	return __real_write(fd, data, len);
}

/* A reader with real-time priority runs before the write returns. */
static void reader_may_run_before_the_write_returns(void **state)
{
	struct resolver *r = resolver_new();
	struct resolve_answer a;

	(void)state;
	watched = true;
	assert_true(resolver_request(r, 42, "192.0.2.7", 5366));
	assert_int_equal(sem_wait(&writes), 0);
	assert_true(resolver_next(r, &a));
	sem_post(&taken);
	resolver_free(r);
	watched = false;
	assert_false(timed_out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resolves),
		cmocka_unit_test(reports_errors),
		cmocka_unit_test(answers_every_question),
		cmocka_unit_test(ends_with_work_left),
		cmocka_unit_test(reader_may_run_before_the_write_returns),
	};

	sem_init(&writes, 0, 0);
	sem_init(&taken, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
