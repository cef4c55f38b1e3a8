// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a function in a child process and returns whether it ended in bug(), which calls abort().
 * Tests of misuse include this header after cmocka.h. A test must have one thread.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"

static inline void expect_bug_silent(void *arg, enum log_level level, const char *token,
				     const char *text)
{
	(void)arg;
	(void)level;
	(void)token;
	(void)text;
}

static inline bool ends_in_bug(void (*fn)(void *), void *arg)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		/* The handler of cmocka reports SIGABRT as a failed test. */
		signal(SIGABRT, SIG_DFL);
		log_set_sink(expect_bug_silent, NULL);
		fn(arg);
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	       WTERMSIG(status) == SIGABRT;
}
