// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Links with contradicting measurements of their two ends; defines overlay_is_suspect(). Control
 * thread.
 */
#pragma once

#include "proto/core.h"

void doubt_upkeep(struct overlay *o, mono_t now);
