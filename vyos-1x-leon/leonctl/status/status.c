// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `leonctl status`: queries the daemon five times, and prints the findings. Exit codes: 0 all well,
 * 1 the daemon cannot be asked, 2 problems.
 */
#include "status/status.h"

#include <stdlib.h>

#include "base/defs.h"
#include "run.h"

enum status_question { Q_STATISTICS, Q_NODES, Q_PEERS, Q_EVENTS, Q_LINES, N_QUESTIONS };

static int print(const struct target *t, struct jsonr *doc[N_QUESTIONS])
{
	struct status_input in = { .statistics = jsonr_root(doc[Q_STATISTICS]),
				   .nodes = jsonr_root(doc[Q_NODES]),
				   .peers = jsonr_root(doc[Q_PEERS]),
				   .events = jsonr_root(doc[Q_EVENTS]),
				   .lines = jsonr_root(doc[Q_LINES]) };
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

int status_run(struct target *t, const char *unused attr_unused)
{
	static const char *const what[] = { [Q_STATISTICS] = "show statistics",
					    [Q_NODES] = "show nodes",
					    [Q_PEERS] = "show peers",
					    [Q_EVENTS] = "show events",
					    [Q_LINES] = "show lines" };
	struct jsonr *doc[N_QUESTIONS] = { NULL };
	int code = -1, why = 0;

	if (target_find(t) >= 0)
		return EXIT_REFUSED;
	for (int i = 0; i < N_QUESTIONS && code < 0; i++) {
		doc[i] = target_ask(t, what[i], "{}", NULL, &why);
		if (!doc[i])
			code = EXIT_REFUSED;
	}
	if (why == EXIT_NO_ANSWER && !t->json)
		fputs("leonctl: see: systemctl status 'leond@*'\n", stderr);
	if (code < 0)
		code = print(t, doc);
	for (int i = 0; i < N_QUESTIONS; i++)
		jsonr_free(doc[i]);
	return code;
}
