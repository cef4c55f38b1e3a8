// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs that leond starts, see child.h.
 */
#include "daemon/underlay/child.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/confine.h"

#define HANG_MS 2000

extern char **environ;

static int spawn(const char *name, const char *path, int end, pid_t *pid)
{
	char word[32];
	char *argv[] = { word, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int rc;

	snprintf(word, sizeof(word), "%s", name);
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, end, CONFINE_CONTROL_FD);
	posix_spawnattr_init(&attr);
	/* leond may be real-time; the program is not. */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						POSIX_SPAWN_SETSCHEDULER);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	rc = posix_spawn(pid, path, &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	if (rc)
		*pid = 0;
	return -rc;
}

int child_start(const char *name, const char *variable, int *control, pid_t *pid)
{
	const char *other = getenv(variable);
	char path[256];
	int end[2], rc;

	*control = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, end) < 0)
		return -errno;
	snprintf(path, sizeof(path), "%s", other ? other : "");
	if (!other)
		snprintf(path, sizeof(path), "%s/%s", LEON_LIBEXECDIR, name);
	rc = spawn(name, path, end[1], pid);
	close(end[1]);
	if (rc < 0)
		close(end[0]);
	else
		*control = end[0];
	return rc;
}

void child_collect(pid_t *pid, int64_t ms)
{
	if (waitpid(*pid, NULL, WNOHANG) != 0)
		*pid = 0;
	else if (ms > HANG_MS)
		kill(*pid, SIGKILL);
}
