// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The loop-guard frame. Each node sends the frame onto the own local segment, in every VLAN in use,
 * never into the overlay. A node that receives the guard frame of another node of its overlay
 * shares the LAN of that VLAN with the other node. Pure.
 *
 *   dst 03:4c:45:4f:4e:00 | src 02:4c and node-id | VLAN tag, except for untagged frames.
 *   Length 85 (16) | LLC aa aa 03 | 02 "LEON" | version 4 (8) | VNI (24) | node-id (32) |
 *   incarnation (64) | sequence (64) | segment (24) | flags (8) | preference (8) |
 *   8 x mark of a received node (32) |
 *   authenticator (16 bytes).
 *
 * The frame has a length and LLC with an own SNAP identifier (IEEE 802) in place of an EtherType.
 * On every Linux host of the LAN, a frame of an EtherType without a handler adds to the drop
 * counter of the interface (rx_dropped). LLC has a handler, which ignores unknown SNAP identifiers.
 *
 * The authenticator is keyed with the pre-shared secret (crypto/keys.h), and zero without a secret.
 * The authenticator covers the bytes behind the length, because a switch may add or remove the tag.
 * The segment inside (wire/datagram/segment.h) is the sender's name of the VLAN in which the frame
 * was sent.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

#define GUARD_RECEIVED_MAX 8
#define GUARD_AUTH_LEN	   16
#define GUARD_SIGNED_LEN   69 /* bytes under the authenticator, from the LLC header on */
#define GUARD_TYPE	   85 /* length of LLC, in place of an EtherType */
#define GUARD_FRAME_LEN	   99 /* untagged; a tag adds 4 bytes */
#define GUARD_FRAME_MAX	   103

enum guard_flags {
	GUARD_FORWARDS = 0x01, /* The sender forwards the VLAN between LAN and overlay. */
	/* The sender has listened long enough, reaches a node outside the LAN, and can forward. */
	GUARD_READY = 0x02,
	GUARD_INTERVAL = 0xf0, /* guard_interval_flags() */
};

struct guard_frame {
	struct mac src;
	uint16_t tag; /* VLAN of the received frame, or of the frame to send. 0: untagged. */
	uint32_t vni;
	node_id_t node;
	uint64_t incarnation, sequence;
	uint32_t segment; /* The sender's name of the LAN on which the frame was sent. */
	uint8_t flags;	  /* enum guard_flags. */
	uint8_t preference;
	/* guard_mark() of the other nodes from which the sender receives guards in this VLAN.
	 * Unused elements at the end are 0. */
	uint32_t received[GUARD_RECEIVED_MAX];
	uint8_t auth[GUARD_AUTH_LEN];
};

/* Returns the step n of an interval in the bits of GUARD_INTERVAL. It is the lowest n from 1 to 11
 * for which 100 ms * 2^(n - 1) is at least the interval. */
uint8_t guard_interval_flags(uint32_t interval_ms);
/* Returns 100 ms * 2^(n - 1) of the flags of a frame. 0: not stated, as in version 0.2. */
uint32_t guard_interval_of(uint8_t flags);
/* The mark of one run of a node in the list of a guard, never 0. A guard from before the start of
 * the node lists another mark. A recorded guard therefore does not prove present reception of the
 * node. */
uint32_t guard_mark(node_id_t node, uint64_t incarnation);
/* -ENOMSG: no guard frame. -EBADMSG: a malformed guard frame. */
int guard_decode(const void *frame, size_t len, struct guard_frame *g);
/* Writes a frame with the given authenticator. Returns the length. */
size_t guard_encode(const struct guard_frame *g, void *out);
/* The GUARD_SIGNED_LEN bytes of a valid frame. */
const void *guard_signed(const void *frame);
