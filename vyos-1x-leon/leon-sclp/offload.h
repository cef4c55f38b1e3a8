// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Conversion between frames of the kernel's TAP and complete frames of the wire. The TAP leaves
 * checksums and TCP segmentation to its reader. Pure; works on the vnet header in front of each
 * frame. leon-sclp only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct virtio_net_hdr;

/* Fills in the transport checksum that the kernel left out. Returns false if the header is
 * invalid. */
bool offload_complete(const struct virtio_net_hdr *h, uint8_t *frame, size_t len);
/* Builds the vnet header for a received frame. A TCP frame beyond the MTU becomes a super-frame
 * with the checksum of its pseudo-header, and the kernel completes the checksum of each segment. */
void offload_describe(struct virtio_net_hdr *h, uint8_t *frame, size_t len, uint32_t mtu);
/* Returns a source port from the flow, as VXLAN does. The port is never below 49152. */
uint16_t offload_flow_port(const uint8_t *frame, size_t len);
