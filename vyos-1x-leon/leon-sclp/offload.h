// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a frame needs on its way between the kernel's TAP, which leaves checksums and the cutting of
 * TCP to others, and the wire, where the frame is to be complete. Pure, on the vnet header that is
 * in front of each frame. leon-sclp only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct virtio_net_hdr;

/* Fills in the transport checksum that the kernel left out. False where the header
 * makes no sense. */
bool offload_complete(const struct virtio_net_hdr *h, uint8_t *frame, size_t len);
/* The vnet header to hand a received frame over with. Beyond the MTU a TCP frame becomes a
 * super-frame, and its checksum that of the pseudo-header, which the kernel completes for each part
 * that it cuts. */
void offload_describe(struct virtio_net_hdr *h, uint8_t *frame, size_t len, uint32_t mtu);
/* Spreads flows over the source port, as VXLAN does: never below 49152. */
uint16_t offload_flow_port(const uint8_t *frame, size_t len);
