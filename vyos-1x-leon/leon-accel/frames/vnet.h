// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Check of the virtio_net_hdr that another accelerator puts before a frame (FOUND, FORWARD). Called
 * by migrated.c. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ipc/accel_queue.h"
#include "wire/frame/eth.h"
#include "wire/frame/tcp.h"

/* Maximum number of segments of a super-frame: 64 KiB in segments of 496 bytes, the default MSS of
 * RFC 9293 less 40 bytes of options. A message of a few bytes cannot become thousands of datagrams.
 * The size of a segment has no minimum: small packets of equal length are coalesced too. */
#define VNET_SEGMENTS_MAX 132

/*
 * Writes a new header from the parsed segment. Only two statements of the sender remain: that
 * the checksum is partial, and the size of the segments of a super-frame. Returns false if the
 * header is invalid: an unknown flag or type, a segment size of 0, or too many segments.
 */
bool vnet_renew(uint8_t vnet[ACCEL_VNET_LEN], const struct eth_view *v, const struct tcp_view *t);
