// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Check of the virtio_net_hdr that another accelerator puts before a frame (FOUND, FORWARD). Called
 * by away.c. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/accel_queue.h"
#include "wire/eth.h"
#include "wire/tcp.h"

/* The smallest gso_size that is accepted: the default MSS of RFC 9293 less 40 bytes of options. A
 * smaller one would turn one message into thousands of datagrams; so it is 132 at most. */
#define VNET_GSO_MIN (536 - 40)

/*
 * Writes the header anew from the parsed segment. Only two statements of the sender remain: that
 * the checksum is partial, and the size of the segments of a super-frame. Returns false if the
 * header is invalid: an unknown flag or type, or a size below the minimum or above the payload.
 */
bool vnet_renew(uint8_t vnet[ACCEL_VNET_LEN], const struct eth_view *v, const struct tcp_view *t);
