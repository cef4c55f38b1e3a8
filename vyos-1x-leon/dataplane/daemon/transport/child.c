// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs that leond starts, see transport.h.
 */
#include "daemon/transport/transport.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/defs.h"
#include "io/confine.h"

#define HANG_MS	      2000
#define RESTART_MAX_S 60
#define QUEUE_BYTES   (2 << 20)

extern char **environ;

static int spawn(const char *name, const char *path, int end, pid_t *pid)
{
	char *argv[] = { (char *)(uintptr_t)name, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int rc;

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

static int start(struct child *c, const struct child_program *p)
{
	const char *other = getenv(p->variable);
	char path[256];
	int end[2], rc, bytes = QUEUE_BYTES;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, end) < 0)
		return -errno;
	/* The default takes less than a message for each configured peer. */
	setsockopt(end[0], SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes));
	setsockopt(end[1], SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes));
	snprintf(path, sizeof(path), "%s%s%s", other ? other : LEON_LIBEXECDIR, other ? "" : "/",
		 other ? "" : p->name);
	rc = spawn(p->name, path, end[1], &c->pid);
	close(end[1]);
	if (rc < 0)
		close(end[0]);
	else
		c->control = end[0];
	return rc;
}

int child_start(struct child *c, struct loop *l, const struct child_program *p)
{
	int rc = start(c, p);

	if (rc == 0)
		rc = loop_fd_add(l, c->control, EPOLLIN, p->fn, p->arg);
	if (rc == 0)
		return 0;
	child_end(c, l);
	child_delay(c);
	return rc;
}

void child_end(struct child *c, struct loop *l)
{
	if (c->control >= 0) {
		loop_fd_del(l, c->control);
		close(c->control);
	}
	c->control = -1;
	c->ended_at = loop_now(l);
}

void child_delay(struct child *c)
{
	c->start_at = mono_add_ms(c->ended_at, c->wait_s * 1000);
	c->wait_s = min_of(c->wait_s * 2, (uint32_t)RESTART_MAX_S);
}

bool child_is_due(struct child *c, mono_t now)
{
	if (c->control >= 0)
		return false;
	if (c->pid && waitpid(c->pid, NULL, WNOHANG) != 0)
		c->pid = 0;
	else if (c->pid && mono_sub_ms(now, c->ended_at) > HANG_MS)
		kill(c->pid, SIGKILL);
	return !c->pid && !mono_before(now, c->start_at);
}

void child_kill(struct child *c)
{
	if (!c->pid)
		return;
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	c->pid = 0;
}
