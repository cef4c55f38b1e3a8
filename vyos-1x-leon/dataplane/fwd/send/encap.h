// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: one frame to one node. A frame that fits the path MTU is sent whole behind a LEON header, a
 * super-frame is segmented, a larger frame is split, a small frame is bundled. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fwd/frame.h"
#include "fwd/send/outgoing.h"

struct worker;

/*
 * Sends the frame to the routed node of this slot by the end of the batch, and counts it at
 * transmission. copy: a flooded copy, not a frame for a host there. last: the frame is not needed
 * afterwards, so the header may precede it in place.
 */
void encap_send(struct worker *w, struct frame *f, uint16_t slot, bool copy, bool last);
/* Sends the frame alone and at once along this lane. own: the frame is not needed afterwards.
 * Returns false if nothing was sent (counted, unless the frame is duplicated). */
bool encap_alone(struct worker *w, const struct frame *f, const struct lane *lane, bool own);
/* Sends one frame (f->accel) from the local accelerator to that of the node. */
void encap_accel(struct worker *w, const struct frame *f, uint16_t slot);
