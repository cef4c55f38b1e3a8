// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `leonctl status`: queries the daemon four times, and prints the findings. Exit codes: 0 all well,
 * 1 the daemon cannot be asked, 2 problems.
 */
#include "status.h"

#include <stdlib.h>

#include "base/defs.h"
#include "io/ctlsock.h"

#define TIMEOUT_MS 10000

enum status_question { Q_STATISTICS, Q_NODES, Q_PEERS, Q_EVENTS, N_QUESTIONS };

/* Returns NULL after it printed the reason. */
static struct jsonr *ask(const struct target *t, const char *what)
{
	char request[96], reason[256], *answer = NULL;
	const char *error;
	struct jsonr *doc;
	size_t len;
	int r;

	snprintf(request, sizeof(request),
		 "{\"version\":1,\"command\":\"show %s\",\"arguments\":{}}", what);
	r = target_request(t, request, TIMEOUT_MS, &answer, &len);
	if (r < 0) {
		target_complain(t, "%s; see: systemctl status 'leond@*'",
				target_reason(t, r, reason, sizeof(reason)));
		return NULL;
	}
	doc = jsonr_parse(answer, len, CTL_ANSWER_MAX);
	free(answer);
	if (jsonr_root(doc) && !jsonr_str(jsonr_root(doc), "error", &error))
		return doc;
	if (jsonr_root(doc))
		target_complain(t, "%s", error);
	else
		target_complain(t, "invalid answer of leond: %s", jsonr_error(doc));
	jsonr_free(doc);
	return NULL;
}

static int print(const struct target *t, struct jsonr *doc[N_QUESTIONS])
{
	struct status_input in = { .statistics = jsonr_root(doc[Q_STATISTICS]),
				   .nodes = jsonr_root(doc[Q_NODES]),
				   .peers = jsonr_root(doc[Q_PEERS]),
				   .events = jsonr_root(doc[Q_EVENTS]) };
	struct status *s = calloc(1, sizeof(*s));
	int code;

	if (!s)
		return EXIT_REFUSED;
	status_find(&in, s);
	code = t->json ? status_json(&in, s, stdout) : status_text(&in, s, stdout);
	free(s);
	for (int i = 0; i < N_QUESTIONS; i++) {
		if (!jsonr_error(doc[i]))
			continue;
		target_complain(t, "invalid answer of leond: %s", jsonr_error(doc[i]));
		return EXIT_REFUSED;
	}
	return code;
}

int status_run(struct target *t, const char *argument attr_unused)
{
	static const char *const what[] = { [Q_STATISTICS] = "statistics",
					    [Q_NODES] = "nodes",
					    [Q_PEERS] = "peers",
					    [Q_EVENTS] = "events" };
	struct jsonr *doc[N_QUESTIONS] = { NULL };
	int code = -1;

	if (target_find(t) >= 0)
		return EXIT_REFUSED;
	for (int i = 0; i < N_QUESTIONS && code < 0; i++) {
		doc[i] = ask(t, what[i]);
		if (!doc[i])
			code = EXIT_REFUSED;
	}
	if (code < 0)
		code = print(t, doc);
	for (int i = 0; i < N_QUESTIONS; i++)
		jsonr_free(doc[i]);
	return code;
}
