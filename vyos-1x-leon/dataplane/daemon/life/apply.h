// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Applies a changed configuration live, completely or not at all. Control thread.
 */
#pragma once

#include "daemon/leond.h"

struct apply_verdict {
	bool ok;		/* false: nothing was changed, see text */
	unsigned changes;	/* enum conf_change bits that were applied */
	char restart_keys[256]; /* not empty: nothing was applied, a restart is needed */
	char warning[512];	/* warning about the applied changes; empty: none */
	const char *advice;	/* about a new secret; NULL: none */
	char text[512];		/* "applied", "restart needed: KEYS", or the error */
};
void leond_reload(struct leond *d, struct apply_verdict *v);
