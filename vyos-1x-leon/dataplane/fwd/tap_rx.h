// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading a batch of frames from a TAP queue into one arena, one behind the other, each with room
 * in front for a LEON header. Small frames so share cache lines and pages that super-frames would
 * spread over megabytes. Worker-owned.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/frame.h"

#define TAP_RX_FRAMES 64
#define TAP_RX_ARENA  (320u << 10)
/* Where super-frames are in it, a batch ends from so many bytes on: what comes next must not wait
 * behind more of them. */
#define TAP_RX_SUPER (32u << 10)
/* A 64 KiB IP packet, Ethernet header, two VLAN tags, and some. */
#define TAP_RX_FRAME_MAX (65536u + 128)

/* In front of each read: with the vnet header it makes room for the longest LEON header, and puts
 * the IP header of an untagged frame at a multiple of 4. */
#define TAP_RX_HEADROOM 32

struct tap_rx {
	uint8_t *arena;
	unsigned n;
	struct frame frame[TAP_RX_FRAMES];
};

void tap_rx_init(struct tap_rx *rx);
void tap_rx_fini(struct tap_rx *rx);

/* What one read gave: vnet header and frame. False where it is too short to be either. */
bool tap_rx_decode(uint8_t *data, size_t len, struct frame *f);

struct tap_rx_result {
	bool more; /* stopped because the batch is full: more may wait */
	unsigned bad;
	uint64_t bytes, super;
};
/* Reads until nothing waits or the batch is full. Frames parse, and their checksums are either
 * whole or partial where LEON_F_CSUM_PARTIAL says so (other places are completed here). */
struct tap_rx_result tap_rx_read(struct tap_rx *rx, int fd);
