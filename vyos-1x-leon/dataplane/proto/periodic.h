// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Periodic work: each second for all nodes, due work of one peer; creation and end of a peer.
 * Called by overlay.c, the loop and peer.c; control thread.
 */
#pragma once

#include "proto/core.h"

void periodic_start(struct overlay *o);
