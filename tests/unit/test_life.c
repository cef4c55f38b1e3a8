// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The log reports the end of the daemon, and the reason unless a signal requested it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/loop.h"
#include "daemon/life/life.h"
#include "daemon/leond.h"

static char said[256];
static enum log_level said_level;

static void remember(void *arg, enum log_level level, const char *token, const char *text)
{
	(void)arg;
	(void)token;
	said_level = level;
	snprintf(said, sizeof(said), "%s", text);
}

/* The loop of the simulations cannot run. The error of loop_run() represents any error of epoll. */
static void a_loop_that_fails_is_named(void **state)
{
	struct leond d = { .loop = loop_sim_new() };

	(void)state;
	said[0] = '\0';
	log_set_sink(remember, NULL);
	assert_int_equal(leond_run(&d), -ENOTSUP);
	log_set_sink(NULL, NULL);
	assert_int_equal(said_level, LOG_LVL_ERROR);
	assert_non_null(strstr(said, "the event loop failed: Operation not supported"));
	loop_free(d.loop);
}

static void quit(void *arg, mono_t now)
{
	struct leond *d = arg;

	(void)now;
	loop_quit(d->loop, 0);
}

static void a_clean_end_is_named(void **state)
{
	struct leond d = { .loop = loop_sd_new() };
	struct timer *t = timer_new(d.loop, quit, &d);

	(void)state;
	said[0] = '\0';
	timer_set(t, loop_now(d.loop));
	log_set_sink(remember, NULL);
	assert_int_equal(leond_run(&d), 0);
	log_set_sink(NULL, NULL);
	assert_int_equal(said_level, LOG_LVL_NOTICE);
	assert_string_equal(said, "stopped");
	timer_free(t);
	loop_free(d.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_that_fails_is_named),
		cmocka_unit_test(a_clean_end_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
