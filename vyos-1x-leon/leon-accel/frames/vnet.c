// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Headers of frames of another accelerator, see vnet.h.
 */
#include "frames/vnet.h"

#include <linux/virtio_net.h>
#include <string.h>

_Static_assert(ACCEL_VNET_LEN == sizeof(struct virtio_net_hdr), "vnet header");

/* A super-frame has a partial checksum, because each segment gets a checksum later. */
static bool is_super(const struct virtio_net_hdr *h, const struct eth_view *v,
		     const struct tcp_view *t)
{
	uint8_t type = v->ip_version == 4 ? VIRTIO_NET_HDR_GSO_TCPV4 : VIRTIO_NET_HDR_GSO_TCPV6;

	return (h->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) == type &&
	       h->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM && h->gso_size &&
	       t->payload_len <= (uint32_t)VNET_SEGMENTS_MAX * h->gso_size;
}

bool vnet_renew(uint8_t vnet[ACCEL_VNET_LEN], const struct eth_view *v, const struct tcp_view *t)
{
	struct virtio_net_hdr had, h = { 0 };

	memcpy(&had, vnet, sizeof(had));
	if (had.flags & ~(VIRTIO_NET_HDR_F_NEEDS_CSUM | VIRTIO_NET_HDR_F_DATA_VALID))
		return false;
	if (had.gso_type != VIRTIO_NET_HDR_GSO_NONE && !is_super(&had, v, t))
		return false;
	/* One segment is no super-frame. */
	if (had.gso_type != VIRTIO_NET_HDR_GSO_NONE && had.gso_size < t->payload_len) {
		h.gso_type = had.gso_type;
		h.gso_size = had.gso_size;
		h.hdr_len = (uint16_t)(v->l4_offset + t->hdr_len);
	}
	if (had.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) {
		h.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
		h.csum_start = v->l4_offset;
		h.csum_offset = TCP_CHECKSUM;
	}
	memcpy(vnet, &h, sizeof(h));
	return true;
}
