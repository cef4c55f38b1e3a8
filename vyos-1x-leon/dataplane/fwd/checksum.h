// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Transport checksums of frames: where they are, and how a partial one (the sum of the
 * pseudo-header only) is made and completed. Pure; workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/eth.h"

#define IP_PROTO_TCP 6
#define IP_PROTO_UDP 17

/* Offset in the frame of the TCP or UDP checksum, 0 where the frame has none that is whole. */
size_t checksum_place(const struct eth_view *v, size_t len);
/* Sums everything from `start` and writes the checksum `offset` behind it, as virtio's NEEDS_CSUM
 * asks for. False where that is not in the frame. */
bool checksum_complete(uint8_t *frame, size_t len, size_t start, size_t offset);
/* What the checksum field of a segment of l4_len bytes (transport header and payload) holds when
 * it is partial. ip: the network header. */
uint16_t checksum_pseudo(const uint8_t *ip, uint8_t ip_version, uint8_t proto, size_t l4_len);
/* Fills in the header checksum of an IPv4 header. */
void checksum_v4_header(uint8_t *ip);
