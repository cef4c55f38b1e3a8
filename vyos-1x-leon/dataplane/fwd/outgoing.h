// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: one data datagram to a node, put together from a head that is written here and a body that
 * lies elsewhere, and sealed where policy says so: the last step before tx. In clear the body is
 * pointed at; sealed, both are encrypted into the worker's scratch in one pass. Datagrams of a
 * super-frame so lie one behind the other there and leave as one message. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state/snap.h"

struct worker;

/* Where the datagrams of a frame go. */
struct lane {
	const struct snap_node *node;
	size_t room; /* for a frame, or a fragment with its header */
	/* They travel along another path too, as kind LEON_COPY; with this counter, and those
	 * behind it where the frame is cut into several. */
	bool twice;
	uint64_t counter;
};

struct outgoing {
	const struct snap_node *node;
	bool twice; /* as of a lane */
	uint64_t counter;
	uint8_t kind, flags;	   /* besides the flags of policy */
	unsigned frames;	   /* that are lost with it */
	size_t head_len, body_len; /* together at most the room of the lane */
	/* Of outgoing_begin(). */
	uint8_t *start; /* the LEON header */
};

/*
 * Begins the datagram that is described in *o. Returns where the first head_len bytes behind the
 * header are to be written, NULL where nothing can be sent (counted). May flush.
 */
uint8_t *outgoing_begin(struct worker *w, struct outgoing *o);
/* Completes it; in clear, the body has to stay as it is until the flush. False (and counted) where
 * it is not sent. */
bool outgoing_end(struct worker *w, const struct outgoing *o, const void *body);

/* One frame by itself, which fits. own: it is not needed afterwards, so the header may be written
 * in front of it, where node->hdr_len bytes are free; else it has to stay as it is until the flush.
 * False (and counted) where it is not sent. */
bool outgoing_frame(struct worker *w, const struct snap_node *node, uint8_t flags, uint8_t *data,
		    size_t len, bool own);
