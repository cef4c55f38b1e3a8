// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of the states and reasons of the loop guard (loop_guard.h) in answers. Any thread.
 */
#include "daemon/guard/loop_guard.h"

const char *guard_state_name(enum guard_state s)
{
	static const char *const name[] = {
		[GUARD_OFF] = "off",	   [GUARD_LISTENING] = "listening", [GUARD_CLEAR] = "clear",
		[GUARD_SHARED] = "shared", [GUARD_BLOCKED] = "blocked",
	};

	return name[s];
}

const char *guard_reason_name(enum guard_reason r)
{
	static const char *const name[] = {
		[GUARD_BY_NOTHING] = "",	[GUARD_BY_PREFERENCE] = "preference",
		[GUARD_BY_RANK] = "rank",	[GUARD_BY_HOLDING] = "holding",
		[GUARD_BY_NO_PATH] = "no-path", [GUARD_BY_STALL] = "stall",
		[GUARD_BY_SILENCE] = "silence",
	};

	return name[r];
}
