// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `leonctl generate secret`. Asks no daemon: a secret is made before there is one.
 */
#pragma once

#include "target.h"

/* Prints one; the exit code. */
int secret_print(struct target *t, const char *unused);
