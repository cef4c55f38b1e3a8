// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the two nodes of a connection saw of its hosts, and whether it is the same: each node makes
 * its proxy socket from what it saw, and a difference is a connection that hangs. protocol.md
 * section 9 has the rules. Pure; called by flow.c.
 */
#pragma once

#include <stdbool.h>

#include "flow_end.h"
#include "wire/accel.h"

struct accel_view agree_view(const struct flow_end *near, const struct flow_end *far);

/*
 * Compares the view of the other node with that of this one. `drained`: the other node saw both
 * hosts acknowledge all that it saw them send (ACCEPT). Else only its near host has come to rest
 * (OFFER). Returns why they differ, ACCEL_NOT_NOW if they do not.
 */
enum accel_refusal agree_differ(const struct accel_view *mine, const struct accel_view *theirs,
				bool drained);

/* Takes over what only the other node saw of the SYNs. */
void agree_learn(struct flow_end *near, struct flow_end *far, const struct accel_view *theirs);
