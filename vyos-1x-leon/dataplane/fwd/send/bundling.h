// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: puts small frames of one batch for the same node into one datagram
 * (wire/datagram/bundle.h). The cost of a datagram in kernels, on the wire and for packet-counting
 * devices far exceeds the cost of the bytes of a small frame. No frame is delayed: the bundle is
 * sent at the end of its batch, and a single frame is sent without a bundle. The order to a node is
 * kept. Worker-owned.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame;
struct worker;

#define BUNDLE_FRAMES 64 /* limit per datagram */
#define BUNDLE_OPEN   16 /* limit of nodes with an open bundle */

struct bundle_item {
	uint8_t *data;
	uint16_t len;
	uint8_t flags; /* LEON_FLAGS_FRAME */
	/* the buffer is not needed afterwards: a LEON header may precede the frame in place */
	bool own;
};
struct bundle {
	uint16_t slot;
	uint16_t class; /* traffic class of all frames */
	unsigned n, n_copies;
	size_t len; /* payload length */
	struct bundle_item item[BUNDLE_FRAMES];
};

/*
 * Adds a frame that is no super-frame; the frame must not change until the flush. Returns false if
 * the frame is too large; the bundle of this node is flushed then, and the caller may send the
 * frame. copy, last: as for encap_send().
 */
bool bundle_add(struct worker *w, const struct frame *f, uint16_t slot, bool copy, bool last);
/* Sends the open bundle of the node before later datagrams. */
void bundle_flush_to(struct worker *w, uint16_t slot);
/* Sends all open bundles. */
void bundle_flush(struct worker *w);
