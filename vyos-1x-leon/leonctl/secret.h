// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `leonctl generate secret`. Works without a daemon, because a secret is created before the first
 * start.
 */
#pragma once

#include "target.h"

/* Prints a secret; returns the exit code. */
int secret_print(struct target *t, const char *unused);
