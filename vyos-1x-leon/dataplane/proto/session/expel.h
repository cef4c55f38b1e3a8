// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Removes nodes whose identity a reload has taken off the list. Control thread.
 */
#pragma once

#include "proto/core.h"

/* The list may have changed. */
void expel_untrusted(struct overlay *o);
