// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: a data datagram to a node, built from a head and a separate body, and sealed if required:
 * the last step before tx. In clear, the body is referenced; sealed, both are encrypted into the
 * worker's scratch buffer in one pass. The datagrams of a super-frame are therefore contiguous and
 * leave as one message. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state/tables/snap.h"

struct coding_block;
struct worker;

/* Path parameters for the datagrams of a frame. */
struct lane {
	const struct snap_node *node;
	size_t room; /* payload budget for a frame, or a fragment with its header */
	/* The datagrams are duplicated as kind LEON_COPY: counter of the first; a split frame uses
	 * the following counters too. */
	bool twice;
	uint64_t counter;
	bool bulk; /* datagrams other than fragments may be distributed, fwd/send/spread.h */
	/* With `twice`: the datagrams are sent once, as symbols of this block. */
	struct coding_block *block;
};

struct outgoing {
	const struct snap_node *node;
	bool twice; /* this and the next two as in struct lane */
	uint64_t counter;
	struct coding_block *block;
	bool bulk;		   /* as in struct lane; ends as LEON_F_SPREAD */
	uint8_t kind, flags;	   /* in addition to the flags of the security policy */
	unsigned frames;	   /* frames that are lost with the datagram */
	size_t head_len, body_len; /* at most the payload budget of the lane together */
	/* Set by outgoing_begin(). */
	uint8_t *start; /* start of the LEON header */
};

/*
 * Begins the datagram *o. Returns the address for the first head_len bytes behind the header; NULL
 * if nothing can be sent (counted). May flush.
 */
uint8_t *outgoing_begin(struct worker *w, struct outgoing *o);
/* Completes the datagram. In clear the body must not change until the flush. Returns false and
 * counts an unsent datagram. */
bool outgoing_end(struct worker *w, const struct outgoing *o, const void *body);

/* Sends one frame that fits the path. own: the frame is not needed afterwards, so the header may
 * precede the frame in place in node->hdr_len free bytes. Otherwise the frame must not change until
 * the flush. bulk: as in struct lane. Returns false and counts if the frame is not sent. */
bool outgoing_frame(struct worker *w, const struct snap_node *node, uint8_t flags, uint8_t *data,
		    size_t len, bool own, bool bulk);
