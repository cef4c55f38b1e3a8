// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The loop-guard frame: sent by each node onto its own local segment, never into the overlay.
 * A node that receives such a frame of another node of its overlay is on one LAN with it. Pure.
 *
 *   dst 03:4c:45:4f:4e:00 | src TAP MAC | length 40 (16) | LLC aa aa 03 | 02 "LEON" |
 *   version 1 (8) | VNI (24) | node-id (32) | incarnation (64) | authenticator (16 bytes)
 *
 * It has a length and LLC with a SNAP identifier of our own (IEEE 802), and no EtherType: a frame
 * of an EtherType without a handler adds to the drop counter of the interface (rx_dropped) on every
 * Linux host of the LAN; LLC has a handler, which ignores SNAP identifiers it does not know.
 *
 * The authenticator is keyed with the pre-shared secret (crypto/keys.h), zero without one.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

#define GUARD_FRAME_LEN	 60 /* padded to the Ethernet minimum */
#define GUARD_AUTH_LEN	 16
#define GUARD_TYPE	 40 /* in place of an EtherType: bytes of LLC */
#define GUARD_SIGNED_LEN 38 /* bytes of the frame that the authenticator covers */

struct guard_frame {
	struct mac src;
	uint32_t vni;
	node_id_t node;
	uint64_t incarnation;
	uint8_t auth[GUARD_AUTH_LEN];
};

/* -ENOMSG: not a guard frame at all; -EBADMSG: one, but malformed. */
int guard_decode(const void *frame, size_t len, struct guard_frame *g);
/* Writes GUARD_FRAME_LEN bytes, the authenticator as given. */
void guard_encode(const struct guard_frame *g, void *out);
