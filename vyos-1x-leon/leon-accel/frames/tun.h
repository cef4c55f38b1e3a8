// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A TAP in the namespace of leon-accel. For the kernel, the TAP is a LAN with every address
 * reachable, and every received packet is local. The inter-proxy connections share a TAP. Each VLAN
 * with intercepted connections has another TAP. Single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "io/netlink/netlink.h"
#include "io/tap.h"

struct tun {
	struct tap tap;
	struct mac mac;
};

/* For proxy sockets: packets to every address are local. number: the routing table of received
 * packets and the metric of the default route, each of this LAN only. Returns 0 or -errno. */
int tun_open_lan(struct tun *t, struct nl *nl, const char *name, uint32_t number);
/* For inter-proxy connections, with an own address. Its MTU is the upper limit of all routes. */
int tun_open_interproxy(struct tun *t, struct nl *nl, const char *name, const struct ip_addr *own,
			uint8_t prefix_len);
void tun_close(struct tun *t);
/* Sets the MTU of the route to a node, for new and existing connections, and the initial window of
 * new ones. Returns 0 or -errno. */
int tun_fit_route(struct tun *t, struct nl *nl, const struct ip_addr *to, uint32_t mtu,
		  uint32_t first_segments);

/*
 * Writes the IP packet of a message (vnet header, frame) to the kernel, untagged and addressed to
 * this device. l3: offset of the IP header in the frame.
 */
bool tun_write(const struct tun *t, const uint8_t *vnet, const uint8_t *frame, size_t len,
	       uint16_t l3);

/* Sets the sysctls of the namespace for inter-proxy connections and proxy sockets. A failure leaves
 * the value unchanged. */
void tun_tune(void);
