// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Transport checksums of frames: position, partial checksums (the sum of the pseudo-header only)
 * and their completion. Pure; workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/frame/eth.h"

#define IP_PROTO_TCP 6
#define IP_PROTO_UDP 17

/* Offset of the TCP or UDP checksum in the frame; 0 if the frame has no complete header. */
size_t checksum_place(const struct eth_view *v, size_t len);
/* Sums all bytes from `start` and writes the checksum at `offset` from there, like virtio's
 * NEEDS_CSUM. Returns false if the position is outside the frame. */
bool checksum_complete(uint8_t *frame, size_t len, size_t start, size_t offset);
/* Value of a partial checksum field for a segment of l4_len bytes (transport header and payload).
 * ip: the network header. */
uint16_t checksum_pseudo(const uint8_t *ip, uint8_t ip_version, uint8_t proto, size_t l4_len);
/* Writes the header checksum of an IPv4 header. */
void checksum_v4_header(uint8_t *ip);
