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

#define PROTO_TCP	6
#define PROTO_UDP	17
#define TCP_HDR_MIN	20
#define TCP_CHECKSUM	16
#define V4_ADDRESSES	12
#define V6_ADDRESSES	8
#define V6_HDR_LEN	40
#define FIRST_FLOW_PORT 49152
#define FLOW_PORTS	16384

bool offload_complete(const struct virtio_net_hdr *h, uint8_t *frame, size_t len)
{
	size_t at = (size_t)h->csum_start + h->csum_offset;
	uint16_t sum;

	if (!(h->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM))
		return true;
	if (h->csum_start > len || at + 2 > len)
		return false;
	/* The checksum field holds the sum of the pseudo-header, which the checksum must
	 * include. */
	sum = (uint16_t)~csum_fold(csum_add(0, frame + h->csum_start, len - h->csum_start));
	/* A checksum of zero means "no checksum" in UDP (RFC 768). */
	put_u16(frame + at, sum ? sum : 0xffff);
	return true;
}

static uint16_t pseudo_sum(const uint8_t *ip, const struct eth_view *v, size_t tcp_len)
{
	bool v4 = v->ip_version == 4;
	uint32_t sum = csum_add((uint32_t)(PROTO_TCP + (tcp_len & 0xffff) + (tcp_len >> 16)),
				ip + (v4 ? V4_ADDRESSES : V6_ADDRESSES), v4 ? 8 : 32);

	return csum_fold(sum);
}

/* Returns the end of the IP packet in the frame, 0 if the packet does not fit into the frame. */
static size_t ip_end(const uint8_t *ip, const struct eth_view *v, size_t len)
{
	size_t n = v->ip_version == 4 ? get_u16(ip + 2) : V6_HDR_LEN + (size_t)get_u16(ip + 4);

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
	hdr_len = v.l4_offset + (size_t)(tcp[12] >> 4) * 4;
	if (hdr_len >= end || hdr_len - v.l3_offset >= mtu)
		return;
	h->flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	h->gso_type = v.ip_version == 4 ? VIRTIO_NET_HDR_GSO_TCPV4 : VIRTIO_NET_HDR_GSO_TCPV6;
	h->hdr_len = (uint16_t)hdr_len;
	h->gso_size = (uint16_t)(mtu - (hdr_len - v.l3_offset));
	h->csum_start = v.l4_offset;
	h->csum_offset = TCP_CHECKSUM;
	put_u16(tcp + TCP_CHECKSUM, pseudo_sum(frame + v.l3_offset, &v, end - v.l4_offset));
}

uint16_t offload_flow_port(const uint8_t *frame, size_t len)
{
	uint64_t hash = 0;
	struct eth_view v;

	if (eth_parse(frame, len, &v) < 0)
		return FIRST_FLOW_PORT;
	hash = hash_mix64(mac_to_u64(v.dst)) ^ hash_mix64(mac_to_u64(v.src) + v.vlan);
	for (size_t i = 0; v.ip_version && i < (v.ip_version == 4 ? 8u : 32u); i += 4)
		hash = hash_mix64(hash ^
				  get_u32(frame + v.l3_offset +
					  (v.ip_version == 4 ? V4_ADDRESSES : V6_ADDRESSES) + i));
	if (v.l4_offset && (v.ip_proto == PROTO_TCP || v.ip_proto == PROTO_UDP) &&
	    len >= v.l4_offset + 4u)
		hash = hash_mix64(hash ^ get_u32(frame + v.l4_offset));
	return (uint16_t)(FIRST_FLOW_PORT + hash % FLOW_PORTS);
}
