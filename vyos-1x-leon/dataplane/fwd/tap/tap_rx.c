// SPDX-License-Identifier: GPL-2.0-or-later
/* Step: reads frames from the TAP. Worker. */
#include "fwd/tap/tap_frames.h"

#include <linux/virtio_net.h>
#include <string.h>
#include <unistd.h>

#include "base/defs.h"
#include "io/tap.h"
#include "state/tables/snap.h"
#include "wire/datagram/segment.h"
#include "wire/frame/csum.h"
#include "wire/frame/ip.h"

_Static_assert(TAP_RX_HEADROOM + TAP_VNET_LEN >= SNAP_HDR_LEN_MAX + SEGMENT_TAG_LEN,
	       "room in front of the frame");

/* The type of a super-frame must match its content. */
static enum frame_gso gso_of(const struct virtio_net_hdr *h, const struct eth_view *v)
{
	bool tcp = v->ip_proto == PROTO_TCP, udp = v->ip_proto == PROTO_UDP;
	bool good = v->l4_offset && !v->ip_fragment && h->gso_size;

	switch (h->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) {
	case VIRTIO_NET_HDR_GSO_NONE:
		return FRAME_PLAIN;
	case VIRTIO_NET_HDR_GSO_TCPV4:
		return good && tcp && v->ip_version == 4 ? FRAME_TCP : FRAME_UNKNOWN_GSO;
	case VIRTIO_NET_HDR_GSO_TCPV6:
		return good && tcp && v->ip_version == 6 ? FRAME_TCP : FRAME_UNKNOWN_GSO;
	case TAP_GSO_UDP_L4:
		return good && udp ? FRAME_UDP : FRAME_UNKNOWN_GSO;
	default:
		return FRAME_UNKNOWN_GSO;
	}
}

bool tap_rx_decode(uint8_t *data, size_t len, struct frame *f)
{
	struct virtio_net_hdr h;

	if (len < TAP_VNET_LEN)
		return false;
	memcpy(&h, data, sizeof(h));
	f->data = data + TAP_VNET_LEN;
	f->len = len - TAP_VNET_LEN;
	if (eth_parse(f->data, f->len, &f->v) < 0)
		return false;
	f->gso = gso_of(&h, &f->v);
	f->gso_size = h.gso_size;
	f->partial = f->segment = false;
	f->accel = f->first_lost = false;
	f->to = NODE_ID_NONE;
	if (f->gso != FRAME_PLAIN || !(h.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM))
		return true;
	/* The receiver finds the checksum by parsing. If it would find another position (a tunnel,
	 * a protocol unknown to eth_parse()), the sum is completed here. */
	f->partial = checksum_place(&f->v, f->len) == h.csum_start + (size_t)h.csum_offset &&
		     h.csum_start == f->v.l4_offset;
	return f->partial || checksum_complete(f->data, f->len, h.csum_start, h.csum_offset);
}

struct tap_rx_result tap_rx_read(struct tap_rx *rx, int fd)
{
	struct tap_rx_result r = { 0 };
	size_t used = 0;

	rx->n = 0;
	while (rx->n < TAP_RX_FRAMES && TAP_RX_ARENA - used >= TAP_RX_HEADROOM + TAP_RX_FRAME_MAX) {
		struct frame *f = &rx->frame[rx->n];
		ssize_t len = read(fd, rx->arena + used + TAP_RX_HEADROOM, TAP_RX_FRAME_MAX);

		if (len <= 0)
			return r;
		r.bytes += max_of((size_t)len, (size_t)TAP_VNET_LEN) - TAP_VNET_LEN;
		if (!tap_rx_decode(rx->arena + used + TAP_RX_HEADROOM, (size_t)len, f)) {
			r.bad++;
			/* Counts malformed frames, so that a stream of them cannot occupy the
			 * worker. */
			if (r.bad > TAP_RX_FRAMES)
				break;
			continue;
		}
		r.super += f->gso != FRAME_PLAIN;
		used += TAP_RX_HEADROOM + (((size_t)len + 15) & ~(size_t)15);
		rx->n++;
		if (f->gso != FRAME_PLAIN && used >= TAP_RX_SUPER)
			break;
	}
	r.more = true;
	return r;
}
