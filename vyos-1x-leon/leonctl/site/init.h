// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `leonctl init`, see init.c.
 */
#pragma once

#include "client/target.h"

int init_run(struct target *t, const char *unused);
