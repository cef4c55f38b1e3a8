// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: cutting a super-frame into segments that are frames of their own, each with all headers,
 * so that the loss of one does not touch the others. Only headers are written; payload is pointed
 * at. IP lengths, identifications, header checksums and TCP sequence numbers and flags are final;
 * the transport checksum is left partial, so that nobody here sums payload. Pure; workers.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "fwd/frame.h"

/* Longest Ethernet, IP and transport headers of a super-frame that is cut. */
#define TSO_HDR_MAX 192

struct tso {
	const uint8_t *frame;
	size_t hdr_len;	    /* of each segment, also in the frame */
	size_t payload_len; /* in all */
	size_t size;	    /* of each segment's payload but the last's */
	unsigned n;	    /* segments */
	uint16_t l3, l4;
	uint8_t ip_version, ip_proto;
	uint16_t ip_id;
	uint32_t seq;
};

/*
 * Takes a super-frame apart. A TCP segment is at most max_frame bytes long, headers included:
 * TCP does not care where it is cut. UDP datagrams keep their size, whatever max_frame is.
 * 0; -EBADMSG where the headers are not what they should be; -EMSGSIZE where max_frame leaves no
 * room for payload.
 */
int tso_open(struct tso *t, const struct frame *f, size_t max_frame);
/* As how many frames one counts where those of the wire are counted: a super-frame as those that it
 * was, or will be, cut into for hosts; one that cannot be cut, and any other frame, as one. */
unsigned tso_frames(const struct frame *f);
/* Writes the headers of segment i to out (t->hdr_len bytes) and describes it. */
struct pieces tso_segment(const struct tso *t, unsigned i, uint8_t *out);
