// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Latencies about which the two ends of a link disagree; overlay_is_suspect() belongs here. Control
 * thread.
 */
#pragma once

#include "proto/core.h"

void doubt_upkeep(struct overlay *o, mono_t now);
