// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Changes of state of one connection, see flow_step.h.
 */
#include "flow/flow_step.h"

#include "base/defs.h"

/* Delay after a failed attempt. It doubles with each attempt, up to the maximum. */
#define AGAIN_MS      2000
#define AGAIN_MAX_MS  60000
#define AGAIN_LONGEST 5 /* attempts until the delay is at its maximum */

void flow_init(struct flow *f, const struct flow_ops *ops, const struct accel_key *key, mono_t now)
{
	*f = (struct flow){ .ops = ops, .key = *key, .since = now, .last = now };
	f->near.syn.scale = f->far.syn.scale = TCP_SCALE_UNKNOWN;
}

uint32_t flow_widest(const struct flow *f, const struct flow_end *e)
{
	const struct accel_options *near = &f->near.syn, *far = &f->far.syn;

	if (!flow_knows_scales(f))
		return e->widest
			       ? max_of((uint32_t)e->widest << e->scale_seen, (uint32_t)UINT16_MAX)
			       : 0;
	return (uint32_t)e->widest << (near->scaling && far->scaling ? e->syn.scale : 0);
}

uint32_t flow_window(const struct flow *f, const struct flow_end *e)
{
	if (flow_knows_scales(f))
		return flow_widest(f, e);
	return e->scale_seen ? 0 : e->widest;
}

void flow_set_stream(struct flow *f, uint32_t stream)
{
	uint32_t ended = f->stream;

	f->stream = stream;
	if (ended && ended != stream)
		f->ops->stream_ended(f, ended);
}

void flow_enter(struct flow *f, enum flow_state state, mono_t now)
{
	f->state = state;
	f->since = now;
	f->drain.near_ready = f->drain.far_ready = false;
}

void flow_notify(struct flow *f, uint8_t type)
{
	struct accel_frame m = { .type = type, .stream = f->stream };

	f->ops->notify(f, &m);
}

void flow_notify_point(struct flow *f, uint8_t type)
{
	struct accel_frame m = { .type = type, .stream = f->stream, .at = { f->drain.near_point } };

	f->ops->notify(f, &m);
}

/* Forgets the bytes in flight. The options of the SYNs are still valid. */
static void learn_anew(struct flow *f)
{
	f->near.seen = f->far.seen = false;
	f->blind = false;
}

/* Forwards the held frames. */
static void go_plain(struct flow *f, mono_t now)
{
	flow_enter(f, FLOW_PLAIN, now);
	flow_set_stream(f, 0);
	f->drain.far_point_known = false;
	flow_pass_held(f, f->ops->to_far);
	if (f->blind)
		learn_anew(f);
}

/* Delays the next attempt. A rarely changing reason gives the longest delay. A reason of the whole
 * node gives the shortest delay, because the peer delays all attempts with the node. */
static void try_again_later(struct flow *f, enum accel_refusal reason, mono_t now)
{
	int64_t ms;

	if (reason == ACCEL_NOT_THIS_ONE || reason == ACCEL_FIN_DIFFERS ||
	    reason == ACCEL_OPTIONS_DIFFER)
		f->retry.failed = AGAIN_LONGEST;
	else if (reason == ACCEL_NO_PLACE || reason == ACCEL_NOT_WITH_YOU)
		f->retry.failed = 0;
	ms = AGAIN_MS << min_of(f->retry.failed, (unsigned)AGAIN_LONGEST);
	f->retry.failed++;
	f->retry.not_before = mono_add_ms(now, min_of(ms, (int64_t)AGAIN_MAX_MS));
}

void flow_wait(struct flow *f, mono_t now)
{
	f->retry.not_before = mono_add_ms(now, AGAIN_MS);
}

void flow_failed(struct flow *f, mono_t now)
{
	try_again_later(f, ACCEL_NO_SOCKET, now);
}

void flow_notify_refusal(struct flow *f, uint32_t stream, enum accel_refusal reason)
{
	struct accel_frame no = { .type = ACCEL_REFUSE,
				  .stream = stream,
				  .refuse = { (uint8_t)reason } };

	f->ops->notify(f, &no);
}

bool flow_is_draining(const struct flow *f)
{
	return f->state == FLOW_OFFERED || f->state == FLOW_DRAINING || f->state == FLOW_ACCEPTED;
}

/* It is drained, and only the other node can have committed. */
bool flow_can_be_called_off(const struct flow *f)
{
	return f->state == FLOW_OFFERED || f->state == FLOW_DRAINING;
}

void flow_give_up(struct flow *f, enum accel_refusal reason, mono_t now)
{
	f->ops->give_up(f, FLOW_UNUSED);
	try_again_later(f, reason, now);
	go_plain(f, now);
}

void flow_refuse(struct flow *f, enum accel_refusal reason, mono_t now)
{
	flow_notify_refusal(f, f->stream, reason);
	flow_give_up(f, reason, now);
}

static void close_after_reset(struct flow *f, mono_t now)
{
	flow_enter(f, FLOW_CLOSED, now);
	f->was_reset = true;
	flow_set_stream(f, 0);
}

void flow_reset(struct flow *f, bool notified, mono_t now)
{
	if (f->state == FLOW_PLAIN || f->state == FLOW_CLOSED)
		return;
	if (!notified)
		flow_notify(f, ACCEL_RESET);
	flow_pass_held(f, NULL);
	f->ops->give_up(f, FLOW_RESET);
	close_after_reset(f, now);
}

void flow_fini(struct flow *f)
{
	flow_set_stream(f, 0);
	flow_pass_held(f, NULL);
}

void flow_finish_return(struct flow *f, mono_t now)
{
	uint32_t ts_val = f->ops->proof(f).ts_val;

	if (ts_val) {
		f->far.ts_val = ts_val;
		f->far.ts_at = now;
		f->far.ts_raised = true;
	}
	f->ops->give_up(f, FLOW_RELEASED);
	if (f->ops->leads(f))
		flow_notify(f, ACCEL_RETURN);
	f->far.next = f->drain.far_point;
	f->far.acked = f->drain.near_point;
	f->far.seen = false;
	f->retry.not_before = mono_add_ms(now, AGAIN_MS);
	go_plain(f, now);
}

void flow_cancel(struct flow *f, mono_t now)
{
	if (flow_can_be_called_off(f))
		flow_refuse(f, ACCEL_NOT_NOW, now);
}

bool flow_other_node(struct flow *f)
{
	if (f->state != FLOW_PLAIN && !(f->state == FLOW_CLOSED && f->was_reset))
		return false;
	learn_anew(f);
	return true;
}

void flow_unseen(struct flow *f, mono_t now)
{
	flow_cancel(f, now);
	f->blind = f->state != FLOW_PLAIN;
	if (!f->blind)
		learn_anew(f);
}

void flow_quench(struct flow *f, mono_t now)
{
	flow_pass_held(f, NULL);
	f->last = now;
	close_after_reset(f, now);
}

void flow_closed(struct flow *f, mono_t now)
{
	flow_pass_held(f, f->ops->to_proxy_sock);
	flow_enter(f, FLOW_CLOSED, now);
	flow_set_stream(f, 0);
}

/* A proxy socket does not preserve the position of an urgent byte in the stream. */
bool flow_is_foreign(const struct tcp_view *t)
{
	return t->foreign || t->flags & TCP_URG;
}
