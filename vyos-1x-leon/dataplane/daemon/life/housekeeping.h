// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is looked at once a second. Control thread.
 */
#pragma once

#include "daemon/leond.h"

void housekeeping_start(struct leond *d);
void housekeeping_free(struct leond *d);
