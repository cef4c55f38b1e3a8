// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The records of a capture: one frame at one place of a node. The records of a node form a stream
 * of bytes, which the collector reads in pieces (CAPTURE-DATA). doc/protocol.md section 4.17. Pure;
 * control thread, and workers for struct capture_record.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "wire/datagram/leon.h"

/* Limits on every captured node. */
#define CAPTURE_SECONDS_MAX 60
#define CAPTURE_BYTES_MIN   4096
#define CAPTURE_BYTES_MAX   (4u << 20) /* of the stream of a node */
#define CAPTURE_SNAP_MIN    14
#define CAPTURE_SNAP_MAX    2048

/* Places of a frame in a node, in the order of its way. */
enum capture_place {
	CAPTURE_FROM_TAP = 1, /* read from the segment */
	CAPTURE_SENT = 2,     /* sent into the overlay by its source, behind the queues */
	CAPTURE_RELAYED = 3,
	CAPTURE_TO_TAP = 4, /* written to the segment */
};
#define CAPTURE_PLACES 5
const char *capture_place_name(uint8_t place); /* "from-tap", ... or "unknown" */

#define CAPTURE_SEALED 0x01 /* the nonce is present */

struct capture_record {
	uint32_t at_us; /* monotonic clock of the node, modulo 2^32, as in PONG */
	uint8_t place, flags;
	uint8_t n_hops; /* 0 unless SENT or RELAYED */
	node_id_t source;
	node_id_t hop[LEON_HOPS_MAX]; /* relays in order, then the destination */
	uint64_t nonce;		      /* nonce field of the sealed datagram */
	uint32_t len;		      /* of the frame, bytes; of a super-frame as a whole */
	uint16_t n;		      /* captured bytes, at most CAPTURE_SNAP_MAX and len */
};
/* Longest record without the bytes of the frame. */
#define CAPTURE_RECORD_MAX (4 + 3 + 4 + 4 * LEON_HOPS_MAX + 8 + 4 + 2)

/* Returns the length, or 0 if `out` is too small. */
size_t capture_record_write(const struct capture_record *r, const uint8_t *bytes, uint8_t *out,
			    size_t out_len);
/* Returns the length of the record, 0 if the stream ends before its end, or -EBADMSG. *bytes points
 * into the stream. */
int capture_record_read(const uint8_t *stream, size_t len, struct capture_record *r,
			const uint8_t **bytes);
