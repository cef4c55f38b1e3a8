// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps of frames from the local segment into the overlay. Workers.
 */
#pragma once

#include <stdbool.h>

#include "fwd/frame.h"

struct worker;

/* Reads and processes a batch of the queue; worker_end() sends. Returns true if more may be
 * pending. */
bool from_tap(struct worker *w, int fd);
/* Processes a frame. */
void from_tap_frame(struct worker *w, struct frame *f);

/* Broadcast, multicast and unknown unicast: storm control, then head-end replication. */
void flood(struct worker *w, struct frame *f);
