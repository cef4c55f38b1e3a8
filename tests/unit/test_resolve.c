// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The resolver thread: requests, answers, errors, and an end that does not wait for name servers.
 * The names need no name server.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <unistd.h>

#include "daemon/underlay/underlay.h"

#define DEADLINE_MS 30000

/* Returns the next answer. Fails the test if there is none. */
static struct resolve_answer next_answer(int r)
{
	struct resolve_answer a;
	struct pollfd p = { .fd = r, .events = POLLIN };

	while (!resolver_next(r, &a))
		assert_int_equal(poll(&p, 1, DEADLINE_MS), 1);
	return a;
}

static void resolves(void **state)
{
	int r = resolver_open();
	struct resolve_answer a;
	char buf[ENDPOINT_STRLEN];
	(void)state;

	assert_true(r >= 0);
	assert_true(resolver_request(r, 42, "192.0.2.7", 5366));
	a = next_answer(r);
	assert_int_equal(a.id, 42);
	assert_string_equal(a.error, "");
	assert_int_equal(a.n, 1);
	assert_string_equal(endpoint_format(&a.ep[0], buf, sizeof(buf)), "192.0.2.7:5366");
	close(r);
}

static void reports_errors(void **state)
{
	int r = resolver_open();
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
	close(r);
}

static void answers_every_question(void **state)
{
	int r = resolver_open();
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
	close(r);
}

static void ends_with_work_left(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		int r = resolver_open();

		for (uint64_t k = 0; k < 20; k++)
			resolver_request(r, k, "192.0.2.1", 1);
		close(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resolves),
		cmocka_unit_test(reports_errors),
		cmocka_unit_test(answers_every_question),
		cmocka_unit_test(ends_with_work_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
