// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * VXLAN over SCLP between a TAP and one peer: what leon-sclp does with frames and segments. Called
 * by main.c, when the TAP or the socket has something; one thread. What is no concern of a kernel
 * is in wire/sclp.h and wire/sclp_join.h, what is one's frame in offload.h.
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
	uint32_t mtu; /* of the way to the peer; 0: what the kernel knows */
};

struct tunnel_counts {
#define COUNT(id, text) uint64_t id;
#include "counters.def"
#undef COUNT
};

struct tunnel;
/* Opens the raw socket; tap_fd is a queue with vnet headers, and stays the caller's.
 * 0 or -errno. */
int tunnel_open(struct tunnel **out, const struct tunnel_conf *conf, int tap_fd);
void tunnel_close(struct tunnel *t); /* NULL ok */
int tunnel_socket(const struct tunnel *t);
/* MTU of the TAP: frames beyond it are handed over as super-frames. */
void tunnel_set_tap_mtu(struct tunnel *t, uint32_t mtu);

/* Takes what waits there, up to a batch. */
void tunnel_from_tap(struct tunnel *t);
void tunnel_from_net(struct tunnel *t, mono_t now);
/* Once a second: what waits for too long is given up. */
void tunnel_tick(struct tunnel *t, mono_t now);
/* One line of JSON. */
void tunnel_print(const struct tunnel *t);
