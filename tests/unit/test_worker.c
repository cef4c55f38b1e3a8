// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whose turn it is in a worker's loop: no source waits for all that another one has. The sources
 * are stand-ins; each notes which turn of the loop it had.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <sys/eventfd.h>
#include <unistd.h>

#include "fwd_one.h"

static int late_fd;
static unsigned n_busy, n_busy_before_late;

static void ring_late(void)
{
	uint64_t one = 1;

	assert_int_equal(write(late_fd, &one, sizeof(one)), sizeof(one));
}

/* Has more for ever, as the TAP beside bulk. */
static bool take_busy(struct worker *w, int fd)
{
	(void)w;
	(void)fd;
	if (++n_busy == 1)
		ring_late();
	return true;
}

static bool take_late(struct worker *w, int fd)
{
	uint64_t n;

	assert_int_equal(read(fd, &n, sizeof(n)), sizeof(n));
	n_busy_before_late = n_busy;
	w->stopping = true;
	return false;
}

static void set_sources(struct source one, struct source other)
{
	n_busy = n_busy_before_late = 0;
	fx.w->source[0] = one;
	fx.w->source[1] = other;
	fx.w->n_sources = 2;
}

static void one_batch_and_then_others(void **state)
{
	int busy_fd = eventfd(1, EFD_NONBLOCK);

	(void)state;
	late_fd = eventfd(0, EFD_NONBLOCK);
	set_sources((struct source){ busy_fd, take_busy, NULL, NULL },
		    (struct source){ late_fd, take_late, NULL, NULL });
	worker_run(fx.w);
	assert_in_range(n_busy_before_late, 1, 2);
	close(busy_fd);
	close(late_fd);
}

/* What said that it has more has its turn though its descriptor says nothing. */
static bool take_twice(struct worker *w, int fd)
{
	uint64_t n;

	(void)w;
	if (++n_busy == 1)
		assert_int_equal(read(fd, &n, sizeof(n)), sizeof(n));
	if (n_busy == 2)
		ring_late();
	return n_busy == 1;
}

static void who_has_more_is_not_forgotten(void **state)
{
	int fd = eventfd(1, EFD_NONBLOCK);

	(void)state;
	late_fd = eventfd(0, EFD_NONBLOCK);
	set_sources((struct source){ fd, take_twice, NULL, NULL },
		    (struct source){ late_fd, take_late, NULL, NULL });
	worker_run(fx.w);
	assert_int_equal(n_busy_before_late, 2);
	close(fd);
	close(late_fd);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)
	const struct CMUnitTest tests[] = {
		T(one_batch_and_then_others),
		T(who_has_more_is_not_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
