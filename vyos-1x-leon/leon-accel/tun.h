// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A TAP in the namespace of leon-accel: to its kernel it is a LAN on which everybody is reachable
 * and everything that comes is for this host. One for the carriers, one for each VLAN in which
 * connections are taken. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "io/netlink.h"
#include "io/tap.h"

struct tun {
	struct tap tap;
	struct mac mac;
};

/* For stand-ins: packets to whatever address are local. 0 or -errno. */
int tun_open_lan(struct tun *t, struct nl *nl, const char *name, uint32_t metric);
/* For carriers, with an address of its own. Its MTU is the largest that any may have. */
int tun_open_carrier(struct tun *t, struct nl *nl, const char *name, const struct ip_addr *own,
		     uint8_t prefix_len);
void tun_close(struct tun *t);
/* Carriers to it send packets of so many bytes at most, from now on, also those that exist; a new
 * one begins with so many segments. 0 or -errno. */
int tun_fit_route(struct tun *t, struct nl *nl, const struct ip_addr *to, uint32_t mtu,
		  uint32_t first_segments);

/*
 * Writes an IP packet of a message (vnet header, frame) to the kernel here, as if it had come
 * untagged and for this device. l3: offset of the IP header in the frame.
 */
bool tun_write(const struct tun *t, const uint8_t *vnet, const uint8_t *frame, size_t len,
	       uint16_t l3);

/* Settings of the namespace that carriers and stand-ins want; what cannot be set stays. */
void tun_tune(void);
