// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps of one connection, see flow.h. Every message with a change of state goes over the
 * inter-proxy connection, which neither loses nor reorders. Only the offering node commits. The two
 * nodes disagree only while a message is in transit. Frames during the transit are retransmissions.
 */
#include "flow/flow.h"

#include "flow/flow_step.h"
#include "base/defs.h"

#define DRAIN_RTTS    3
#define DRAIN_MIN_MS  500
#define RETURN_MAX_MS 20000
#define KEPT_MS	      60000 /* doubles with each failed release, KEPT_TIMES times */
#define KEPT_TIMES    3
#define PROOF_MIN_MS  1000
#define PROOF_TRIES   2 /* a segment to the kernel may be lost */
#define RETRIES_MIN   2

/* Makes the proxy socket, which begins in front of a FIN that both nodes saw. The proxy socket of
 * the other host repeats the FIN, so each socket reaches the correct state. Refuses the connection
 * and returns false without a socket, or if `reason` is a difference to the view of the other
 * node. */
static bool make_proxy_sock(struct flow *f, enum accel_refusal reason,
			    const struct accel_view *theirs, mono_t now)
{
	if (reason == ACCEL_NOT_NOW) {
		agree_learn(&f->near, &f->far, theirs);
		f->near_start = f->drain.near_point - f->near.fin;
		f->far_start = f->drain.far_point - f->far.fin;
		if (f->ops->proxy_sock(f) == 0)
			return true;
		reason = ACCEL_NO_SOCKET;
	}
	flow_refuse(f, reason, now);
	return false;
}

static void begin_intercepted(struct flow *f, mono_t now)
{
	f->retry = (struct flow_retry){ 0 };
	flow_enter(f, FLOW_INTERCEPTED, now);
	f->proof.proved = false;
	f->proof.watched = (mono_t){ 0 };
	f->proof.unproved = 0;
	f->proof.retries = 0;
	if (!f->ops->start(f))
		flow_reset(f, false, now);
	else if (!flow_returns(f, now))
		flow_pass_held(f, f->ops->to_proxy_sock);
}

static void notify_view(struct flow *f, uint8_t type)
{
	struct accel_frame m = { .type = type, .stream = f->stream };

	m.offer.key = f->key;
	m.offer.view = agree_view(&f->near, &f->far);
	f->ops->notify(f, &m);
}

/* Both points are known: a host has acknowledged more than the node of the other host has seen. No
 * proxy socket would have these bytes. */
static bool numbers_are_old(const struct flow *f)
{
	return seq_before(f->drain.far_point, f->near.acked) ||
	       (f->far.seen && seq_before(f->drain.near_point, f->far.acked));
}

/* DRAINING: according to frames, each host has all data that the nodes saw from the other host. */
static bool is_drained(const struct flow *f)
{
	return f->far.seen && !seq_before(f->near.acked, f->drain.far_point) &&
	       !seq_before(f->far.acked, f->drain.near_point) && flow_end_clock_fits(&f->near) &&
	       flow_end_clock_fits(&f->far);
}

static void step_draining(struct flow *f, mono_t now)
{
	struct accel_view mine = agree_view(&f->near, &f->far);
	bool old = numbers_are_old(f);
	enum accel_refusal reason =
		old ? ACCEL_NUMBERS_DIFFER : agree_differ(&mine, &f->drain.theirs, false);

	if ((!old && !is_drained(f)) || !make_proxy_sock(f, reason, &f->drain.theirs, now))
		return;
	notify_view(f, ACCEL_ACCEPT);
	flow_enter(f, FLOW_ACCEPTED, now);
}

static void step_releasing(struct flow *f, mono_t now)
{
	bool ready = f->drain.far_point_known && f->ops->is_drained(f);

	if (ready && !f->drain.near_ready && !f->ops->leads(f))
		flow_notify(f, ACCEL_DRAINED);
	f->drain.near_ready |= ready;
	if (f->ops->leads(f) && f->drain.near_ready && f->drain.far_ready)
		flow_finish_return(f, now);
}

/* Performs the next step if due. */
void flow_step(struct flow *f, mono_t now)
{
	if (f->state == FLOW_DRAINING)
		step_draining(f, now);
	else if (f->state == FLOW_RELEASING)
		step_releasing(f, now);
}

static void begin_draining(struct flow *f, enum flow_state state, uint32_t stream, mono_t now)
{
	flow_set_stream(f, stream);
	flow_enter(f, state, now);
	f->drain.near_point = f->near.next;
}

/* Conditions that the next frames may still fulfil are not checked. */
static bool may_intercept(const struct flow *f)
{
	return f->state == FLOW_PLAIN && !f->foreign && f->near.seen &&
	       !(f->near.fin && f->far.fin);
}

void flow_offer(struct flow *f, uint32_t stream, mono_t now)
{
	f->drain.far_point_known = false;
	begin_draining(f, FLOW_OFFERED, stream, now);
	notify_view(f, ACCEL_OFFER);
}

void flow_offered(struct flow *f, const struct accel_frame *offer, mono_t now)
{
	/* Both nodes sent an offer. The offer of the follower is valid, and the follower ignores
	 * the offer of the leader. */
	if (f->state == FLOW_OFFERED && !f->ops->leads(f))
		return;
	if (f->state == FLOW_OFFERED) {
		flow_notify_refusal(f, f->stream, ACCEL_NOT_NOW);
		flow_enter(f, FLOW_DRAINING, now); /* Held frames stay held. */
		flow_set_stream(f, offer->stream);
	} else if (may_intercept(f)) {
		begin_draining(f, FLOW_DRAINING, offer->stream, now);
	} else {
		flow_notify_refusal(f, offer->stream, ACCEL_NOT_NOW);
		return;
	}
	f->drain.theirs = offer->offer.view;
	f->drain.far_point = f->drain.theirs.near.seq;
	f->drain.far_point_known = true;
	flow_step(f, now);
}

/* --- messages of the other node --- */

/* OFFERED: the other node is bound. This node commits or refuses. */
static void on_accept(struct flow *f, const struct accel_frame *m, mono_t now)
{
	struct accel_view mine = agree_view(&f->near, &f->far);
	enum accel_refusal reason = agree_differ(&mine, &m->offer.view, true);

	f->drain.far_point = m->offer.view.near.seq;
	f->drain.far_point_known = true;
	/* Since the view of the other node, leond may have passed frames around this process. */
	if (reason == ACCEL_NOT_NOW && numbers_are_old(f))
		reason = ACCEL_NUMBERS_DIFFER;
	if (!make_proxy_sock(f, reason, &m->offer.view, now))
		return;
	flow_notify(f, ACCEL_TAKE);
	begin_intercepted(f, now);
}

static void on_refuse(struct flow *f, const struct accel_frame *m, mono_t now)
{
	flow_give_up(f, m->type == ACCEL_REFUSE ? m->refuse.reason : ACCEL_NOT_NOW, now);
}

/* ACCEPTED: the numbers are invalid after a bypass of this process. */
static void on_take(struct flow *f, const struct accel_frame *m attr_unused, mono_t now)
{
	if (f->blind)
		flow_reset(f, false, now);
	else
		begin_intercepted(f, now);
}

/* The connection stays intercepted, because some bytes did not reach a host in time. The
 * attempt held new data of both hosts, so the next one waits for longer. */
static void keep_intercepted(struct flow *f, mono_t now)
{
	/* The held frames must not reach a proxy socket. */
	if (f->foreign) {
		flow_reset(f, false, now);
		return;
	}
	f->retry.not_before =
		mono_add_ms(now, KEPT_MS << min_of(f->retry.failed, (unsigned)KEPT_TIMES));
	f->retry.failed++;
	flow_enter(f, FLOW_INTERCEPTED, now);
	flow_pass_held(f, f->ops->to_proxy_sock);
}

static void on_kept(struct flow *f, const struct accel_frame *m attr_unused, mono_t now)
{
	if (!f->ops->leads(f))
		keep_intercepted(f, now);
}

void flow_release(struct flow *f, mono_t now)
{
	if (f->state != FLOW_INTERCEPTED)
		return;
	flow_enter(f, FLOW_RELEASING, now);
	f->drain.near_point = f->near.next;
	f->drain.far_point_known = false;
	flow_notify_point(f, ACCEL_RELEASE);
}

/* TAKEN: the follower requests the release, or the leader has started it. */
static void on_release(struct flow *f, const struct accel_frame *m, mono_t now)
{
	if (f->ops->leads(f)) {
		flow_release(f, now);
		return;
	}
	flow_enter(f, FLOW_RELEASING, now);
	f->drain.near_point = f->near.next;
	f->drain.far_point = m->at.point;
	f->drain.far_point_known = true;
	flow_notify_point(f, ACCEL_RELEASED);
}

static void on_released(struct flow *f, const struct accel_frame *m, mono_t now attr_unused)
{
	f->drain.far_point = m->at.point;
	f->drain.far_point_known = true;
}

static void on_drained(struct flow *f, const struct accel_frame *m attr_unused,
		       mono_t now attr_unused)
{
	/* Before RELEASED, the message belongs to an earlier release that failed. */
	f->drain.far_ready = f->drain.far_point_known;
}

static void on_return(struct flow *f, const struct accel_frame *m attr_unused, mono_t now)
{
	/* Without DRAINED of this node, bytes for its host would be lost. */
	if (f->drain.near_ready)
		flow_finish_return(f, now);
	else
		flow_reset(f, false, now);
}

static void on_reset(struct flow *f, const struct accel_frame *m attr_unused, mono_t now)
{
	flow_reset(f, true, now);
}

typedef void (*act_fn)(struct flow *f, const struct accel_frame *m, mono_t now);

/* The effect of a message, protocol.md 10.1. Other messages are late and have no effect. */
static const act_fn acts[FLOW_STATES][ACCEL_TYPES] = {
	[FLOW_OFFERED] = { [ACCEL_ACCEPT] = on_accept,
			   [ACCEL_REFUSE] = on_refuse,
			   [ACCEL_RESET] = on_refuse },
	[FLOW_DRAINING] = { [ACCEL_REFUSE] = on_refuse, [ACCEL_RESET] = on_refuse },
	[FLOW_ACCEPTED] = { [ACCEL_TAKE] = on_take,
			    [ACCEL_REFUSE] = on_refuse,
			    [ACCEL_RESET] = on_refuse },
	[FLOW_INTERCEPTED] = { [ACCEL_RELEASE] = on_release, [ACCEL_RESET] = on_reset },
	[FLOW_RELEASING] = { [ACCEL_RELEASED] = on_released,
			     [ACCEL_DRAINED] = on_drained,
			     [ACCEL_RETURN] = on_return,
			     [ACCEL_TAKE] = on_kept,
			     [ACCEL_RESET] = on_reset },
};

/* Reports whether the other node can have sent the message. */
static bool makes_sense(const struct flow *f, uint8_t type)
{
	switch (type) {
	case ACCEL_ACCEPT:
	case ACCEL_REFUSE:
	case ACCEL_TAKE:
	case ACCEL_RELEASE:
	case ACCEL_RESET:
		return true;
	case ACCEL_RELEASED:
	case ACCEL_DRAINED:
		return f->ops->leads(f);
	case ACCEL_RETURN:
		return !f->ops->leads(f);
	default:
		return false;
	}
}

bool flow_message(struct flow *f, const struct accel_frame *m, mono_t now)
{
	if (!makes_sense(f, m->type))
		return false;
	if (acts[f->state][m->type]) {
		acts[f->state][m->type](f, m, now);
		flow_step(f, now);
	}
	return true;
}

/* --- timers and failures --- */

void flow_tick(struct flow *f, int64_t rtt_ms, mono_t now)
{
	int64_t age = mono_sub_ms(now, f->since);
	int64_t drain_ms = max_of(DRAIN_RTTS * rtt_ms, (int64_t)DRAIN_MIN_MS);

	flow_step(f, now);
	/* The node that offered waits longer, because the answer takes a round trip. */
	if ((f->state == FLOW_DRAINING && age > drain_ms) ||
	    (f->state == FLOW_OFFERED && age > drain_ms + rtt_ms))
		flow_refuse(f, ACCEL_NOT_DRAINED, now);
	if (f->state != FLOW_RELEASING || !f->ops->leads(f) || age <= RETURN_MAX_MS)
		return;
	flow_notify(f, ACCEL_TAKE);
	keep_intercepted(f, now);
}

/* The host sent a frame, and the frame is not for the proxy socket. */
static bool is_unfit(struct flow *f, const struct flow_proof *p)
{
	bool spoke = f->proof.watched.ns && mono_before(f->proof.watched, f->proof.spoke);

	if (p->retries >= RETRIES_MIN) {
		spoke = p->retries > f->proof.retries && f->near.window &&
			mono_before(p->sent_at, f->proof.spoke);
		f->proof.retries = p->retries;
		return spoke;
	}
	if (p->answered)
		return false;
	f->ops->probe(f);
	return spoke;
}

bool flow_watch(struct flow *f, int64_t rtt_ms, mono_t now)
{
	struct flow_proof p;

	if (f->state != FLOW_INTERCEPTED || f->proof.proved ||
	    mono_sub_ms(now, f->since) < max_of(DRAIN_RTTS * rtt_ms, (int64_t)PROOF_MIN_MS))
		return false;
	p = f->ops->proof(f);
	f->proof.proved = p.acknowledged;
	if (!f->proof.proved && is_unfit(f, &p))
		f->proof.unproved++;
	f->proof.watched = now;
	if (f->proof.unproved < PROOF_TRIES)
		return false;
	flow_reset(f, false, now);
	return true;
}

void flow_interproxy_gone(struct flow *f, mono_t now)
{
	if (flow_can_be_called_off(f))
		flow_give_up(f, ACCEL_NOT_NOW, now);
	else
		flow_reset(f, true, now);
}

/* A connection with an unsupported feature is released before the first such frame reaches a proxy
 * socket. New data is held until then. Returns true if the release is in progress. */
bool flow_returns(struct flow *f, mono_t now)
{
	if (!f->foreign || f->state != FLOW_INTERCEPTED)
		return f->foreign && f->state == FLOW_RELEASING;
	f->drain.near_point = f->near.next;
	if (f->ops->leads(f))
		flow_release(f, now);
	else
		flow_notify_point(f, ACCEL_RELEASE);
	return true;
}
