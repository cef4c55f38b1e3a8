// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads a batch of frames from a TAP queue into one arena, contiguously, each with room for a LEON
 * header in front. Small frames therefore share cache lines and pages. Worker-owned.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/frame.h"

#define TAP_RX_FRAMES 64
#define TAP_RX_ARENA  (320u << 10)
/* Byte limit of a batch with super-frames, so that following frames do not wait behind more of
 * them. */
#define TAP_RX_SUPER (32u << 10)
/* A 64 KiB IP packet with Ethernet header, two VLAN tags and reserve. */
#define TAP_RX_FRAME_MAX (65536u + 128)

/* Reserved space before each read. Holds the longest LEON header together with the vnet header, and
 * aligns the IP header of an untagged frame to 4 bytes. */
#define TAP_RX_HEADROOM 32

struct tap_rx {
	uint8_t *arena;
	unsigned n;
	struct frame frame[TAP_RX_FRAMES];
};

void tap_rx_init(struct tap_rx *rx);
void tap_rx_fini(struct tap_rx *rx);

/* Result of one read: vnet header and frame. Returns false if it is too short. */
bool tap_rx_decode(uint8_t *data, size_t len, struct frame *f);

struct tap_rx_result {
	bool more; /* the batch is full: more may be pending */
	unsigned bad;
	uint64_t bytes, super;
};
/* Reads until nothing is pending or the batch is full. Frames are parsed, and their checksums
 * are complete, or partial with LEON_F_CSUM_PARTIAL (checksums at other positions are completed
 * here). */
struct tap_rx_result tap_rx_read(struct tap_rx *rx, int fd);
