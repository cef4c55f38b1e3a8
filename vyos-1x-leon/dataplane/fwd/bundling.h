// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: small frames of one batch for the same node, put into one datagram (wire/bundle.h). A
 * datagram costs the kernels, the wire and whoever counts packets on the way far more than the
 * bytes of a small frame. Frames wait here for nothing: the batch that they came with is sent at
 * its end with or without company, and a frame alone leaves as it would without this. Order to a
 * node is kept. Worker-owned.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame;
struct worker;

#define BUNDLE_FRAMES 64 /* in a datagram */
#define BUNDLE_OPEN   16 /* nodes for which frames may wait at a time */

struct bundle_item {
	uint8_t *data;
	uint16_t len;
	uint8_t flags; /* LEON_FLAGS_FRAME */
	bool own;      /* not needed afterwards: a LEON header may be written in front of it */
};
struct bundle {
	uint16_t slot;
	uint16_t class; /* of all frames in it */
	unsigned n, n_copies;
	size_t len; /* of the payload */
	struct bundle_item item[BUNDLE_FRAMES];
};

/*
 * Takes a frame that is no super-frame; it must stay as it is until the flush. False where it is
 * too big for company: then nothing waits for this node any more, and the frame may be sent.
 * copy, last: as of encap_send().
 */
bool bundle_add(struct worker *w, const struct frame *f, uint16_t slot, bool copy, bool last);
/* Sends what waits for this node, so that what is sent next does not overtake it. */
void bundle_flush_to(struct worker *w, uint16_t slot);
/* Sends all that waits. */
void bundle_flush(struct worker *w);
