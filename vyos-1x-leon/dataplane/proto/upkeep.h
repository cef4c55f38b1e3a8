// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What comes round: each second for all nodes, and when something is due for one peer; the
 * beginning and end of a peer. Called by overlay.c, the loop and peer.c; control thread.
 */
#pragma once

#include "proto/core.h"

void upkeep_start(struct overlay *o);
