// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `leonctl leave`, see leave.c.
 */
#pragma once

#include "client/target.h"

int leave_run(struct target *t, const char *unused);
