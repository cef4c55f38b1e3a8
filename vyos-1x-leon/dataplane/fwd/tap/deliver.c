// SPDX-License-Identifier: GPL-2.0-or-later
/* Steps: frames to the TAP, and messages for leon-accel. Workers. */
#include "fwd/tap/tap_frames.h"

#include <linux/sockios.h>
#include <linux/virtio_net.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/defs.h"
#include "base/log.h"
#include "fwd/worker.h"

static void write_unit(struct worker *w, unsigned i)
{
	const struct coalesce_unit *u = &w->deliver.batch.unit[i];
	struct virtio_net_hdr h;
	struct iovec iov[1 + COALESCE_IOV];
	unsigned n = coalesce_gather(&w->deliver.batch, i, &h, iov + 1);
	ssize_t len;

	iov[0] = (struct iovec){ &h, sizeof(h) };
	len = writev(w->deliver.fd, iov, (int)n + 1);
	if (unlikely(len < 0)) {
		drop_many(w, DROP_tap_write_failed, u->n);
		return;
	}
	count(w, CNT_tap_tx_frames, 1);
	count(w, CNT_tap_tx_bytes, (uint64_t)len - sizeof(h));
	count(w, CNT_tap_tx_super, u->n > 1);
	count(w, CNT_delivered_frames, u->n);
}

/* `keep`: a reassembled frame outside the batch, or NULL. */
static void flush(struct worker *w, const uint8_t *keep)
{
	for (unsigned i = 0; i < w->deliver.batch.n_units; i++)
		write_unit(w, i);
	coalesce_reset(&w->deliver.batch);
	if (unlikely(handover_waits(&w->handover)))
		handover_flush(w);
	/* Reassembled frames stay in their buffers until here. */
	reasm_reap(w->reasm, keep);
}

void deliver_flush(struct worker *w)
{
	flush(w, NULL);
}

void deliver_add(struct worker *w, const struct delivery *d, const struct eth_view *v)
{
	if (likely(coalesce_add(&w->deliver.batch, d, v)))
		return;
	flush(w, d->data);
	if (!coalesce_add(&w->deliver.batch, d, v))
		bug("an empty batch takes no frame");
}

/* --- frames for leon-accel --- */

_Static_assert(ACCEL_VNET_LEN == sizeof(struct virtio_net_hdr), "vnet header");

/* Frames of hosts fill a half of the queue. In the other half, the packets of inter-proxy
 * connections are not lost to these frames, so an overload does not end the connections. */
static bool has_room(const struct worker *w, enum accel_where where)
{
	int queued = 0;

	return where == ACCEL_PEER || ioctl(w->io.accel, SIOCOUTQ, &queued) < 0 ||
	       queued < ACCEL_QUEUE_BYTES / 2;
}

/* Sends a message; iov[0] is free for the headers, and n includes it. Returns false if the queue is
 * full. */
static bool send_message(struct worker *w, enum accel_where where, node_id_t node,
			 const struct virtio_net_hdr *vnet, struct iovec *iov, size_t n,
			 unsigned frames)
{
	uint8_t header[ACCEL_QUEUE_HDR + ACCEL_VNET_LEN];
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = n };

	accel_queue_put(header, where, node);
	memcpy(header + ACCEL_QUEUE_HDR, vnet, ACCEL_VNET_LEN);
	iov[0] = (struct iovec){ header, sizeof(header) };
	if (unlikely(!has_room(w, where) ||
		     sendmsg(w->io.accel, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0))
		return false;
	count(w, CNT_accel_in, frames);
	return true;
}

static void send_unit(struct worker *w, unsigned i)
{
	struct handover *h = &w->handover;
	struct iovec iov[1 + COALESCE_IOV];
	struct virtio_net_hdr vnet;
	unsigned n = coalesce_gather(&h->batch, i, &vnet, iov + 1);
	unsigned frames = h->batch.unit[i].n;

	if (send_message(w, h->where, h->node, &vnet, iov, n + 1, frames))
		count(w, CNT_accel_in_super, frames > 1);
	else
		drop_many(w, DROP_accel_queue_full, frames);
}

void handover_flush(struct worker *w)
{
	struct coalesce *batch = &w->handover.batch;

	for (unsigned i = 0; i < batch->n_units; i++)
		send_unit(w, i);
	coalesce_reset(batch);
}

bool handover_now(struct worker *w, enum accel_where where, node_id_t node,
		  const struct virtio_net_hdr *vnet, const struct frame *f)
{
	struct iovec iov[] = { { 0 }, { f->data, f->len } };

	if (handover_waits(&w->handover))
		handover_flush(w);
	return send_message(w, where, node, vnet, iov, array_size(iov), tso_frames(f));
}

void handover_add(struct worker *w, enum accel_where where, node_id_t node,
		  const struct delivery *d, const struct eth_view *v)
{
	struct handover *h = &w->handover;

	if (handover_waits(h) && (h->where != where || h->node != node))
		handover_flush(w);
	h->where = where;
	h->node = node;
	if (likely(coalesce_add(&h->batch, d, v)))
		return;
	handover_flush(w);
	if (!coalesce_add(&h->batch, d, v))
		bug("an empty batch takes no frame");
}
