// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * VXLAN over SCLP between a TAP and one peer. main.c calls this module if the TAP or the socket is
 * readable; one thread. leon-sclp/format/sclp.h holds the code without kernel interfaces.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "format/sclp.h"

struct virtio_net_hdr;

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
 * Returns the descriptor of the socket, to be polled, or -errno. */
int tunnel_open(struct tunnel **out, const struct tunnel_conf *conf, int tap_fd);
void tunnel_close(struct tunnel *t); /* NULL ok */
/* Sets the MTU of the TAP. Longer frames are delivered as super-frames. */
void tunnel_set_tap_mtu(struct tunnel *t, uint32_t mtu);

/* Reads up to one batch. */
void tunnel_from_tap(struct tunnel *t);
void tunnel_from_net(struct tunnel *t, mono_t now);
/* Runs once a second and drops incomplete payloads that exceeded their time. */
void tunnel_tick(struct tunnel *t, mono_t now);
/* Writes the counters as one line of JSON. */
void tunnel_print(const struct tunnel *t);

/* --- checksums and super-frames ---
 * Conversion between frames of the kernel's TAP and complete frames of the wire. The TAP leaves
 * checksums and TCP segmentation to its reader. Pure; works on the vnet header in front of each
 * frame. leon-sclp only.
 */

/* Fills in the transport checksum that the kernel left out. Returns false if the header is
 * invalid. */
bool offload_complete(const struct virtio_net_hdr *h, uint8_t *frame, size_t len);
/* Builds the vnet header for a received frame. A TCP frame beyond the MTU becomes a super-frame
 * with the checksum of its pseudo-header, and the kernel completes the checksum of each segment. */
void offload_describe(struct virtio_net_hdr *h, uint8_t *frame, size_t len, uint32_t mtu);
/* Returns a source port from the flow, as VXLAN does. The port is never below 49152. */
uint16_t offload_flow_port(const uint8_t *frame, size_t len);

/* --- raw.c ---
 * A raw socket of IP protocol 234 to one peer, IPv4 or IPv6. Segments go out with the DF bit and
 * are never fragmented by IP. leon-sclp only; one thread.
 */

#define RAW_BATCH      64
#define RAW_PACKET_MAX 9216 /* a jumbo frame */

struct raw;
/* Opens the socket. Returns the descriptor or -errno. With mtu 0 the path MTU of the kernel
 * applies. */
int raw_open(struct raw **out, const struct ip_addr *local, const struct ip_addr *peer,
	     uint32_t mtu);
void raw_close(struct raw *r); /* NULL ok */
/* Reads the path MTU of the kernel again, which may have increased. */
void raw_ask_mtu(struct raw *r);
/* Returns the largest payload of a segment that fits into the path MTU. */
size_t raw_mss(struct raw *r);

/* Sends at most RAW_BATCH segments, each a header and a part of a payload. Returns the number that
 * the kernel accepted. */
struct raw_out {
	uint8_t hdr[SCLP_HDR_LEN];
	const uint8_t *data;
	size_t len;
};
unsigned raw_send(struct raw *r, const struct raw_out *seg, unsigned n);

/* Receives up to RAW_BATCH segments without IP header and padding: `data` and `len` include the
 * SCLP header. Returns their number, and in *n_bad the number of packets without a segment. The
 * segments are valid until the next call. */
unsigned raw_receive(struct raw *r, struct sclp_segment *seg, unsigned *n_bad);
