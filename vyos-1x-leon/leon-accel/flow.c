// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps of one connection, see flow.h. Every message with a change of state goes over the
 * inter-proxy connection, which neither loses nor reorders. Only the offering node commits. The two
 * nodes disagree only while a message is in transit. Frames during the transit are retransmissions.
 */
#include "flow.h"

#include <string.h>

#include "agree.h"
#include "base/defs.h"
#include "flow_hold.h"

#define DRAIN_RTTS    3
#define DRAIN_MIN_MS  500
#define ANSWER_MAX_MS 10000 /* lifetime of a silent inter-proxy connection */
#define RETURN_MAX_MS 20000
/* Delay after a failed attempt. It doubles with each attempt, up to the maximum. */
#define AGAIN_MS      2000
#define AGAIN_MAX_MS  60000
#define AGAIN_LONGEST 5 /* attempts until the delay is at its maximum */
#define PROOF_MIN_MS  1000
#define PROOF_TRIES   2 /* a segment to the kernel may be lost */
#define RETRIES_MIN   2

void flow_init(struct flow *f, const struct flow_ops *ops, void *arg, bool leader,
	       const struct accel_key *key, mono_t now)
{
	*f = (struct flow){
		.ops = ops, .arg = arg, .leader = leader, .key = *key, .since = now, .last = now
	};
	f->near.syn.scale = f->far.syn.scale = TCP_SCALE_UNKNOWN;
	f->held_end = &f->held;
}

uint32_t flow_widest(const struct flow *f, const struct flow_end *e)
{
	const struct accel_options *near = &f->near.syn, *far = &f->far.syn;

	if (near->scale == TCP_SCALE_UNKNOWN || far->scale == TCP_SCALE_UNKNOWN)
		return e->widest
			       ? max_of((uint32_t)e->widest << e->scale_seen, (uint32_t)UINT16_MAX)
			       : 0;
	return (uint32_t)e->widest << (near->scaling && far->scaling ? e->syn.scale : 0);
}

uint32_t flow_window(const struct flow *f, const struct flow_end *e)
{
	bool known =
		f->near.syn.scale != TCP_SCALE_UNKNOWN && f->far.syn.scale != TCP_SCALE_UNKNOWN;

	if (known)
		return flow_widest(f, e);
	return e->scale_seen ? 0 : e->widest;
}

static void enter(struct flow *f, enum flow_state state, mono_t now)
{
	f->state = state;
	f->since = now;
	f->near_ready = f->far_ready = false;
}

static void tell(struct flow *f, uint8_t type)
{
	struct accel_frame m = { .type = type, .stream = f->stream };

	f->ops->tell(f->arg, f, &m);
}

static void tell_point(struct flow *f, uint8_t type)
{
	struct accel_frame m = { .type = type, .stream = f->stream, .at = { f->near_point } };

	f->ops->tell(f->arg, f, &m);
}

/* --- state from frames --- */

/* A proxy socket does not preserve the position of an urgent byte in the stream. */
static bool is_foreign(const struct tcp_view *t)
{
	return t->foreign || t->flags & TCP_URG;
}

static void track(struct flow *f, struct flow_end *e, const struct flow_frame *frame, mono_t now)
{
	const struct tcp_view *t = frame->t;

	/* A proxy socket cannot make progress with SYN or RST segments. */
	if (f->state != FLOW_PLAIN && t->flags & (TCP_SYN | TCP_RST))
		return;
	f->foreign |= is_foreign(t);
	if (t->flags & TCP_SYN) {
		/* The first segment of a connection makes earlier knowledge invalid. */
		if (!(t->flags & TCP_ACK)) {
			f->foreign = is_foreign(t);
			f->failed = 0;
			f->not_before = (mono_t){ 0 };
			flow_end_begin(e == &f->near ? &f->far : &f->near);
		}
		flow_end_syn(e, t, now);
		return;
	}
	flow_end_hear(e, t, now);
	flow_end_took(e, t, frame->gso_size);
	flow_end_see_window(&f->near, &f->far);
}

void flow_fini(struct flow *f)
{
	flow_let_go(f, NULL);
}

/* --- steps --- */

/* The bytes in flight are unknown now. The options of the SYNs are still valid. */
static void learn_anew(struct flow *f)
{
	f->near.seen = f->far.seen = false;
	f->blind = false;
}

static void go_plain(struct flow *f, mono_t now)
{
	enter(f, FLOW_PLAIN, now);
	f->stream = 0;
	f->far_point_known = false;
	flow_let_go(f, f->ops->to_far);
	if (f->blind)
		learn_anew(f);
}

/* Delays the next attempt. A rarely changing reason gives the longest delay. A reason of the whole
 * node gives the shortest delay, because peer.c delays all attempts with the node. */
static void try_again_later(struct flow *f, enum accel_refusal why, mono_t now)
{
	int64_t ms;

	if (why == ACCEL_NOT_THIS_ONE || why == ACCEL_FIN_DIFFERS || why == ACCEL_OPTIONS_DIFFER)
		f->failed = AGAIN_LONGEST;
	else if (why == ACCEL_NO_PLACE || why == ACCEL_NOT_WITH_YOU)
		f->failed = 0;
	ms = AGAIN_MS << min_of(f->failed, (unsigned)AGAIN_LONGEST);
	f->failed++;
	f->not_before = mono_add_ms(now, min_of(ms, (int64_t)AGAIN_MAX_MS));
}

void flow_wait(struct flow *f, mono_t now)
{
	f->not_before = mono_add_ms(now, AGAIN_MS);
}

static void tell_refusal(struct flow *f, uint32_t stream, enum accel_refusal why)
{
	struct accel_frame no = { .type = ACCEL_REFUSE,
				  .stream = stream,
				  .refuse = { (uint8_t)why } };

	f->ops->tell(f->arg, f, &no);
}

bool flow_is_draining(const struct flow *f)
{
	return f->state == FLOW_OFFERED || f->state == FLOW_DRAINING || f->state == FLOW_ACCEPTED;
}

/* It is drained, and only the other node can have committed. */
static bool can_be_called_off(const struct flow *f)
{
	return f->state == FLOW_OFFERED || f->state == FLOW_DRAINING;
}

static void give_up_try(struct flow *f, enum accel_refusal why, mono_t now)
{
	f->ops->give_up(f->arg, f, FLOW_UNUSED);
	try_again_later(f, why, now);
	go_plain(f, now);
}

static void refuse(struct flow *f, enum accel_refusal why, mono_t now)
{
	tell_refusal(f, f->stream, why);
	give_up_try(f, why, now);
}

void flow_reset(struct flow *f, bool told, mono_t now)
{
	if (f->state == FLOW_PLAIN || f->state == FLOW_CLOSED)
		return;
	if (!told)
		tell(f, ACCEL_RESET);
	flow_let_go(f, NULL);
	f->ops->give_up(f->arg, f, FLOW_RESET);
	enter(f, FLOW_CLOSED, now);
	f->was_reset = true;
	f->stream = 0;
}

/* The proxy socket begins in front of a FIN that both nodes saw. The proxy socket of the other host
 * repeats the FIN, so each socket reaches the correct state. */
static int make_stand_in(struct flow *f)
{
	f->near_start = f->near_point - f->near.fin;
	f->far_start = f->far_point - f->far.fin;
	return f->ops->stand_in(f->arg, f);
}

static bool returns(struct flow *f, mono_t now);

static void begin_taken(struct flow *f, mono_t now)
{
	f->failed = 0;
	enter(f, FLOW_TAKEN, now);
	f->proved = f->probed = false;
	f->unproved = 0;
	f->retries = 0;
	if (!f->ops->start(f->arg, f))
		flow_reset(f, false, now);
	else if (!returns(f, now))
		flow_let_go(f, f->ops->to_stand_in);
}

static void tell_view(struct flow *f, uint8_t type)
{
	struct accel_frame m = { .type = type, .stream = f->stream };

	m.offer.key = f->key;
	m.offer.view = agree_view(&f->near, &f->far);
	f->ops->tell(f->arg, f, &m);
}

static void finish_return(struct flow *f, mono_t now)
{
	f->ops->give_up(f->arg, f, FLOW_RETURNED);
	if (f->leader)
		tell(f, ACCEL_RETURN);
	f->far.next = f->far_point;
	f->far.acked = f->near_point;
	f->far.seen = false;
	f->not_before = mono_add_ms(now, AGAIN_MS);
	go_plain(f, now);
}

static bool clocks_fit(const struct flow *f)
{
	return flow_end_clock_fits(&f->near) && flow_end_clock_fits(&f->far);
}

/* DRAINING: a host has acknowledged more than the node of the other host has seen. */
static bool numbers_are_old(const struct flow *f)
{
	return seq_before(f->far_point, f->near.acked) ||
	       (f->far.seen && seq_before(f->near_point, f->far.acked));
}

/* DRAINING: according to frames, each host has all data that the nodes saw from the other host. */
static bool is_drained(const struct flow *f)
{
	return f->far.seen && !seq_before(f->near.acked, f->far_point) &&
	       !seq_before(f->far.acked, f->near_point) && clocks_fit(f);
}

static void step_draining(struct flow *f, mono_t now)
{
	struct accel_view mine = agree_view(&f->near, &f->far);
	enum accel_refusal why;

	if (numbers_are_old(f)) {
		refuse(f, ACCEL_NUMBERS_DIFFER, now);
		return;
	}
	if (!is_drained(f))
		return;
	why = agree_differ(&mine, &f->theirs, false);
	if (why != ACCEL_NOT_NOW) {
		refuse(f, why, now);
		return;
	}
	agree_learn(&f->near, &f->far, &f->theirs);
	if (make_stand_in(f) < 0) {
		refuse(f, ACCEL_NO_SOCKET, now);
		return;
	}
	tell_view(f, ACCEL_ACCEPT);
	enter(f, FLOW_ACCEPTED, now);
}

static void step_returning(struct flow *f, mono_t now)
{
	bool ready = f->far_point_known && f->ops->is_drained(f->arg, f);

	if (ready && !f->near_ready && !f->leader)
		tell(f, ACCEL_DRAINED);
	f->near_ready |= ready;
	if (f->leader && f->near_ready && f->far_ready)
		finish_return(f, now);
}

/* Performs the next step if due. */
static void step(struct flow *f, mono_t now)
{
	if (f->state == FLOW_DRAINING)
		step_draining(f, now);
	else if (f->state == FLOW_RETURNING)
		step_returning(f, now);
}

static void begin_draining(struct flow *f, enum flow_state state, uint32_t stream, mono_t now)
{
	f->stream = stream;
	enter(f, state, now);
	f->near_point = f->near.next;
}

/* Conditions that the next frames may still fulfil are not checked. */
static bool may_be_taken(const struct flow *f)
{
	return f->state == FLOW_PLAIN && !f->foreign && f->near.seen &&
	       !(f->near.fin && f->far.fin);
}

bool flow_can_be_taken(const struct flow *f)
{
	return may_be_taken(f) && f->far.seen && clocks_fit(f);
}

void flow_offer(struct flow *f, uint32_t stream, mono_t now)
{
	f->far_point_known = false;
	begin_draining(f, FLOW_OFFERED, stream, now);
	tell_view(f, ACCEL_OFFER);
}

void flow_offered(struct flow *f, const struct accel_frame *offer, mono_t now)
{
	/* Both nodes sent an offer. The offer of the follower is valid, and the follower ignores
	 * the offer of the leader. */
	if (f->state == FLOW_OFFERED && !f->leader)
		return;
	if (f->state == FLOW_OFFERED) {
		tell_refusal(f, f->stream, ACCEL_NOT_NOW);
	} else if (!may_be_taken(f)) {
		tell_refusal(f, offer->stream, ACCEL_NOT_NOW);
		return;
	}
	if (f->state == FLOW_OFFERED) /* Held frames stay held. */
		enter(f, FLOW_DRAINING, now);
	else
		begin_draining(f, FLOW_DRAINING, offer->stream, now);
	f->stream = offer->stream;
	f->theirs = offer->offer.view;
	f->far_point = f->theirs.near.seq;
	f->far_point_known = true;
	step(f, now);
}

/* --- messages of the other node --- */

/* OFFERED: the other node is bound. This node commits or refuses. */
static void on_accept(struct flow *f, const struct accel_frame *m, mono_t now)
{
	struct accel_view mine = agree_view(&f->near, &f->far);
	enum accel_refusal why = agree_differ(&mine, &m->offer.view, true);

	if (why != ACCEL_NOT_NOW) {
		refuse(f, why, now);
		return;
	}
	f->far_point = m->offer.view.near.seq;
	f->far_point_known = true;
	agree_learn(&f->near, &f->far, &m->offer.view);
	if (make_stand_in(f) < 0) {
		refuse(f, ACCEL_NO_SOCKET, now);
		return;
	}
	tell(f, ACCEL_TAKE);
	begin_taken(f, now);
}

static void on_refuse(struct flow *f, const struct accel_frame *m, mono_t now)
{
	give_up_try(f, m->type == ACCEL_REFUSE ? m->refuse.reason : ACCEL_NOT_NOW, now);
}

/* ACCEPTED: the numbers are invalid after a bypass of this process. */
static void on_take(struct flow *f, const struct accel_frame *m, mono_t now)
{
	(void)m;
	if (f->blind)
		flow_reset(f, false, now);
	else
		begin_taken(f, now);
}

/* The connection stays intercepted, because some bytes did not reach the host of the leader in
 * time. */
static void keep_taken(struct flow *f, mono_t now)
{
	/* The held frames must not reach a proxy socket. */
	if (f->foreign) {
		flow_reset(f, false, now);
		return;
	}
	enter(f, FLOW_TAKEN, now);
	flow_let_go(f, f->ops->to_stand_in);
}

static void on_kept(struct flow *f, const struct accel_frame *m, mono_t now)
{
	(void)m;
	if (!f->leader)
		keep_taken(f, now);
}

void flow_release(struct flow *f, mono_t now)
{
	if (f->state != FLOW_TAKEN)
		return;
	enter(f, FLOW_RETURNING, now);
	f->near_point = f->near.next;
	f->far_point_known = false;
	tell_point(f, ACCEL_RELEASE);
}

/* TAKEN: the follower requests the release, or the leader has started it. */
static void on_release(struct flow *f, const struct accel_frame *m, mono_t now)
{
	if (f->leader) {
		flow_release(f, now);
		return;
	}
	enter(f, FLOW_RETURNING, now);
	f->near_point = f->near.next;
	f->far_point = m->at.point;
	f->far_point_known = true;
	tell_point(f, ACCEL_RELEASED);
}

static void on_released(struct flow *f, const struct accel_frame *m, mono_t now)
{
	(void)now;
	f->far_point = m->at.point;
	f->far_point_known = true;
}

static void on_drained(struct flow *f, const struct accel_frame *m, mono_t now)
{
	(void)m;
	(void)now;
	f->far_ready = true;
}

static void on_return(struct flow *f, const struct accel_frame *m, mono_t now)
{
	(void)m;
	finish_return(f, now);
}

static void on_reset(struct flow *f, const struct accel_frame *m, mono_t now)
{
	(void)m;
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
	[FLOW_TAKEN] = { [ACCEL_RELEASE] = on_release, [ACCEL_RESET] = on_reset },
	[FLOW_RETURNING] = { [ACCEL_RELEASED] = on_released,
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
		return f->leader;
	case ACCEL_RETURN:
		return !f->leader;
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
		step(f, now);
	}
	return true;
}

/* --- timers and failures --- */

void flow_tick(struct flow *f, int64_t rtt_ms, mono_t now)
{
	int64_t age = mono_sub_ms(now, f->since);
	int64_t drain_ms = max_of(DRAIN_RTTS * rtt_ms, (int64_t)DRAIN_MIN_MS);

	step(f, now);
	/* The node that offered waits longer, because the answer takes a round trip. */
	if ((f->state == FLOW_DRAINING && age > drain_ms) ||
	    (f->state == FLOW_OFFERED && age > drain_ms + rtt_ms))
		refuse(f, ACCEL_NOT_DRAINED, now);
	else if (f->state == FLOW_ACCEPTED && age > ANSWER_MAX_MS)
		flow_reset(f, false, now);
	if (f->state != FLOW_RETURNING || !f->leader || age <= RETURN_MAX_MS)
		return;
	tell(f, ACCEL_TAKE);
	keep_taken(f, now);
}

/* The host sent a frame, and the frame is not for the proxy socket. */
static bool is_unfit(struct flow *f, const struct flow_proof *p)
{
	bool spoke = f->probed && mono_before(f->watched, f->spoke);

	if (p->retries >= RETRIES_MIN) {
		spoke = p->retries > f->retries && f->near.window &&
			mono_before(p->sent_at, f->spoke);
		f->retries = p->retries;
		return spoke;
	}
	if (p->answered)
		return false;
	f->probed = true;
	f->ops->probe(f->arg, f);
	return spoke;
}

bool flow_watch(struct flow *f, int64_t rtt_ms, mono_t now)
{
	struct flow_proof p;

	if (f->state != FLOW_TAKEN || f->proved ||
	    mono_sub_ms(now, f->since) < max_of(DRAIN_RTTS * rtt_ms, (int64_t)PROOF_MIN_MS))
		return false;
	p = f->ops->proof(f->arg, f);
	f->proved = p.acknowledged;
	if (!f->proved && is_unfit(f, &p))
		f->unproved++;
	f->watched = now;
	if (f->unproved < PROOF_TRIES)
		return false;
	flow_reset(f, false, now);
	return true;
}

void flow_carrier_gone(struct flow *f, mono_t now)
{
	if (can_be_called_off(f))
		give_up_try(f, ACCEL_NOT_NOW, now);
	else
		flow_reset(f, true, now);
}

void flow_call_off(struct flow *f, mono_t now)
{
	if (can_be_called_off(f))
		refuse(f, ACCEL_NOT_NOW, now);
}

bool flow_other_node(struct flow *f, bool leader)
{
	if (f->state != FLOW_PLAIN && !(f->state == FLOW_CLOSED && f->was_reset))
		return false;
	f->leader = leader;
	learn_anew(f);
	return true;
}

void flow_unseen(struct flow *f, mono_t now)
{
	flow_call_off(f, now);
	f->blind = f->state != FLOW_PLAIN;
	if (!f->blind)
		learn_anew(f);
}

void flow_bury(struct flow *f, mono_t now)
{
	flow_let_go(f, NULL);
	enter(f, FLOW_CLOSED, now);
	f->last = now;
	f->was_reset = true;
	f->stream = 0;
}

void flow_closed(struct flow *f, mono_t now)
{
	flow_let_go(f, f->ops->to_stand_in);
	enter(f, FLOW_CLOSED, now);
	f->stream = 0;
}

/* --- frames --- */

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
	tell(f, ACCEL_RESET);
	give_up_try(f, ACCEL_NOT_NOW, now);
}

static void begin_again(struct flow *f, mono_t now)
{
	f->was_reset = f->blind = false;
	enter(f, FLOW_PLAIN, now);
}

/* The addresses of a closed connection may be used by a new one. */
static void reopen(struct flow *f, const struct tcp_view *t, mono_t now)
{
	if (f->state == FLOW_CLOSED && (t->flags & (TCP_SYN | TCP_ACK)) == TCP_SYN)
		begin_again(f, now);
}

/* A connection with an unsupported feature is released before the first such frame reaches a proxy
 * socket. New data is held until then. Returns true if the release is in progress. */
static bool returns(struct flow *f, mono_t now)
{
	if (!f->foreign || f->state != FLOW_TAKEN)
		return f->foreign && f->state == FLOW_RETURNING;
	f->near_point = f->near.next;
	if (f->leader)
		flow_release(f, now);
	else
		tell_point(f, ACCEL_RELEASE);
	return true;
}

/* Called before the frame is forwarded. */
static void meet_foreign(struct flow *f, const struct flow_frame *frame, mono_t now)
{
	if (f->foreign || !is_foreign(frame->t) || frame->t->flags & (TCP_SYN | TCP_RST))
		return;
	f->foreign = true;
	flow_call_off(f, now);
	returns(f, now);
}

static way_fn way_from_near(const struct flow *f)
{
	if (f->state == FLOW_CLOSED && f->was_reset)
		return f->ops->refuse_near;
	if (f->state == FLOW_PLAIN || flow_is_draining(f))
		return f->ops->to_far;
	return f->ops->to_stand_in;
}

static bool is_held(const struct flow *f, const struct tcp_view *t)
{
	bool holds = flow_is_draining(f) || f->state == FLOW_RETURNING ||
		     (f->state == FLOW_TAKEN && f->foreign);

	return holds && !(t->flags & (TCP_RST | TCP_SYN)) && seq_before(f->near_point, t->end);
}

void flow_from_near(struct flow *f, const struct flow_frame *frame, mono_t now)
{
	way_fn way;

	f->last = now;
	f->near.mac = frame->v->src;
	f->far.mac = frame->v->dst;
	if (frame->t->flags & TCP_ACK)
		f->spoke = now;
	reopen(f, frame->t, now);
	ends_draining(f, &f->near, frame, now);
	meet_foreign(f, frame, now);
	way = way_from_near(f);
	if (is_held(f, frame->t)) {
		flow_end_hear(&f->near, frame->t, now);
		flow_hold_beyond(f, frame, way);
	} else {
		track(f, &f->near, frame, now);
		way(f->arg, f, frame);
	}
	step(f, now);
}

/* The leader has released the connection, and the message is still in transit. */
static bool is_returned(const struct flow *f, const struct tcp_view *t)
{
	return f->state == FLOW_RETURNING && !f->leader && f->near_ready &&
	       seq_before(f->far_point, t->end);
}

void flow_from_far(struct flow *f, const struct flow_frame *frame, mono_t now)
{
	f->last = now;
	reopen(f, frame->t, now);
	ends_draining(f, &f->far, frame, now);
	if (is_returned(f, frame->t))
		finish_return(f, now);
	if (f->state == FLOW_CLOSED && f->was_reset)
		f->ops->refuse_far(f->arg, f, frame);
	/* A late copy of acknowledged data. */
	if (f->state != FLOW_PLAIN && !flow_is_draining(f))
		return;
	track(f, &f->far, frame, now);
	if (f->foreign)
		flow_call_off(f, now);
	f->ops->to_near(f->arg, f, frame);
	step(f, now);
}
