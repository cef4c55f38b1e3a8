// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: broadcast, multicast and unknown unicast: a copy to every reachable node along the best
 * path (paper section 4.3). Workers.
 */
#pragma once

#include "fwd/frame.h"

struct worker;

/* Storm control, then head-end replication. */
void flood(struct worker *w, struct frame *f);
