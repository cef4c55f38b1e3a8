// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The event ring keeps the newest events in order. Each event is logged once, within the limit of
 * its kind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "daemon/report/report.h"

static unsigned n_logged;
static char last_log[512];

static void sink(void *arg, enum log_level level, const char *token, const char *text)
{
	(void)arg;
	(void)level;
	(void)token;
	n_logged++;
	snprintf(last_log, sizeof(last_log), "%s", text);
}

static int setup(void **state)
{
	(void)state;
	n_logged = 0;
	log_set_sink(sink, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	log_set_sink(NULL, NULL);
	return 0;
}

static struct event event(enum event_kind kind, int64_t at_s, uint64_t value)
{
	return (struct event){
		.at = { at_s * NS_PER_S },
		.kind = kind,
		.value = value,
		.text = "something happened",
	};
}

static void keeps_the_last(void **state)
{
	struct events *e = events_new(4);
	(void)state;

	assert_int_equal(events_count(e), 0);
	assert_null(events_at(e, 0));
	for (uint64_t i = 1; i <= 6; i++) {
		struct event ev = event(EV_JOINED, (int64_t)i, i);

		events_add(e, &ev);
	}
	assert_int_equal(events_count(e), 4);
	assert_int_equal(events_total(e), 6);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(events_at(e, i)->value, i + 3);
	assert_null(events_at(e, 4));
	events_free(e);
}

static void logs_once(void **state)
{
	struct events *e = events_new(8);
	struct event ev = event(EV_LINK_DOWN, 1, 0);
	(void)state;

	events_add(e, &ev);
	assert_int_equal(n_logged, 1);
	assert_non_null(strstr(last_log, "something happened"));
	assert_non_null(strstr(last_log, "event=link-down"));
	events_free(e);
}

/* A flood of one kind is limited and does not displace events of another kind. */
static void limits_each_kind(void **state)
{
	struct events *e = events_new(8);
	unsigned after_flood;
	(void)state;

	for (unsigned i = 0; i < 500; i++) {
		struct event ev = event(EV_LINK_DOWN, 1, i);

		events_add(e, &ev);
	}
	after_flood = n_logged;
	assert_in_range(after_flood, 1, 100);
	assert_int_equal(events_total(e), 500);

	struct event other = event(EV_DUPLICATE_ID, 1, 0);

	events_add(e, &other);
	assert_int_equal(n_logged, after_flood + 1);
	events_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(keeps_the_last, setup, teardown),
		cmocka_unit_test_setup_teardown(logs_once, setup, teardown),
		cmocka_unit_test_setup_teardown(limits_each_kind, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
