// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A frame on its way from the TAP into the overlay, and what comes with one out of it.
 * Worker-owned; valid within its batch.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/ecn.h"
#include "wire/eth.h"
#include "wire/leon.h"

enum frame_gso {
	FRAME_PLAIN, /* not a super-frame */
	FRAME_TCP,
	FRAME_UDP,
	FRAME_UNKNOWN_GSO, /* cannot be cut */
};

struct frame {
	uint8_t *data; /* SNAP_HDR_LEN_MAX bytes in front of it are free to use, once, and those
			* of a tag besides */
	size_t len;
	bool partial;  /* the transport checksum is that of the pseudo-header only */
	bool segment;  /* its segment stands in place of the tag, wire/segment.h */
	bool critical; /* as policy says */
	enum frame_gso gso;
	uint16_t gso_size; /* payload of each segment */
	struct eth_view v;
	uint16_t class; /* of the datagrams that carry it, fwd/marking.h */
	bool accel;	/* for the accelerator of the node, not for its segment */
};

/* What came with a frame out of the overlay. */
struct arrived {
	uint16_t slot; /* of the source node */
	uint8_t flags; /* of the LEON header */
	enum ecn ecn;  /* of the IP header; of frames in pieces, of all of them */
};

/* What the header of a datagram says of it. */
static inline uint8_t frame_flags(const struct frame *f)
{
	return (uint8_t)((f->partial ? LEON_F_CSUM_PARTIAL : 0) |
			 (f->segment ? LEON_F_SEGMENT : 0));
}

/* A frame in one or two pieces, as it is put into datagrams: a segment of a super-frame has its
 * own headers in one place and its payload in another. */
struct pieces {
	const uint8_t *head;
	size_t head_len; /* 0: everything is body */
	const uint8_t *body;
	size_t body_len;
};
