// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: a batch of frames from the local segment into the overlay. Workers.
 */
#pragma once

#include <stdbool.h>

#include "base/mono.h"
#include "fwd/frame.h"

struct worker;

/* Reads and processes one batch of this queue; sending is worker_end()'s. True where
 * more may wait. */
bool from_tap(struct worker *w, int fd);
/* When frames are due that this queue gave before; MONO_NEVER: there are none. Between batches. */
mono_t from_tap_due(const struct worker *w);
/* One frame. */
void from_tap_frame(struct worker *w, struct frame *f);
