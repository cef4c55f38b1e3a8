// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: diverts TCP frames to leon-accel, and forwards the frames that leon-accel returns. A
 * diverted frame leaves the batch. leon-accel returns or keeps the frame, and may change the frame.
 * Only called if the snapshot has an accelerator. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "state/tables/fdb.h"

struct arrived;
struct delivery;
struct eth_view;
struct frame;
struct worker;

#define ACCEL_RX_ARENA (512u << 10) /* buffer for a batch of the queue */

/* A frame from the TAP for the node of a slot. Returns true if the frame was diverted, false for
 * an ordinary frame and if the queue is full. */
bool accel_from_tap(struct worker *w, const struct frame *f, uint16_t slot);
/* A frame from the TAP for a host of the same LAN, which is not forwarded. The frame may belong to
 * an intercepted connection of a host that moved here. */
void accel_sees(struct worker *w, const struct frame *f);
/* A frame from the node for the local segment, and the result of learn_source(). Returns true if
 * the frame was diverted or lost. */
bool accel_from_node(struct worker *w, uint16_t slot, const struct delivery *d,
		     const struct eth_view *v, enum fdb_seen seen);
/* A frame from the accelerator of the node. */
void accel_from_peer(struct worker *w, const struct arrived *a);
/* Sends a returned frame that has waited in the queue. */
void accel_send(struct worker *w, struct frame *f);
/* Source: returned frames of leon-accel. */
bool from_accel(struct worker *w, int fd);
