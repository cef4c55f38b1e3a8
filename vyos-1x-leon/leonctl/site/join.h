// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `leonctl join`, see join.c.
 */
#pragma once

#include "client/target.h"

/* `from` is a token, the name of a file with one, or "-". */
int join_run(struct target *t, const char *from);
