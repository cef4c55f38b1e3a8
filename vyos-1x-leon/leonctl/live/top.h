// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `leonctl top`: the overlay on a terminal, once a second, until q. leonctl only.
 */
#pragma once

#include "client/target.h"

/* Returns the exit code. */
int top_run(struct target *t, const char *unused);
