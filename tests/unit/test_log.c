// SPDX-License-Identifier: GPL-2.0-or-later
/* Levels, the format of a line, masking, and the token bucket on a given time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "expect_bug.h"

static struct {
	unsigned n;
	enum log_level level;
	char token[64];
	char text[2048];
} seen;

static void remember(void *arg, enum log_level level, const char *token, const char *text)
{
	assert_ptr_equal(arg, &seen);
	seen.n++;
	seen.level = level;
	snprintf(seen.token, sizeof(seen.token), "%s", token);
	snprintf(seen.text, sizeof(seen.text), "%s", text);
}

static int setup(void **state)
{
	(void)state;
	memset(&seen, 0, sizeof(seen));
	log_set_level(LOG_LVL_INFO);
	log_set_sink(remember, &seen);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	log_set_sink(NULL, NULL);
	log_set_level(LOG_LVL_INFO);
	return 0;
}

static void level_decides(void **state)
{
	(void)state;
	log_debug("test", "hidden");
	assert_int_equal(seen.n, 0);
	log_info("test", "shown id=%d", 7);
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.level, LOG_LVL_INFO);
	assert_string_equal(seen.token, "test");
	assert_string_equal(seen.text, "shown id=7");
	log_set_level(LOG_LVL_ERROR);
	log_warn("test", "hidden");
	log_error("test", "shown");
	assert_int_equal(seen.n, 2);
}

static void control_chars_are_masked(void **state)
{
	(void)state;
	log_info("test", "name=%s", "a\n<0>fake: b\033[2J\177");
	assert_string_equal(seen.text, "name=a?<0>fake: b?[2J?");
}

static void long_text_is_cut(void **state)
{
	char big[4000];

	(void)state;
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	log_info("test", "%s", big);
	assert_in_range(strlen(seen.text), 1000, 1023);
}

static void stderr_line(void **state)
{
	char line[256];
	int pipes[2], saved = dup(STDERR_FILENO);
	ssize_t len;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	log_set_sink(NULL, NULL);
	dup2(pipes[1], STDERR_FILENO);
	log_warn("probe", "late by_ms=%d", 3);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(pipes[1]);
	len = read(pipes[0], line, sizeof(line) - 1);
	close(pipes[0]);
	assert_true(len > 0);
	line[len] = '\0';
	assert_string_equal(line, "<4>probe: late by_ms=3\n");
}

/* Reads all lines of the socket, and returns their number. line: the last line. */
static unsigned read_lines(int fd, char *line, size_t len)
{
	unsigned n = 0;
	char c, *at = line;

	while (recv(fd, &c, 1, MSG_DONTWAIT) == 1) {
		*at = c;
		if (c == '\n') {
			at[1] = '\0';
			at = line;
			n++;
		} else if (at < line + len - 2) {
			at++;
		}
	}
	return n;
}

/* The journal is a socket. */
static void a_journal_that_does_not_read(void **state)
{
	int ends[2], saved = dup(STDERR_FILENO);
	char line[256], want[64];
	unsigned n;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &(int){ 65536 }, sizeof(int)),
			 0);
	log_set_sink(NULL, NULL);
	dup2(ends[0], STDERR_FILENO);
	alarm(60); /* ends a test that waits for ever */
	errno = EXDEV;
	for (unsigned i = 0; i < 10000; i++)
		log_warn("probe", "late by_ms=%u", i);
	assert_int_equal(errno, EXDEV);
	n = read_lines(ends[1], line, sizeof(line));
	assert_in_range(n, 1, 9999);
	log_warn("probe", "again");
	snprintf(want, sizeof(want), "<4>probe: again lines_lost=%u\n", 10000 - n);
	assert_int_equal(read_lines(ends[1], line, sizeof(line)), 1);
	assert_string_equal(line, want);
	log_warn("probe", "again");
	read_lines(ends[1], line, sizeof(line));
	assert_string_equal(line, "<4>probe: again\n");
	alarm(0);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(ends[0]);
	close(ends[1]);
}

static void bucket_allows_burst_then_rate(void **state)
{
	struct log_limit lim = LOG_LIMIT_INIT(3, 6); /* one message per 10 s */
	mono_t now = { 5 * NS_PER_S };

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_true(log_limit_pass(&lim, now));
	assert_false(log_limit_pass(&lim, now));
	assert_false(log_limit_pass(&lim, mono_add_ms(now, 9999)));
	assert_true(log_limit_pass(&lim, mono_add_ms(now, 10000)));
	assert_false(log_limit_pass(&lim, mono_add_ms(now, 10001)));
	assert_int_equal(lim.suppressed, 3);
}

static void bucket_never_holds_more_than_burst(void **state)
{
	struct log_limit lim = LOG_LIMIT_INIT(2, 60);
	mono_t now = { NS_PER_S };

	(void)state;
	assert_true(log_limit_pass(&lim, now));
	now = (mono_t){ INT64_MAX / 2 }; /* no message for a century */
	assert_true(log_limit_pass(&lim, now));
	assert_true(log_limit_pass(&lim, now));
	assert_false(log_limit_pass(&lim, now));
}

static void suppressed_are_reported(void **state)
{
	struct log_limit lim = LOG_LIMIT_INIT(1, 60);
	mono_t now = { NS_PER_S };

	(void)state;
	log_limited(&lim, now, LOG_LVL_WARN, "test", "odd packet");
	assert_string_equal(seen.text, "odd packet");
	log_limited(&lim, now, LOG_LVL_WARN, "test", "odd packet");
	log_limited(&lim, now, LOG_LVL_WARN, "test", "odd packet");
	assert_int_equal(seen.n, 1);
	log_limited(&lim, mono_add_ms(now, 1000), LOG_LVL_WARN, "test", "odd packet");
	assert_string_equal(seen.text, "odd packet suppressed=2");
	log_limited(&lim, mono_add_ms(now, 2000), LOG_LVL_WARN, "test", "odd packet");
	assert_string_equal(seen.text, "odd packet");
}

static void hidden_message_costs_nothing(void **state)
{
	struct log_limit lim = LOG_LIMIT_INIT(1, 1);
	mono_t now = { NS_PER_S };

	(void)state;
	log_limited(&lim, now, LOG_LVL_DEBUG, "test", "hidden");
	assert_int_equal(seen.n, 0);
	log_limited(&lim, now, LOG_LVL_WARN, "test", "shown");
	assert_int_equal(seen.n, 1);
}

static void call_bug(void *arg)
{
	(void)arg;
	bug("impossible value=%d", 3);
}

static void bug_aborts(void **state)
{
	(void)state;
	assert_true(ends_in_bug(call_bug, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(level_decides, setup, teardown),
		cmocka_unit_test_setup_teardown(control_chars_are_masked, setup, teardown),
		cmocka_unit_test_setup_teardown(long_text_is_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(stderr_line, setup, teardown),
		cmocka_unit_test_setup_teardown(a_journal_that_does_not_read, setup, teardown),
		cmocka_unit_test_setup_teardown(bucket_allows_burst_then_rate, setup, teardown),
		cmocka_unit_test_setup_teardown(bucket_never_holds_more_than_burst, setup,
						teardown),
		cmocka_unit_test_setup_teardown(suppressed_are_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(hidden_message_costs_nothing, setup, teardown),
		cmocka_unit_test(bug_aborts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
