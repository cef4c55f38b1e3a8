// SPDX-License-Identifier: GPL-2.0-or-later
/* Confinement of child programs: a process without files keeps its sockets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/confine.h"

enum { HAS_FILES = 3, NO_SUPPORT, NO_SOCKET };

static int child(void)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (open("/proc/self/stat", O_RDONLY) < 0)
		return HAS_FILES;
	if (!confine_files())
		return NO_SUPPORT;
	if (open("/proc/self/stat", O_RDONLY) >= 0 || errno != EACCES ||
	    open("/tmp", O_RDONLY | O_DIRECTORY) >= 0 || errno != EACCES ||
	    open("/tmp/leon-confine", O_WRONLY | O_CREAT, 0600) >= 0)
		return HAS_FILES;
	return socket(AF_INET, SOCK_DGRAM, 0) < 0 ? NO_SOCKET : 0;
}

static void no_files(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0)
		_exit(child());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WEXITSTATUS(status) == NO_SUPPORT)
		skip();
	assert_int_equal(status, 0);
}

static void started_by_hand(void **state)
{
	(void)state;
	assert_false(confine_has_control());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_files),
		cmocka_unit_test(started_by_hand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
