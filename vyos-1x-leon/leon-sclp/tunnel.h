// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * VXLAN over SCLP between a TAP and one peer. main.c calls this module if the TAP or the socket is
 * readable; one thread. leon-sclp/format/sclp.h and leon-sclp/format/sclp_join.h hold the code
 * without kernel interfaces, offload.h the checksums of frames.
 */
#pragma once

#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"

#define VXLAN_PORT 4789
#define VNI_MAX	   0xffffff

struct tunnel_conf {
	struct ip_addr local, peer;
	uint32_t vni;
	uint16_t port;
	uint32_t mtu; /* of the path to the peer; 0: use the kernel's */
};

struct tunnel_counts {
#define COUNT(id, text) uint64_t id;
#include "counters.def"
#undef COUNT
};

struct tunnel;
/* Opens the raw socket. tap_fd is a queue with vnet headers and stays property of the caller.
 * Returns 0 or -errno. */
int tunnel_open(struct tunnel **out, const struct tunnel_conf *conf, int tap_fd);
void tunnel_close(struct tunnel *t); /* NULL ok */
int tunnel_socket(const struct tunnel *t);
/* Sets the MTU of the TAP. Longer frames are delivered as super-frames. */
void tunnel_set_tap_mtu(struct tunnel *t, uint32_t mtu);

/* Reads up to one batch. */
void tunnel_from_tap(struct tunnel *t);
void tunnel_from_net(struct tunnel *t, mono_t now);
/* Runs once a second and drops incomplete payloads that exceeded their time. */
void tunnel_tick(struct tunnel *t, mono_t now);
/* Writes the counters as one line of JSON. */
void tunnel_print(const struct tunnel *t);
