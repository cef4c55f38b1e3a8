// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: one frame to one node: whole behind a LEON header where it fits the path, cut where it is a
 * super-frame, split where it is too big, in company where it is small. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fwd/frame.h"
#include "fwd/outgoing.h"

struct worker;

/*
 * Sends the frame to the node of this slot, which is routed, by the end of the batch, and counts it
 * where it is sent. copy: one of those that go to all nodes, not a frame for a host there. last:
 * the frame is not needed afterwards, so the header may be written in front of it.
 */
void encap_send(struct worker *w, struct frame *f, uint16_t slot, bool copy, bool last);
/* The same frame, alone and at once, along this lane. own: the frame is not needed afterwards.
 * False where nothing of it is sent (counted, unless it travels twice). */
bool encap_alone(struct worker *w, const struct frame *f, const struct lane *lane, bool own);
/* One frame (f->accel) from the accelerator here to that of the node. */
void encap_accel(struct worker *w, const struct frame *f, uint16_t slot);
