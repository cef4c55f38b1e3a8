// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Payload of LEON_BUNDLE: several Ethernet frames for one node, one behind the other, each behind
 * its length. Pure; workers.
 *
 *   P (1) | S (1) | length (14) | frame ...
 *
 * P, S: what LEON_F_CSUM_PARTIAL and LEON_F_SEGMENT say of a frame that travels alone; the flags of
 * the datagram say nothing here.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define BUNDLE_HDR_LEN	 2 /* in front of each frame */
#define BUNDLE_FRAME_MIN 14
#define BUNDLE_FRAME_MAX 0x3fff

struct bundle_frame {
	size_t at; /* where in the payload it begins */
	size_t len;
	uint8_t flags; /* of LEON_FLAGS_FRAME */
};

/*
 * The frame at *at, which is moved behind it. 1; 0 where the payload ended with the frame before;
 * -EBADMSG where the length is impossible, reaches past the end, or nothing is in the bundle.
 */
int bundle_next(const void *data, size_t len, size_t *at, struct bundle_frame *f);
/* Writes BUNDLE_HDR_LEN bytes. */
void bundle_encode(size_t frame_len, uint8_t flags, void *out);
