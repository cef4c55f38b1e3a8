// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Frames of both hosts of one connection, see flow.h.
 */
#include "flow/flow.h"
#include "flow/flow_step.h"

static void track(struct flow *f, struct flow_end *e, const struct flow_frame *frame, mono_t now)
{
	const struct tcp_view *t = frame->t;

	/* A proxy socket cannot make progress with SYN or RST segments. */
	if (f->state != FLOW_PLAIN && t->flags & (TCP_SYN | TCP_RST))
		return;
	f->foreign |= flow_is_foreign(t);
	if (t->flags & TCP_SYN) {
		/* The first segment of a connection makes earlier knowledge invalid. */
		if (!(t->flags & TCP_ACK)) {
			f->foreign = flow_is_foreign(t);
			f->retry.failed = 0;
			f->retry.not_before = (mono_t){ 0 };
			flow_end_begin(e == &f->near ? &f->far : &f->near);
		}
		flow_end_syn(e, t, now);
		return;
	}
	flow_end_receive(e, t, now);
	flow_end_took(e, t, frame->gso_size);
	flow_end_see_window(&f->near, &f->far);
}

/* A repeated SYN: a round trip of a second is as long as its timer. */
static bool is_old_syn(const struct flow_end *e, const struct tcp_view *t)
{
	return !(t->flags & TCP_RST) && e->began && e->start == t->end;
}

/* A new connection, or the end of the drained connection. The frame passes. */
static void ends_draining(struct flow *f, const struct flow_end *e, const struct flow_frame *frame,
			  mono_t now)
{
	if (!flow_is_draining(f) || !(frame->t->flags & (TCP_RST | TCP_SYN)) ||
	    is_old_syn(e, frame->t))
		return;
	flow_notify(f, ACCEL_RESET);
	flow_give_up(f, ACCEL_NOT_NOW, now);
}

/* The addresses of a closed connection may be used by a new one. */
static void reopen(struct flow *f, const struct tcp_view *t, mono_t now)
{
	if (f->state != FLOW_CLOSED || (t->flags & (TCP_SYN | TCP_ACK)) != TCP_SYN)
		return;
	f->was_reset = f->blind = false;
	flow_enter(f, FLOW_PLAIN, now);
}

/* Called before the frame is forwarded. */
static void meet_foreign(struct flow *f, const struct flow_frame *frame, mono_t now)
{
	if (f->foreign || !flow_is_foreign(frame->t) || frame->t->flags & (TCP_SYN | TCP_RST))
		return;
	f->foreign = true;
	flow_cancel(f, now);
	flow_returns(f, now);
}

static pass_fn pass_from_near(const struct flow *f)
{
	if (f->state == FLOW_CLOSED && f->was_reset)
		return f->ops->refuse_near;
	if (f->state == FLOW_PLAIN || flow_is_draining(f))
		return f->ops->to_far;
	return f->ops->to_proxy_sock;
}

static bool is_held(const struct flow *f, const struct tcp_view *t)
{
	bool holds = flow_is_draining(f) || f->state == FLOW_RELEASING ||
		     (f->state == FLOW_INTERCEPTED && f->foreign);

	return holds && !(t->flags & (TCP_RST | TCP_SYN)) &&
	       seq_before(f->drain.near_point, t->end);
}

void flow_from_near(struct flow *f, const struct flow_frame *frame, mono_t now)
{
	pass_fn way;

	f->last = now;
	f->near.mac = frame->v->src;
	f->far.mac = frame->v->dst;
	if (frame->t->flags & TCP_ACK)
		f->proof.spoke = now;
	reopen(f, frame->t, now);
	ends_draining(f, &f->near, frame, now);
	meet_foreign(f, frame, now);
	way = pass_from_near(f);
	if (is_held(f, frame->t)) {
		flow_end_receive(&f->near, frame->t, now);
		flow_hold_beyond(f, frame, way);
	} else {
		track(f, &f->near, frame, now);
		way(f, frame);
	}
	flow_step(f, now);
}

/* The leader has released the connection, and the message is still in transit. Without all data of
 * the near host, the leader cannot have released, and its full queue has shed the frame. */
static bool is_returned(struct flow *f, const struct tcp_view *t)
{
	return f->state == FLOW_RELEASING && !f->ops->leads(f) && f->drain.near_ready &&
	       seq_before(f->drain.far_point, t->end) && f->ops->is_sent(f);
}

/* The near host has the TSval of the released proxy socket, and discards a segment with an older
 * one (PAWS). The clock of the far host may have paused, as in a suspended virtual machine. */
static void raise_ts(struct flow *f, const struct flow_frame *frame)
{
	const struct tcp_view *t = frame->t;

	if (!f->far.ts_raised || !t->has_ts || t->flags & TCP_SYN)
		return;
	f->far.ts_raised = seq_before(t->ts_val, f->far.ts_val);
	flow_raise_ts(frame, f->far.ts_val);
}

uint32_t flow_acknowledges(const struct flow *f, const struct tcp_view *t)
{
	bool is_plain = f->state == FLOW_PLAIN || flow_is_draining(f);

	if (!is_plain || !f->far.seen || !(t->flags & TCP_ACK) || !seq_before(f->far.acked, t->ack))
		return 0;
	return t->ack - f->far.acked;
}

void flow_from_far(struct flow *f, const struct flow_frame *frame, mono_t now)
{
	f->last = now;
	reopen(f, frame->t, now);
	ends_draining(f, &f->far, frame, now);
	if (is_returned(f, frame->t))
		flow_finish_return(f, now);
	if (f->state == FLOW_CLOSED && f->was_reset)
		f->ops->refuse_far(f, frame);
	/* A late copy of acknowledged data. */
	if (f->state != FLOW_PLAIN && !flow_is_draining(f))
		return;
	raise_ts(f, frame);
	track(f, &f->far, frame, now);
	if (f->foreign)
		flow_cancel(f, now);
	f->ops->to_near(f, frame);
	flow_step(f, now);
}
