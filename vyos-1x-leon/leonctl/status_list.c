// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The list of findings of `leonctl status`, see status.h. Called by the files of the rules.
 */
#include "status.h"

struct status_diagnosis *status_add(struct status *s, const char *id, enum status_level level)
{
	struct status_diagnosis *f;

	s->n_problems += level == STATUS_PROBLEM;
	if (s->n == STATUS_MAX) {
		s->n_more++;
		return NULL;
	}
	f = &s->diagnosis[s->n++];
	*f = (struct status_diagnosis){ .id = id, .level = level };
	return f;
}
