// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Real-time scheduling of the daemon's threads, if the system permits it (system scheduling).
 * Control thread. doc/decisions/037.
 */
#pragma once

#include "daemon/leond.h"

/* Called after the workers were started and after a reload; a refusal is logged once with its
 * reason. */
void scheduling_apply_conf(struct leond *d);
