// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Links with contradicting measurements of the two ends; defines overlay_is_asymmetric(). Control
 * thread.
 */
#pragma once

#include "proto/core.h"

void asymmetry_init(struct overlay *o);
void asymmetry_periodic(struct overlay *o, mono_t now);
