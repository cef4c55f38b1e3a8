// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Payload of LEON_BUNDLE: several Ethernet frames for one node, each behind its length. Pure;
 * workers.
 *
 *   P (1) | S (1) | length (14) | frame ...
 *
 * P and S are LEON_F_CSUM_PARTIAL and LEON_F_SEGMENT of the frame. The flags of the datagram do not
 * apply to frames of a bundle.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define BUNDLE_HDR_LEN	 2 /* header of each frame */
#define BUNDLE_FRAME_MIN 14
#define BUNDLE_FRAME_MAX 0x3fff

struct bundle_frame {
	size_t at; /* offset of the frame in the payload */
	size_t len;
	uint8_t flags; /* subset of LEON_FLAGS_FRAME */
};

/*
 * Reads the frame at *at and advances *at. Returns 1; 0 at the end of the payload; -EBADMSG if the
 * length is impossible or exceeds the payload, or if the bundle is empty.
 */
int bundle_next(const void *data, size_t len, size_t *at, struct bundle_frame *f);
/* Writes BUNDLE_HDR_LEN bytes. */
void bundle_encode(size_t frame_len, uint8_t flags, void *out);
