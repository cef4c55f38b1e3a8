// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule for the interface's MTU. Configured: that. A bridge port: 1500, because the hosts
 * behind it know nothing of the overlay (LEON splits what does not fit). Otherwise it follows
 * the smallest path MTU. No I/O, no clock; control thread (daemon/host/device.c).
 *
 * Nothing is lost while the MTU is too large (LEON splits frames), so even a decrease waits until
 * path MTU probing has settled; an increase waits longer, so that an MTU does not flap.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

#define MTU_MIN		   1280 /* what IPv6 requires of a link (RFC 8200 section 5) */
#define MTU_ETHERNET	   1500
#define MTU_LOWER_AFTER_MS 3000
#define MTU_RAISE_AFTER_MS 20000

enum mtu_source { MTU_NO_PATH, MTU_CONFIGURED, MTU_BRIDGE_PORT, MTU_PATH };
const char *mtu_source_name(enum mtu_source s); /* "configured", "bridge-port", "path", "default" */

struct mtu_input {
	uint32_t configured; /* 0: automatic */
	bool bridge_port;
	uint32_t smallest_path_mtu; /* bytes of LEON datagram over all routed nodes, 0 unknown */
	uint32_t header_len;	    /* what is around a frame on the longest path allowed */
};

struct mtu_rule {
	uint32_t mtu; /* in force; 0 before the first run */
	enum mtu_source source;
	uint32_t wanted;     /* differs from mtu while it waits to become stable */
	mono_t wanted_since; /* never: nothing waits */
};

/* Runs the rule; true where `mtu` changed. Call at every change of input and once a second. */
bool mtu_rule_run(struct mtu_rule *r, const struct mtu_input *in, mono_t now);
