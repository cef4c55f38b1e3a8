// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps: a frame to a node. A frame that fits the path MTU is sent whole behind a LEON header. A
 * super-frame is segmented, a larger frame is split, a small frame is bundled. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fwd/frame.h"
#include "fwd/send/outgoing.h"

struct worker;

/*
 * Sends the frame to the routed node of the slot by the end of the batch. The transmission is
 * counted. copy: a flooded copy, not a frame for a host there. last: the frame is not needed
 * afterwards, so the header may precede it in place.
 */
void encap_send(struct worker *w, struct frame *f, uint16_t slot, bool copy, bool last);
/* Sends the frame alone and at once along the lane. own: the frame is not needed afterwards.
 * Returns false if nothing was sent (counted, unless the frame is duplicated). */
bool encap_alone(struct worker *w, const struct frame *f, const struct lane *lane, bool own);
/* Sends a frame (f->accel) from the local accelerator to the accelerator of the node. */
void encap_accel(struct worker *w, const struct frame *f, uint16_t slot);

/* Minimum payload of a fragment; a path with less is unusable. */
#define FRAG_UNIT_MIN 64

/* Sends a frame in fragments that fit the lane. The body must not change until the flush; the head
 * is copied. Returns false and counts if it is not sent. */
bool frag_send(struct worker *w, const struct lane *lane, const struct pieces *p, uint8_t flags);
