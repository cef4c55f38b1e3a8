// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Comparison of the views of two nodes of the hosts of a connection. A node makes the proxy socket
 * from its own view, so a difference would make the connection hang. Section 9 of protocol.md has
 * the rules. Pure; called by flow.c.
 */
#pragma once

#include <stdbool.h>

#include "flow/flow_end.h"
#include "wire/accel.h"

struct accel_view agree_view(const struct flow_end *near, const struct flow_end *far);

/*
 * Compares the view of the other node with the view of this node. `drained`: in the other view,
 * both hosts have acknowledged all data (ACCEPT). Otherwise only the near host of the other node is
 * idle (OFFER). Returns the reason of a difference, or ACCEL_NOT_NOW if the views agree.
 */
enum accel_refusal agree_differ(const struct accel_view *mine, const struct accel_view *theirs,
				bool drained);

/* Copies the options of the SYNs that only the other node saw. */
void agree_learn(struct flow_end *near, struct flow_end *far, const struct accel_view *theirs);
