// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Result of a reload. Filled by life/apply.c, printed by control/actions.c. Control thread.
 */
#pragma once

#include <stdbool.h>

struct apply_verdict {
	bool ok;		/* false: nothing was changed, see text */
	unsigned changes;	/* enum conf_change bits that were applied */
	char restart_keys[256]; /* not empty: nothing was applied, a restart is needed */
	char warning[512];	/* warning about the applied changes; empty: none */
	const char *advice;	/* about a new secret; NULL: none */
	char text[512];		/* "applied", "restart needed: KEYS", or the error */
};
