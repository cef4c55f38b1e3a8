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
#include "ipc/accel_queue.h"
#include "wire/frame/eth.h"
#include "wire/frame/tcp.h"

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

/* --- headers of frames of another accelerator ---
 * Check of the virtio_net_hdr that another accelerator puts before a frame (FOUND, FORWARD). Called
 * by migrated.c. Pure.
 */

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
