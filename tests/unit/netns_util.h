// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Network namespaces for tests in C. A namespace is anonymous, belongs to the calling thread and
 * ends with the process. Root is not necessary if the system permits user namespaces.
 */
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/defs.h"

extern char **environ;

static inline bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

/* Enters a new network namespace, with a user namespace if necessary. Returns false if not
 * permitted. */
static inline bool netns_enter(void)
{
	char map[64];
	unsigned uid = geteuid(), gid = getegid();

	if (unshare(CLONE_NEWNET) == 0)
		return true;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return false;
	snprintf(map, sizeof(map), "0 %u 1", uid);
	if (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/uid_map", map))
		return false;
	snprintf(map, sizeof(map), "0 %u 1", gid);
	return write_file("/proc/self/gid_map", map);
}

static inline int netns_current(void)
{
	return open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
}

static inline bool netns_set(int fd)
{
	return setns(fd, CLONE_NEWNET) == 0;
}

/* Returns a new namespace, or -1 on failure. The thread keeps its namespace. */
static inline int netns_new(void)
{
	int back = netns_current(), fd = -1;

	if (back >= 0 && unshare(CLONE_NEWNET) == 0) {
		fd = netns_current();
		if (!netns_set(back))
			fd = -1;
	}
	if (back >= 0)
		close(back);
	return fd;
}

/* Runs a program in the current namespace. Single spaces separate the arguments. Returns true if
 * the exit status is 0. */
attr_printf(1, 2) static inline bool run(const char *fmt, ...)
{
	char line[512], *argv[32];
	va_list ap;
	unsigned n = 0;
	int status;
	pid_t pid;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	for (char *save = NULL, *word = strtok_r(line, " ", &save); word && n < 31;
	     word = strtok_r(NULL, " ", &save))
		argv[n++] = word;
	argv[n] = NULL;
	if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) != 0)
		return false;
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
