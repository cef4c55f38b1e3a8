// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keys of the table of connections (conns.c). Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/accel.h"
#include "wire/frame/tcp.h"

/* The key in the view of this node. */
struct accel_key conn_key_of(const struct tcp_view *t, uint16_t vlan, bool from_near);
/* The key of a decoded frame. `mirrored`: in the view of the other node. */
struct accel_key conn_key_from(const struct accel_key *of, bool mirrored);
