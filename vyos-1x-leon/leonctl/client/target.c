// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Socket search and requests, see target.h. leonctl only.
 */
#include "client/target.h"

#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json/jsonw.h"
#include "io/ctlsock.h"
#include "text/text.h"

/* Of a table, which the daemon writes at once. */
#define TIMEOUT_MS 10000

void target_complain(const struct target *t, const char *fmt, ...)
{
	char text[1024];
	struct jsonw *w;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!t->json) {
		fprintf(stderr, "leonctl: %s\n", text);
		return;
	}
	w = jsonw_new();
	jsonw_object(w, NULL);
	jsonw_u64(w, "version", 1);
	jsonw_str(w, "error", text);
	jsonw_end(w);
	puts(jsonw_text(w, NULL));
	jsonw_free(w);
}

const struct target_given *target_next_option(const struct target *t, const char *name,
					      const struct target_given *at)
{
	for (at = at ? at + 1 : t->given; at < t->given + t->n_given; at++)
		if (strcmp(at->name, name) == 0)
			return at;
	return NULL;
}

bool target_option(const struct target *t, const char *name, const char **value)
{
	const struct target_given *found = target_next_option(t, name, NULL);

	if (found && value)
		*value = found->value;
	return found != NULL;
}

/* Lists the interfaces of the sockets. */
static void complain_of_several(const struct target *t, const glob_t *g)
{
	char names[256] = "";
	size_t at = 0;

	for (size_t i = 0; i < g->gl_pathc && at < sizeof(names); i++) {
		const char *name = strrchr(g->gl_pathv[i], '/') + 1;

		at += (size_t)snprintf(names + at, sizeof(names) - at, " %.*s",
				       (int)strlen(name) - 5, name);
	}
	target_complain(t, "several overlays run here, choose one with -i:%s", names);
}

/* Finds the only socket in TARGET_RUN_DIR. */
static int find_only_socket(struct target *t)
{
	glob_t g = { 0 };
	int r = EXIT_NO_ANSWER;

	if (access(TARGET_RUN_DIR, R_OK | X_OK) != 0 && errno == EACCES) {
		target_complain(t, TARGET_RUN_DIR
				": permission denied; become root or a member of the group leon");
		return EXIT_NOT_PERMITTED;
	}
	if (glob(TARGET_RUN_DIR "/*.sock", 0, NULL, &g) != 0 || g.gl_pathc == 0) {
		target_complain(t, "no leond is running here (no socket in " TARGET_RUN_DIR
				   "); start leond@INTERFACE, or name the socket with --socket");
	} else if (g.gl_pathc > 1) {
		complain_of_several(t, &g);
		r = EXIT_USAGE;
	} else {
		snprintf(t->path, TARGET_PATH_LEN, "%s", g.gl_pathv[0]);
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
		return find_only_socket(t);
	if (n < (int)sizeof(t->path))
		return -1;
	target_complain(t, "the path of the socket is too long");
	return EXIT_USAGE;
}

int target_request(const struct target *t, const char *request, int timeout_ms, char **answer,
		   size_t *len)
{
	return ctl_request(t->path, request, strlen(request), timeout_ms, answer, len);
}

const char *target_reason(const struct target *t, int error)
{
	switch (-error) {
	case ENOENT:
	case ECONNREFUSED:
		return text_format("leond is not running (no process listens on %s)", t->path);
	case EACCES:
	case EPERM:
		return text_format("%s: permission denied; become root or a member of the "
				   "socket's group",
				   t->path);
	case ETIMEDOUT:
		return text_format("leond did not answer in time (%s)", t->path);
	case EPROTO:
		return text_format("leond closed the connection without an answer (%s)", t->path);
	case EMSGSIZE:
		return text_format("the answer is larger than %u MiB (%s)", CTL_ANSWER_MAX >> 20,
				   t->path);
	default:
		return text_format("%s: %s", t->path, strerror(-error));
	}
}

static struct jsonr *checked(const struct target *t, const char *answer, size_t len, int *code)
{
	struct jsonr *doc = jsonr_parse(answer, len, CTL_ANSWER_MAX);
	const char *error;

	if (jsonr_root(doc) && !jsonr_str(jsonr_root(doc), "error", &error))
		return doc;
	if (jsonr_root(doc)) {
		target_complain(t, "%s", error);
		*code = EXIT_REFUSED;
	} else {
		target_complain(t, "invalid answer of leond: %s", jsonr_error(doc));
		*code = EXIT_NO_ANSWER;
	}
	jsonr_free(doc);
	return NULL;
}

struct jsonr *target_exchange(const struct target *t, const char *request, int timeout_ms,
			      char **text, int *code)
{
	char *answer = NULL;
	struct jsonr *doc = NULL;
	size_t len;
	int r = target_request(t, request, timeout_ms, &answer, &len);

	if (r < 0) {
		target_complain(t, "%s", target_reason(t, r));
		*code = r == -EACCES || r == -EPERM ? EXIT_NOT_PERMITTED : EXIT_NO_ANSWER;
	} else {
		doc = checked(t, answer, len, code);
	}
	if (text)
		*text = answer;
	else
		free(answer);
	return doc;
}

struct jsonr *target_ask(const struct target *t, const char *command, const char *arguments,
			 char **text, int *code)
{
	char request[4096];

	snprintf(request, sizeof(request), "{\"version\":1,\"command\":\"%s\",\"arguments\":%s}",
		 command, arguments);
	return target_exchange(t, request, TIMEOUT_MS, text, code);
}
