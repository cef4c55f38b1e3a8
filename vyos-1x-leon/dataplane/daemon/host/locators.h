// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Addresses under which this node can be reached; follows what changes on the host. Control thread.
 */
#pragma once

#include "daemon/leond.h"

int monitor_start(struct leond *d);
void locators_update(struct leond *d);
