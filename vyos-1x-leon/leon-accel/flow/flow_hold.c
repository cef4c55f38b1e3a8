// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of held frames of one connection. */
#include "flow/flow_step.h"

#include <linux/virtio_net.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/defs.h"
#include "base/mem.h"
#include "ipc/accel_queue.h"

#define MADE_MAX (TCP_FRAME_MAX + 65536)

struct waiting {
	struct waiting *prev, *next;
	size_t message_len, data_at, len;
	uint16_t gso_size;
	struct eth_view v;
	struct tcp_view t;
	uint8_t message[];
};

static void hold(struct flow *f, const struct flow_frame *frame)
{
	struct waiting *h;

	/* A frame beyond the limit is lost, as on any full queue. The host still has the data. */
	if (!f->ops->may_hold(f, (int64_t)frame->message_len))
		return;
	h = x_calloc(1, sizeof(*h) + frame->message_len);
	h->message_len = frame->message_len;
	h->data_at = (size_t)(frame->data - frame->message);
	h->len = frame->len;
	h->gso_size = frame->gso_size;
	h->v = *frame->v;
	h->t = *frame->t;
	memcpy(h->message, frame->message, frame->message_len);
	DL_APPEND(f->held, h);
}

unsigned flow_n_held(const struct flow *f)
{
	unsigned n = 0;

	for (const struct waiting *h = f->held; h; h = h->next)
		n++;
	return n;
}

uint32_t flow_held(const struct flow *f)
{
	uint32_t end = f->drain.near_point;

	for (const struct waiting *h = f->held; h; h = h->next)
		if (seq_before(end, h->t.end))
			end = h->t.end;
	return end - f->drain.near_point;
}

void flow_raise_ts(const struct flow_frame *frame, uint32_t ts_val)
{
	struct virtio_net_hdr vnet;

	memcpy(&vnet, frame->message + ACCEL_QUEUE_HDR, sizeof(vnet));
	tcp_raise_ts(frame->data, frame->v, frame->t, ts_val,
		     vnet.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM);
}

void flow_pass_held(struct flow *f, pass_fn way)
{
	struct waiting *h = f->held, *next;

	f->held = NULL;
	for (; h; h = next) {
		struct flow_frame frame = { h->message, h->message_len, h->message + h->data_at,
					    h->len,	h->gso_size,	&h->v,
					    &h->t };

		next = h->next;
		f->ops->may_hold(f, -(int64_t)h->message_len);
		if (way) {
			flow_end_took(&f->near, &h->t, h->gso_size);
			/* Acknowledgements and retransmissions have overtaken the frame, and the
			 * receiver discards a segment with an older TSval (PAWS, RFC 7323 section
			 * 5). An RTT that the host derives from TSecr lacks the time of the
			 * hold. */
			flow_raise_ts(&frame, f->near.ts_val);
			way(f, &frame);
		}
		free(h);
	}
}

void flow_hold_beyond(struct flow *f, const struct flow_frame *frame, pass_fn way)
{
	static uint8_t made[MADE_MAX]; /* single-threaded */
	const struct tcp_view *t = frame->t;
	bool straddles = seq_before(t->seq, f->drain.near_point);
	size_t keep = straddles ? f->drain.near_point - t->seq : 0;
	struct flow_frame rest = { .data = made, .v = frame->v, .t = t };

	hold(f, frame);
	if (frame->gso_size)
		keep = min_of(keep, (size_t)frame->gso_size);
	rest.len = tcp_cut(frame->data, frame->v, t, straddles ? t->seq : f->drain.near_point, keep,
			   made, sizeof(made));
	if (rest.len)
		way(f, &rest);
}
