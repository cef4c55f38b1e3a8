// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Socket search and requests, see target.h. leonctl only.
 */
#include "target.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/ctlsock.h"

/* Finds the only socket in TARGET_RUN_DIR. */
static int find_only_socket(char path[TARGET_PATH_LEN])
{
	glob_t g = { 0 };
	int r = EXIT_NO_ANSWER;

	if (access(TARGET_RUN_DIR, R_OK | X_OK) != 0 && errno == EACCES) {
		fputs("leonctl: " TARGET_RUN_DIR
		      ": permission denied; become root or a member of the group leon\n",
		      stderr);
		return EXIT_NOT_PERMITTED;
	}
	if (glob(TARGET_RUN_DIR "/*.sock", 0, NULL, &g) != 0 || g.gl_pathc == 0) {
		fputs("leonctl: no leond is running here (no socket in " TARGET_RUN_DIR
		      "); start leond@INTERFACE, or name the socket with --socket\n",
		      stderr);
	} else if (g.gl_pathc > 1) {
		fputs("leonctl: several overlays run here, choose one with -i:", stderr);
		for (size_t i = 0; i < g.gl_pathc; i++) {
			const char *name = strrchr(g.gl_pathv[i], '/') + 1;

			fprintf(stderr, " %.*s", (int)strlen(name) - 5, name);
		}
		fputc('\n', stderr);
		r = EXIT_USAGE;
	} else {
		snprintf(path, TARGET_PATH_LEN, "%s", g.gl_pathv[0]);
		r = -1;
	}
	globfree(&g);
	return r;
}

int target_find(struct target *t)
{
	int n;

	if (t->socket)
		n = snprintf(t->path, sizeof(t->path), "%s", t->socket);
	else if (t->interface)
		n = snprintf(t->path, sizeof(t->path), TARGET_RUN_DIR "/%s.sock", t->interface);
	else
		return find_only_socket(t->path);
	if (n < (int)sizeof(t->path))
		return -1;
	fputs("leonctl: the path of the socket is too long\n", stderr);
	return EXIT_USAGE;
}

int target_request(const struct target *t, const char *request, int timeout_ms, char **answer,
		   size_t *len)
{
	return ctl_request(t->path, request, strlen(request), timeout_ms, answer, len);
}

const char *target_reason(const struct target *t, int error, char *buf, size_t len)
{
	switch (-error) {
	case ENOENT:
	case ECONNREFUSED:
		snprintf(buf, len, "leond is not running (no process listens on %s)", t->path);
		break;
	case EACCES:
	case EPERM:
		snprintf(buf, len,
			 "%s: permission denied; become root or a member of the socket's group",
			 t->path);
		break;
	case ETIMEDOUT:
		snprintf(buf, len, "leond did not answer in time (%s)", t->path);
		break;
	case EPROTO:
		snprintf(buf, len, "leond closed the connection without an answer (%s)", t->path);
		break;
	case EMSGSIZE:
		snprintf(buf, len, "the answer is larger than %u MiB (%s)", CTL_ANSWER_MAX >> 20,
			 t->path);
		break;
	default:
		snprintf(buf, len, "%s: %s", t->path, strerror(-error));
	}
	return buf;
}

int target_exit_code(int error)
{
	return error == -EACCES || error == -EPERM ? EXIT_NOT_PERMITTED : EXIT_NO_ANSWER;
}
