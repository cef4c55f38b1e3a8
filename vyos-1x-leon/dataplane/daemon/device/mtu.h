// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rule of the interface MTU. A configured value has precedence. A bridge port has 1500, because
 * hosts behind the bridge do not know the overlay; LEON splits larger frames. Otherwise the MTU
 * follows the smallest path MTU. No I/O, no clock; control thread (daemon/device/device.c).
 *
 * A large MTU loses no frames (LEON splits), so even a decrease waits until path MTU probing has
 * settled. An increase waits longer, so that the MTU does not flap.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

#define MTU_MIN		   1280 /* minimum link MTU of IPv6 (RFC 8200 section 5) */
#define MTU_ETHERNET	   1500
#define MTU_LOWER_AFTER_MS 3000
#define MTU_RAISE_AFTER_MS 20000

enum mtu_source { MTU_NO_PATH, MTU_CONFIGURED, MTU_BRIDGE_PORT, MTU_PATH };
const char *mtu_source_name(enum mtu_source s); /* "configured", "bridge-port", "path", "default" */

struct mtu_input {
	uint32_t configured; /* 0: automatic */
	bool bridge_port;
	uint32_t smallest_path_mtu; /* smallest LEON datagram size of all routed nodes; 0 unknown */
	uint32_t header_len;	    /* encapsulation overhead on the longest permitted path */
};

struct mtu_rule {
	uint32_t mtu; /* MTU in force; 0 before the first run */
	enum mtu_source source;
	uint32_t wanted;     /* pending value, differs from mtu until stable */
	mono_t wanted_since; /* never: nothing pending */
};

/* Runs the rule; returns true if `mtu` changed. Called at every change of input and once a
 * second. */
bool mtu_rule_run(struct mtu_rule *r, const struct mtu_input *in, mono_t now);
