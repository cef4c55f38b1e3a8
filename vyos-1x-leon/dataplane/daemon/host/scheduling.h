// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * When the daemon's threads get a processor: before what is not real-time, where the system lets
 * them (system scheduling). Control thread. doc/decisions/037.
 */
#pragma once

#include "daemon/leond.h"

/* After the workers were started, and after a reload; why it is not as asked is logged, once. */
void scheduling_apply_conf(struct leond *d);
