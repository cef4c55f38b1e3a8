// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The list of findings of `leonctl status`, see status.h. Called by the files of the rules.
 */
#include "status/status.h"

#include <string.h>

bool status_is(struct jsonr_node *n, const char *key, const char *word)
{
	return strcmp(text_str(n, key), word) == 0;
}

void status_add(struct status *s, const char *id, enum status_level level, const char *what,
		const char *why, const char *remedy, const char *command)
{
	struct status_diagnosis *f = s->n < STATUS_MAX ? &s->diagnosis[s->n++] : &s->not_listed;

	s->n_more += f == &s->not_listed;
	s->n_problems += level == STATUS_PROBLEM;
	*f = (struct status_diagnosis){ .id = id, .level = level, .remedy = remedy };
	snprintf(f->what, sizeof(f->what), "%s", what);
	snprintf(f->why, sizeof(f->why), "%s", why);
	snprintf(f->command, sizeof(f->command), "%s", command ? command : "");
}

const char *status_bare(const char *endpoint)
{
	const char *colon = strrchr(endpoint, ':');
	size_t n = colon ? (size_t)(colon - endpoint) : strlen(endpoint);

	if (*endpoint == '[' && n > 1)
		return text_format("%.*s", (int)(n - 2), endpoint + 1);
	return text_format("%.*s", (int)n, endpoint);
}
