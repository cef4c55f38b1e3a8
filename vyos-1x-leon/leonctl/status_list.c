// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The list of findings of `leonctl status`, see status.h. Called by the files of the rules.
 */
#include "status.h"

struct status_finding *status_add(struct status *s, const char *id, enum status_level level)
{
	struct status_finding *f;

	s->n_problems += level == STATUS_PROBLEM;
	if (s->n == STATUS_MAX) {
		s->n_more++;
		return NULL;
	}
	f = &s->finding[s->n++];
	*f = (struct status_finding){ .id = id, .level = level };
	return f;
}
