// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checksums and super-frames of the TAP, see offload.h.
 */
#include "offload.h"

#include <linux/virtio_net.h>
#include <string.h>

#include "base/addr.h"
#include "wire/bytes.h"
#include "wire/frame/csum.h"
#include "wire/frame/eth.h"
#include "wire/frame/ip.h"

#define FIRST_FLOW_PORT 49152
#define FLOW_PORTS	16384

bool offload_complete(const struct virtio_net_hdr *h, uint8_t *frame, size_t len)
{
	/* The checksum field holds the sum of the pseudo-header, which the checksum must
	 * include. */
	return !(h->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) ||
	       checksum_complete(frame, len, h->csum_start, h->csum_offset);
}

/* Returns the end of the IP packet in the frame, 0 if the packet does not fit into the frame. */
static size_t ip_end(const uint8_t *ip, const struct eth_view *v, size_t len)
{
	size_t n = v->ip_version == 4 ? get_u16(ip + V4_LENGTH)
				      : V6_HDR_LEN + (size_t)get_u16(ip + V6_LENGTH);

	return v->l3_offset + n <= len ? v->l3_offset + n : 0;
}

void offload_describe(struct virtio_net_hdr *h, uint8_t *frame, size_t len, uint32_t mtu)
{
	struct eth_view v;
	uint8_t *tcp;
	size_t end, hdr_len;

	*h = (struct virtio_net_hdr){ 0 };
	if (eth_parse(frame, len, &v) < 0 || len - v.l3_offset <= mtu || v.ip_proto != PROTO_TCP ||
	    !v.l4_offset || v.ip_fragment)
		return;
	tcp = frame + v.l4_offset;
	end = ip_end(frame + v.l3_offset, &v, len);
	if (end < v.l4_offset + (size_t)TCP_HDR_MIN)
		return;
	hdr_len = v.l4_offset + (size_t)(tcp[TCP_DOFF] >> 4) * 4;
	if (hdr_len >= end || hdr_len - v.l3_offset >= mtu)
		return;
	h->flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	h->gso_type = v.ip_version == 4 ? VIRTIO_NET_HDR_GSO_TCPV4 : VIRTIO_NET_HDR_GSO_TCPV6;
	h->hdr_len = (uint16_t)hdr_len;
	h->gso_size = (uint16_t)(mtu - (hdr_len - v.l3_offset));
	h->csum_start = v.l4_offset;
	h->csum_offset = TCP_CHECKSUM;
	put_u16(tcp + TCP_CHECKSUM,
		checksum_pseudo(frame + v.l3_offset, v.ip_version, PROTO_TCP, end - v.l4_offset));
}

uint16_t offload_flow_port(const uint8_t *frame, size_t len)
{
	uint64_t hash = 0;
	struct eth_view v;

	if (eth_parse(frame, len, &v) < 0)
		return FIRST_FLOW_PORT;
	hash = hash_mix64(mac_to_u64(v.dst)) ^ hash_mix64(mac_to_u64(v.src) + v.vlan);
	for (size_t i = 0; v.ip_version && i < (v.ip_version == 4 ? 2u * V4_LEN : 2u * V6_LEN);
	     i += 4)
		hash = hash_mix64(hash ^ get_u32(frame + v.l3_offset +
						 (v.ip_version == 4 ? V4_SRC : V6_SRC) + i));
	if (v.l4_offset && (v.ip_proto == PROTO_TCP || v.ip_proto == PROTO_UDP) &&
	    len >= v.l4_offset + 4u)
		hash = hash_mix64(hash ^ get_u32(frame + v.l4_offset));
	return (uint16_t)(FIRST_FLOW_PORT + hash % FLOW_PORTS);
}
