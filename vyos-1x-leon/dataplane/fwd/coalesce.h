// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Putting frames for the TAP together: those of one TCP connection or UDP flow that continue each
 * other become one super-frame, which the kernel takes for the price of one frame. Payload stays
 * where it was received; only the headers of the first frame are rewritten, in place. What reaches
 * the hosts is what would have reached them without it: whatever the kernel could not restore when
 * it cuts the super-frame again is written as it came (coalesce.c has the rules).
 *
 * Order within a flow is kept; frames of different flows may overtake each other within a batch.
 * Pure; worker-owned; never allocates.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "wire/eth.h"

#define COALESCE_UNITS	  64   /* writes to the TAP in a batch */
#define COALESCE_PIECES	  1024 /* frames of a batch that were appended to others */
#define COALESCE_SEGMENTS 64   /* frames in a super-frame; kernels take as many of UDP at least */
#define COALESCE_BUCKETS  64
/* Pieces of memory that make a super-frame. */
#define COALESCE_IOV COALESCE_SEGMENTS

struct virtio_net_hdr;

/* A frame for the local segment. */
struct delivery {
	uint8_t *data; /* stays where it is until the flush; headers may be rewritten */
	size_t len;
	/* The transport checksum is partial: from where it is summed, and where it goes from there;
	 * 0 and 0 where it is whole. */
	uint16_t csum_start, csum_offset;
};

/* The payload of a frame that was appended to another. */
struct coalesce_piece {
	const uint8_t *data;
	uint16_t len;
	uint16_t next; /* index of the next piece of the super-frame */
};

/* One write to the TAP: a frame, or a super-frame that begins with it. */
struct coalesce_unit {
	struct delivery frame;
	unsigned n; /* frames in it */
	/* Of units that can be continued: */
	uint16_t l3, l4, hdr_len; /* offsets, and all headers together */
	uint8_t ip_version, ip_proto;
	bool push;	      /* TCP's PSH, in the last frame */
	uint16_t size;	      /* payload of each frame but the last */
	size_t len;	      /* of the super-frame */
	uint32_t next_seq;    /* TCP */
	uint16_t next_id;     /* IPv4 */
	uint16_t first, last; /* pieces, where n > 1 */
};

struct coalesce {
	bool tcp, udp; /* which super-frames the TAP takes */
	unsigned n_units, n_pieces;
	/* By hash of the flow: number of the unit that may be continued, counted from 1; 0 none. */
	uint8_t open[COALESCE_BUCKETS];
	struct coalesce_unit unit[COALESCE_UNITS];
	struct coalesce_piece piece[COALESCE_PIECES];
};

/* Takes a frame of which v is the view; false where there is no room before a reset. */
bool coalesce_add(struct coalesce *c, const struct delivery *d, const struct eth_view *v);
/*
 * Completes unit i, whose headers are rewritten where it is a super-frame: its vnet header and its
 * bytes in at most COALESCE_IOV pieces. Returns how many. Once for each unit.
 */
unsigned coalesce_gather(struct coalesce *c, unsigned i, struct virtio_net_hdr *h,
			 struct iovec *iov);
/* Forgets all units. */
void coalesce_reset(struct coalesce *c);
