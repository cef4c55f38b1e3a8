// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The loop-guard frame: sent by each node onto its own local segment, in every VLAN in use, never
 * into the overlay. A node that hears another node's guard frame of its overlay shares the LAN of
 * that VLAN with it. Pure.
 *
 *   dst 03:4c:45:4f:4e:00 | src TAP MAC | 802.1Q tag, but for untagged frames | length 85 (16) |
 *   LLC aa aa 03 | 02 "LEON" | version 4 (8) | VNI (24) | node-id (32) | incarnation (64) |
 *   sequence (64) | segment (24) | flags (8) | preference (8) | 8 x mark of a node heard (32) |
 *   authenticator (16 bytes)
 *
 * It has a length and LLC with a SNAP identifier of our own (IEEE 802), and no EtherType: a frame
 * of an EtherType without a handler adds to the drop counter of the interface (rx_dropped) on every
 * Linux host of the LAN; LLC has a handler, which ignores SNAP identifiers it does not know.
 *
 * The authenticator is keyed with the pre-shared secret (crypto/keys.h), zero without one. It
 * covers what is behind the length: a switch may add or take the tag on the way, and the segment
 * inside (wire/segment.h) says what the sender calls the VLAN in which it sent it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

#define GUARD_HEARD_MAX	 8
#define GUARD_AUTH_LEN	 16
#define GUARD_SIGNED_LEN 69 /* bytes that the authenticator covers, from the LLC header on */
#define GUARD_TYPE	 85 /* in place of an EtherType: bytes of LLC */
#define GUARD_FRAME_LEN	 99 /* untagged; a tag is 4 bytes more */
#define GUARD_FRAME_MAX	 103

enum guard_flags {
	GUARD_FORWARDS =
		0x01, /* frames of this VLAN pass between its sender's LAN and the overlay */
	/* Its sender has listened long enough, reaches a node elsewhere, and takes its turn. */
	GUARD_READY = 0x02,
};

struct guard_frame {
	struct mac src;
	uint16_t tag; /* VLAN that it came with, or is to be sent in; 0: untagged */
	uint32_t vni;
	node_id_t node;
	uint64_t incarnation, sequence;
	uint32_t segment; /* in which it was sent: the sender's name for this LAN */
	uint8_t flags;	  /* enum guard_flags */
	uint8_t preference;
	/* guard_mark() of the other nodes that the sender hears in this VLAN; 0 at the end. */
	uint32_t heard[GUARD_HEARD_MAX];
	uint8_t auth[GUARD_AUTH_LEN];
};

/* Name of one run of a node in the list of a guard, never 0. A guard from before the node's start
 * lists another mark of it. Therefore a recorded guard does not pass for the proof that its sender
 * hears the node now. */
uint32_t guard_mark(node_id_t node, uint64_t incarnation);
/* -ENOMSG: not a guard frame at all; -EBADMSG: one, but malformed. */
int guard_decode(const void *frame, size_t len, struct guard_frame *g);
/* Writes a frame of the length returned, the authenticator as given. */
size_t guard_encode(const struct guard_frame *g, void *out);
/* The GUARD_SIGNED_LEN bytes of a frame that guard_decode() takes, or guard_encode() wrote. */
const void *guard_signed(const void *frame);
