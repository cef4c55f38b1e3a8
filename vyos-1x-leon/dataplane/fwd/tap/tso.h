// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: segmentation of a super-frame into independent frames, each with all headers, so that the
 * loss of one does not affect the others. Writes headers only; payload is referenced. IP lengths,
 * identifications, header checksums, TCP sequence numbers and flags are final; the transport
 * checksum stays partial, so no code here sums payload. Pure; workers.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "fwd/frame.h"

/* Longest Ethernet, IP and transport headers of a super-frame. */
#define TSO_HDR_MAX 192

struct tso {
	const uint8_t *frame;
	size_t hdr_len;	    /* header length of each segment, also in the super-frame */
	size_t payload_len; /* total payload length */
	size_t size;	    /* payload of each segment but the last */
	unsigned n;	    /* number of segments */
	uint16_t l3, l4;
	uint8_t ip_version, ip_proto;
	uint16_t ip_id;
	uint32_t seq;
};

/*
 * Parses a super-frame. A TCP segment has at most max_frame bytes with headers, because TCP may be
 * segmented anywhere. UDP datagrams keep their size, independent of max_frame. Returns 0; -EBADMSG:
 * unexpected headers; -EMSGSIZE: max_frame leaves no room for payload.
 */
int tso_open(struct tso *t, const struct frame *f, size_t max_frame);
/* Number of frames on the wire. A super-frame that can be segmented counts as its segments, any
 * other frame counts as one. */
unsigned tso_frames(const struct frame *f);
/* Writes the headers of segment i to out (t->hdr_len bytes) and describes the segment. */
struct pieces tso_segment(const struct tso *t, unsigned i, uint8_t *out);
