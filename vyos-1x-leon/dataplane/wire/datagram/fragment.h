// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Payload of LEON_FRAGMENT: a fragment of an Ethernet frame that exceeds the path MTU. The idea is
 * the segment of the SCLP paper, section 3; an offset replaces its remaining-length field, so that
 * fragments may arrive in any order. Pure; workers.
 *
 *   identification (32) | offset (16) | frame length (16) | bytes ...
 *
 * identification is unique per source node and worker within the reassembly time-out. Offset and
 * length are in bytes. All fragments but the last are of equal size.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FRAGMENT_HDR_LEN 8
/* Largest frame that LEON splits: an MTU of 9000 bytes with VLAN tags and reserve. */
#define FRAGMENT_FRAME_MAX 9216

struct fragment_hdr {
	uint32_t id;
	uint16_t offset; /* bytes from the start of the frame */
	uint16_t total;	 /* bytes of the whole frame, 1..FRAGMENT_FRAME_MAX */
};

/* Returns 0, or -EBADMSG: empty fragment, end beyond total, or total out of range. */
int fragment_decode(const void *data, size_t len, struct fragment_hdr *h);
/* Writes FRAGMENT_HDR_LEN bytes. */
void fragment_encode(const struct fragment_hdr *h, void *out);
