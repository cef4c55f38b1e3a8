// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Payload of LEON_FRAGMENT: a piece of one Ethernet frame too big for the path (the segment idea
 * of the SCLP paper, section 3, with an offset in place of its running remainder so that pieces
 * may arrive in any order). Pure; workers.
 *
 *   identification (32) | offset (16) | frame length (16) | bytes ...
 *
 * identification is unique per source node and worker for as long as reassembly may take; offset
 * and length are in bytes; all pieces but the last are of equal size.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FRAGMENT_HDR_LEN 8
/* Largest frame LEON splits: a 9000-byte MTU with VLAN tags and some room. */
#define FRAGMENT_FRAME_MAX 9216

struct fragment_hdr {
	uint32_t id;
	uint16_t offset; /* bytes from the start of the frame */
	uint16_t total;	 /* bytes of the whole frame, 1..FRAGMENT_FRAME_MAX */
};

/* 0, or -EBADMSG where the piece is empty, reaches past total, or total is out of range. */
int fragment_decode(const void *data, size_t len, struct fragment_hdr *h);
/* Writes FRAGMENT_HDR_LEN bytes. */
void fragment_encode(const struct fragment_hdr *h, void *out);
