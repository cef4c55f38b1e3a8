// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A frame from the TAP to the overlay, and the metadata of a frame from the overlay. Worker-owned;
 * valid within a batch.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "wire/frame/ecn.h"
#include "wire/frame/eth.h"
#include "wire/datagram/leon.h"

enum frame_gso {
	FRAME_PLAIN, /* not a super-frame */
	FRAME_TCP,
	FRAME_UDP,
	FRAME_UNKNOWN_GSO, /* cannot be segmented */
};

struct frame {
	/* SNAP_HDR_LEN_MAX bytes in front of it are free for one use, and the bytes of a tag in
	 * addition */
	uint8_t *data;
	size_t len;
	bool partial;  /* the transport checksum is the pseudo-header sum only */
	bool segment;  /* a segment id replaces the tag, wire/datagram/segment.h */
	bool critical; /* critical according to the policy */
	enum frame_gso gso;
	uint16_t gso_size; /* payload of each segment */
	struct eth_view v;
	uint16_t class;	 /* traffic class of datagrams, fwd/send/send_steps.h */
	bool accel;	 /* addressed to the accelerator of the node */
	node_id_t to;	 /* destination of a frame that leon-accel returned, or NODE_ID_NONE */
	bool first_lost; /* the queue dropped the first segment of the super-frame */
};

/* A frame, or the payload of a data datagram, from the overlay for this node. The bytes must not
 * change until deliver_flush(). */
struct arrived {
	uint16_t slot;	/* slot of the source node */
	node_id_t node; /* source node */
	uint8_t flags;	/* flags of the LEON header */
	enum ecn ecn;	/* ECN field of the outer IP header; of all its fragments combined */
	uint8_t *data;
	size_t len;
};

/* Builds the metadata from a datagram's header. */
static inline uint8_t frame_flags(const struct frame *f)
{
	return (uint8_t)((f->partial ? LEON_F_CSUM_PARTIAL : 0) |
			 (f->segment ? LEON_F_SEGMENT : 0));
}

/* A frame in up to two pieces for a datagram. Headers and payload of a segment of a super-frame are
 * separate. */
struct pieces {
	const uint8_t *head;
	size_t head_len; /* 0: body only */
	const uint8_t *body;
	size_t body_len;
};
