// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Applies a changed configuration live, completely or not at all. Control thread.
 */
#pragma once

#include "daemon/verdict.h"

struct leond;

void leond_reload(struct leond *d, struct apply_verdict *v);
