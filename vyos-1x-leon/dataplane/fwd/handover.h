// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: frames out of the overlay that leon-accel is to have. As those for the TAP they are
 * collected over a batch, so that segments that a node cut out of a super-frame are one again
 * (coalesce.h): leon-accel and the kernel behind it take that for the price of one frame. Workers.
 */
#pragma once

#include "fwd/coalesce.h"
#include "wire/accel_queue.h"

struct frame;
struct worker;

struct handover {
	/* Of all that waits: frames of two nodes are never put together, whatever is in them. */
	enum accel_where where;
	node_id_t node;
	struct coalesce batch;
};
/* Never where there is no leon-accel. */
static inline bool handover_waits(const struct handover *h)
{
	return h->batch.n_units != 0;
}

/* One message now, behind what waits: a frame, or a super-frame, and its vnet header. */
void handover_now(struct worker *w, enum accel_where where, node_id_t node,
		  const struct virtio_net_hdr *vnet, const struct frame *f);
/* Takes a frame of which v is the view; flushes first where the batch is full, or of another. */
void handover_add(struct worker *w, enum accel_where where, node_id_t node,
		  const struct delivery *d, const struct eth_view *v);
void handover_flush(struct worker *w);
