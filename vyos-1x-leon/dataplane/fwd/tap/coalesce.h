// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Coalescing of frames for the TAP: consecutive frames of a TCP connection or UDP flow become one
 * super-frame. A super-frame costs the kernel about as much as one frame. Payload stays in its
 * receive buffer; only the headers of the first frame are rewritten, in place. Hosts receive the
 * same frames as without it: frames that the kernel could not restore by segmentation are written
 * unchanged (coalesce.c has the rules).
 *
 * The order within a flow is kept; frames of different flows may overtake each other within a
 * batch. Pure; worker-owned; never allocates.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "wire/frame/eth.h"

#define COALESCE_UNITS	  64   /* writes to the TAP per batch */
#define COALESCE_PIECES	  1024 /* appended frames per batch */
#define COALESCE_SEGMENTS 64   /* frames per super-frame; kernels accept at least as many for UDP */
#define COALESCE_BUCKETS  64
/* Memory pieces of a super-frame. */
#define COALESCE_IOV COALESCE_SEGMENTS

struct virtio_net_hdr;

/* A frame for the local segment. */
struct delivery {
	uint8_t *data; /* unchanged until the flush; headers may be rewritten */
	size_t len;
	/* Partial transport checksum: start of the sum and offset of the field from there; 0 and 0:
	 * complete checksum. */
	uint16_t csum_start, csum_offset;
};

/* Payload of an appended frame. */
struct coalesce_piece {
	const uint8_t *data;
	uint16_t len;
	uint16_t next; /* index of the next piece of the super-frame */
};

/* One write to the TAP: a frame, or a super-frame that begins with this frame. */
struct coalesce_unit {
	struct delivery frame;
	unsigned n; /* number of frames */
	/* Valid for units that can be continued: */
	uint16_t l3, l4, hdr_len; /* header offsets, and the total header length */
	uint8_t ip_version, ip_proto;
	bool push;	      /* PSH flag of TCP in the last frame */
	uint16_t size;	      /* payload length of each frame but the last */
	size_t len;	      /* length of the super-frame */
	uint32_t next_seq;    /* next TCP sequence number */
	uint16_t next_id;     /* next IPv4 identification */
	uint16_t first, last; /* pieces, valid if n > 1 */
};

struct coalesce {
	bool tcp, udp; /* super-frames that the TAP accepts */
	unsigned n_units, n_pieces;
	/* Hash of the flow to the number of its open unit, counted from 1; 0 none. */
	uint8_t open[COALESCE_BUCKETS];
	struct coalesce_unit unit[COALESCE_UNITS];
	struct coalesce_piece piece[COALESCE_PIECES];
};

/* Adds a frame with the view v; returns false if a reset is needed first. */
bool coalesce_add(struct coalesce *c, const struct delivery *d, const struct eth_view *v);
/*
 * Completes unit i once: rewrites the headers of a super-frame and returns its vnet header and at
 * most COALESCE_IOV pieces. Returns their number.
 */
unsigned coalesce_gather(struct coalesce *c, unsigned i, struct virtio_net_hdr *h,
			 struct iovec *iov);
/* Forgets all units. */
void coalesce_reset(struct coalesce *c);
