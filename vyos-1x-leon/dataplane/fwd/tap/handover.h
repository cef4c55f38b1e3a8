// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: frames from the overlay for leon-accel. The step collects the frames of a batch like frames
 * for the TAP and coalesces the segments of a super-frame (coalesce.h). leon-accel and the kernel
 * handle a super-frame at the cost of one frame. Workers.
 */
#pragma once

#include "fwd/tap/coalesce.h"
#include "ipc/accel_queue.h"

struct frame;
struct worker;

struct handover {
	/* Source of all collected frames: frames of two nodes are never coalesced. */
	enum accel_where where;
	node_id_t node;
	struct coalesce batch;
};
/* Allocated only if leon-accel is present. */
static inline bool handover_waits(const struct handover *h)
{
	return h->batch.n_units != 0;
}

/* Sends one message after the collected ones: a frame or super-frame with its vnet header. Returns
 * false if the queue is full. */
bool handover_now(struct worker *w, enum accel_where where, node_id_t node,
		  const struct virtio_net_hdr *vnet, const struct frame *f);
/* Adds a frame with the view v; flushes first if the batch is full or has another source. */
void handover_add(struct worker *w, enum accel_where where, node_id_t node,
		  const struct delivery *d, const struct eth_view *v);
void handover_flush(struct worker *w);
