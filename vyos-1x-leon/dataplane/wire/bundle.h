// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Payload of LEON_BUNDLE: several Ethernet frames for one node, one behind the other, each behind
 * its length. Pure; workers.
 *
 *   P (1) | length (15) | frame ...
 *
 * P: the transport checksum of this frame is partial, as LEON_F_CSUM_PARTIAL says of a frame that
 * travels alone; the flag of the datagram says nothing here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define BUNDLE_HDR_LEN	 2 /* in front of each frame */
#define BUNDLE_FRAME_MIN 14
#define BUNDLE_FRAME_MAX 0x7fff

struct bundle_frame {
	size_t at; /* where in the payload it begins */
	size_t len;
	bool partial;
};

/*
 * The frame at *at, which is moved behind it. 1; 0 where the payload ended with the frame before;
 * -EBADMSG where the length is impossible, reaches past the end, or nothing is in the bundle.
 */
int bundle_next(const void *data, size_t len, size_t *at, struct bundle_frame *f);
/* Writes BUNDLE_HDR_LEN bytes. */
void bundle_encode(size_t frame_len, bool partial, void *out);
