// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: diverts TCP frames to leon-accel, see divert.h. Workers.
 */
#include "fwd/accel/divert.h"

#include <linux/virtio_net.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/defs.h"
#include "fwd/lan/lan_steps.h"
#include "fwd/send/send_steps.h"
#include "fwd/tap/tap_frames.h"
#include "fwd/worker.h"
#include "wire/accel.h"
#include "ipc/accel_queue.h"
#include "wire/datagram/segment.h"
#include "wire/frame/csum.h"
#include "wire/frame/ip.h"
#include "wire/frame/tcp.h"

#define RX_FRAMES 32
/* Offset of a message. With the headers, the offset leaves headroom for the longest LEON header. */
#define HEADROOM 32
_Static_assert(HEADROOM + ACCEL_QUEUE_HDR + ACCEL_VNET_LEN >= SNAP_HDR_LEN_MAX + SEGMENT_TAG_LEN,
	       "room in front");

/* --- to leon-accel --- */

static bool lan_is_dot1ad(const struct worker *w)
{
	return w->snap->lan && w->snap->lan->tag == ETHERTYPE_DOT1AD;
}

/* leon-accel writes one 802.1Q tag only, and set_tag() knows the tag of a filtering bridge only. */
static bool is_whole_tcp(const struct worker *w, const struct eth_view *v)
{
	return v->ip_proto == PROTO_TCP && !v->ip_fragment && v->l4_offset &&
	       !eth_has_two_tags(v) && (v->tag != ETHERTYPE_DOT1AD || lan_is_dot1ad(w));
}

static bool is_for_it(const struct worker *w, uint16_t slot, const struct eth_view *v)
{
	const struct snap_node *node = &w->snap->node[slot];

	return w->io.accel > 0 && slot < w->snap->n_slots && node->accelerated &&
	       !node->accel_bypassed && is_whole_tcp(w, v);
}

static void notify_partial(struct virtio_net_hdr *h, const struct eth_view *v, size_t len)
{
	h->flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	h->csum_start = v->l4_offset;
	h->csum_offset = (uint16_t)(checksum_place(v, len) - v->l4_offset);
}

static void notify_super(struct virtio_net_hdr *h, const struct frame *f)
{
	h->gso_type = f->v.ip_version == 4 ? VIRTIO_NET_HDR_GSO_TCPV4 : VIRTIO_NET_HDR_GSO_TCPV6;
	h->gso_size = f->gso_size;
	h->hdr_len = (uint16_t)(f->v.l4_offset + TCP_HDR_MIN);
}

static bool hand_over_of_tap(struct worker *w, const struct frame *f, uint16_t slot)
{
	struct virtio_net_hdr h = { 0 };

	if (f->gso != FRAME_PLAIN)
		notify_super(&h, f);
	if (f->partial || f->gso != FRAME_PLAIN)
		notify_partial(&h, &f->v, f->len);
	return handover_now(w, ACCEL_LAN, w->snap->node[slot].id, &h, f);
}

/*
 * A full queue sheds the frame to its node as an ordinary frame. The accelerator of the node drops
 * the frames of intercepted connections, so a plain connection is served and an intercepted one
 * loses a frame. The queue sheds nothing towards the LAN. A host with frames from both this path
 * and a proxy socket would acknowledge data that the other proxy socket lacks.
 */
bool accel_from_tap(struct worker *w, const struct frame *f, uint16_t slot)
{
	if (slot == SLOT_NONE || !is_for_it(w, slot, &f->v) || f->gso == FRAME_UNKNOWN_GSO)
		return false;
	if (likely(hand_over_of_tap(w, f, slot)))
		return true;
	count(w, CNT_accel_shed, tso_frames(f));
	return false;
}

void accel_sees(struct worker *w, const struct frame *f)
{
	if (w->io.accel > 0 && is_whole_tcp(w, &f->v) && f->gso != FRAME_UNKNOWN_GSO &&
	    !hand_over_of_tap(w, f, SLOT_SELF))
		drop_many(w, DROP_accel_queue_full, tso_frames(f));
}

bool accel_from_node(struct worker *w, uint16_t slot, const struct delivery *d,
		     const struct eth_view *v, enum fdb_seen seen)
{
	/* FDB_QUIET: the address is frozen at no node, so the table cannot contradict. A host that
	 * moves often is followed, and the frames reach all nodes anyway (decisions/029). */
	bool claim = seen != FDB_KNOWN && seen != FDB_QUIET;

	if (!is_for_it(w, slot, v))
		return false;
	handover_add(w, claim ? ACCEL_CLAIM : ACCEL_NODE, w->snap->node[slot].id, d, v);
	return true;
}

/* Answers with a RST, as a host does for a closed port. The other end of an inter-proxy connection
 * then ends at once. */
static void refuse(struct worker *w, uint16_t slot, const uint8_t *data, size_t len,
		   const struct eth_view *v)
{
	uint8_t frame[TCP_FRAME_MAX], *out;
	struct tcp_segment s;
	struct tcp_view t;
	struct outgoing o = { .node = &w->snap->node[slot], .kind = LEON_ACCEL, .frames = 1 };

	drop(w, DROP_accel_absent);
	if (w->snap->accel_awaited || !o.node->has_path || tcp_parse(data, len, v, &t) < 0 ||
	    !tcp_refusal(v, &t, &s))
		return;
	o.head_len = tcp_make(&s, frame);
	w->tx.class = CLASS_OF_SOCKET;
	out = outgoing_begin(w, &o);
	if (!out)
		return;
	memcpy(out, frame, o.head_len);
	outgoing_end(w, &o, NULL);
}

void accel_from_peer(struct worker *w, const struct arrived *a)
{
	struct delivery d = { .data = a->data, .len = a->len };
	uint8_t *data = a->data;
	size_t len = a->len;
	uint16_t slot = a->slot;
	struct eth_view v;

	if (eth_parse(data, len, &v) < 0) {
		drop(w, DROP_bad_frame);
		return;
	}
	/* The seal authenticates the sender of the datagram, so no member can use the address of
	 * another one. */
	if (!accel_is_between(data, len, &v, w->snap->node[slot].id, w->snap->node[SLOT_SELF].id)) {
		drop(w, DROP_accel_foreign);
		report_accel_foreign(w, slot);
		return;
	}
	if (!w->snap->accelerator || w->io.accel <= 0) {
		refuse(w, slot, data, len, &v);
		return;
	}
	if (unlikely(!marking_arrives(w, data, len, &v, a->ecn)))
		return;
	if (a->flags & LEON_F_CSUM_PARTIAL) {
		if (!checksum_place(&v, len)) {
			drop(w, DROP_bad_frame);
			return;
		}
		d.csum_start = v.l4_offset;
		d.csum_offset = (uint16_t)(checksum_place(&v, len) - v.l4_offset);
	}
	handover_add(w, ACCEL_PEER, w->snap->node[slot].id, &d, &v);
}

/* --- from leon-accel --- */

/* Sends the frame unchanged, a super-frame of `frames` segments as a whole. Waiting frames of the
 * batch are sent first. */
static void write_tap(struct worker *w, struct virtio_net_hdr h, const struct frame *f,
		      unsigned frames)
{
	struct iovec iov[] = { { &h, ACCEL_VNET_LEN }, { f->data, f->len } };

	deliver_flush(w);
	if (unlikely(writev(w->deliver.fd, iov, array_size(iov)) < 0)) {
		drop_many(w, DROP_tap_write_failed, frames);
		return;
	}
	count(w, CNT_tap_tx_frames, 1);
	count(w, CNT_tap_tx_bytes, f->len);
	count(w, CNT_tap_tx_super, f->gso != FRAME_PLAIN);
	count(w, CNT_delivered_frames, frames);
}

static void plain_to_tap(struct worker *w, const struct frame *f)
{
	struct virtio_net_hdr h = { 0 };

	if (f->partial)
		notify_partial(&h, &f->v, f->len);
	if (unlikely(f->partial && w->snap->no_offload.tap_checksum)) {
		checksum_complete(f->data, f->len, h.csum_start, h.csum_offset);
		h = (struct virtio_net_hdr){ 0 };
	}
	write_tap(w, h, f, 1);
}

/* Sends the segments of a super-frame one by one. The headers of a segment replace bytes that are
 * sent already. */
static void segments_to_tap(struct worker *w, const struct frame *f)
{
	uint8_t head[TSO_HDR_MAX];
	struct frame s = *f;
	struct tso t;

	if (tso_open(&t, f, SIZE_MAX) < 0) {
		drop(w, DROP_offload_unsupported);
		return;
	}
	memcpy(head, f->data, t.hdr_len);
	t.frame = head;
	s.gso = FRAME_PLAIN;
	s.partial = true;
	for (unsigned i = 0; i < t.n; i++) {
		s.data = f->data + i * t.size;
		s.len = t.hdr_len + tso_segment(&t, i, s.data).body_len;
		plain_to_tap(w, &s);
	}
}

static void to_tap(struct worker *w, const uint8_t *vnet, const struct frame *f, unsigned frames)
{
	struct virtio_net_hdr h;

	memcpy(&h, vnet, sizeof(h));
	if (f->gso == FRAME_PLAIN)
		plain_to_tap(w, f);
	else if (unlikely(f->gso == FRAME_TCP && w->snap->no_offload.tap_tso))
		segments_to_tap(w, f);
	else
		write_tap(w, h, f, frames);
}

/* Reports whether the source of the frame is a host of another node. The host has moved while its
 * frame was in the queue of leon-accel, and the frame would teach other nodes the former place. */
static bool is_outdated(const struct worker *w, const struct frame *f)
{
	uint16_t known = fdb_lookup(w->snap->fdb, f->v.vlan, f->v.src);

	return known != SLOT_NONE && known != SLOT_SELF;
}

static bool is_reached(struct worker *w, const struct frame *f, uint16_t slot)
{
	if (slot != SLOT_NONE && slot != SLOT_SELF && w->snap->node[slot].has_path)
		return true;
	return drop_many(w, DROP_accel_no_path, tso_frames(f));
}

static void to_node(struct worker *w, struct frame *f, uint16_t slot)
{
	f->class = marking_of_frame(w->snap, f);
	if (f->accel) {
		encap_accel(w, f, slot);
		return;
	}
	if (is_outdated(w, f)) {
		drop_many(w, DROP_accel_outdated, tso_frames(f));
		return;
	}
	if (!translate_out(w, f))
		return;
	clamp(w, f->data, f->len, &f->v, f->partial || f->gso != FRAME_PLAIN, slot);
	f->critical = critical_is(w, f);
	send_unicast(w, f, slot, false, true);
}

/* The node may have left while the frame waited. */
void accel_send(struct worker *w, struct frame *f)
{
	uint16_t slot = snap_find(w->snap, f->to);

	if (is_reached(w, f, slot))
		to_node(w, f, slot);
}

/*
 * Refreshes the FDB entry of the far host. During an interception, the host itself may send no
 * frame for hours. Without a refresh the entry would age, and a restarted leond would not have the
 * entry. Frames to the host would then bypass the accelerator. The entry of a moved host keeps the
 * new node, because leon-accel may not know of the move yet.
 */
static void keep_place(struct worker *w, const struct frame *f, uint16_t slot)
{
	uint16_t known = fdb_lookup(w->snap->fdb, f->v.vlan, f->v.src);

	if (slot != SLOT_NONE && slot != SLOT_SELF && (known == slot || known == SLOT_NONE))
		learn_source(w, &f->v, slot);
}

/* leon-accel writes 802.1Q tags, which a bridge of 802.1ad VLANs takes for payload. */
static void set_tag(const struct worker *w, const struct frame *f)
{
	if (unlikely(lan_is_dot1ad(w)) && f->v.tag == ETHERTYPE_DOT1Q)
		put_u16(f->data + 2 * MAC_LEN, ETHERTYPE_DOT1AD);
}

static void take(struct worker *w, uint8_t *message, size_t len)
{
	uint8_t *vnet = message + ACCEL_QUEUE_HDR;
	unsigned frames;
	uint16_t slot;
	struct frame f;

	if (len < ACCEL_QUEUE_HDR || !tap_rx_decode(vnet, len - ACCEL_QUEUE_HDR, &f)) {
		drop(w, DROP_bad_frame);
		return;
	}
	frames = tso_frames(&f);
	count(w, CNT_accel_out, frames);
	f.to = get_u32(message + 4);
	slot = snap_find(w->snap, f.to);
	if (message[0] != ACCEL_LAN) {
		f.accel = message[0] == ACCEL_PEER;
		if (is_reached(w, &f, slot) && likely(!queue_returned(w, &f, slot)))
			to_node(w, &f, slot);
		return;
	}
	keep_place(w, &f, slot);
	set_tag(w, &f);
	clamp(w, f.data, f.len, &f.v, f.partial, slot);
	to_tap(w, vnet, &f, frames);
}

bool from_accel(struct worker *w, int fd)
{
	size_t used = 0;

	for (unsigned i = 0; i < RX_FRAMES && ACCEL_RX_ARENA - used >= HEADROOM + ACCEL_QUEUE_MAX;
	     i++) {
		uint8_t *message = w->accel_arena + used + HEADROOM;
		ssize_t len = recv(fd, message, ACCEL_QUEUE_MAX, MSG_DONTWAIT);

		if (len <= 0)
			return false;
		take(w, message, (size_t)len);
		used += HEADROOM + (((size_t)len + 15) & ~(size_t)15);
	}
	return true;
}
