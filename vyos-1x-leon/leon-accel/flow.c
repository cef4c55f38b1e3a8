// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps of one connection, see flow.h. Every message that changes a state goes over a carrier that
 * neither loses nor reorders, and one side alone commits; so the two sides never disagree for
 * longer than a message is under way, and what comes in between is a retransmission at most.
 */
#include "flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"

#define DRAIN_RTTS    3
#define DRAIN_MIN_MS  500
#define RETURN_MAX_MS 20000
/* After a try that failed: doubled each time, up to the last. */
#define AGAIN_MS      2000
#define AGAIN_MAX_MS  60000
#define AGAIN_LONGEST 5 /* tries, from which on it is that */
#define MADE_MAX      (TCP_FRAME_MAX + 65536)

struct waiting {
	struct waiting *next;
	size_t message_len, data_at, len;
	uint16_t gso_size;
	struct eth_view v;
	struct tcp_view t;
	uint8_t message[];
};

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
	f->near_ready = f->far_ready = f->wanted = false;
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

/* --- frames that are seen --- */

static void track(struct flow *f, struct flow_end *e, const struct flow_frame *frame, mono_t now)
{
	const struct tcp_view *t = frame->t;

	f->foreign |= t->foreign;
	/* Nothing that a stand-in is told by these moves the connection on. */
	if (f->state != FLOW_PLAIN && t->flags & (TCP_SYN | TCP_RST))
		return;
	if (t->flags & TCP_SYN) {
		/* The first of a connection: nothing before it counts. */
		if (!(t->flags & TCP_ACK)) {
			f->foreign = t->foreign;
			f->failed = 0;
			f->not_before = f->want_after = (mono_t){ 0 };
			flow_end_begin(e == &f->near ? &f->far : &f->near);
		}
		flow_end_syn(e, t, now);
		return;
	}
	flow_end_hear(e, t, now);
	flow_end_took(e, t, frame->gso_size);
	flow_end_see_window(&f->near, &f->far);
}

/* --- holding --- */

static void hold(struct flow *f, const struct flow_frame *frame)
{
	struct waiting *h;

	/* What is not held is lost, as on any full queue: the host still has it. */
	if (!f->ops->may_hold(f->arg, (int64_t)frame->message_len))
		return;
	h = x_calloc(1, sizeof(*h) + frame->message_len);
	h->message_len = frame->message_len;
	h->data_at = (size_t)(frame->data - frame->message);
	h->len = frame->len;
	h->gso_size = frame->gso_size;
	h->v = *frame->v;
	h->t = *frame->t;
	memcpy(h->message, frame->message, frame->message_len);
	*f->held_end = h;
	f->held_end = &h->next;
	f->n_held++;
}

uint32_t flow_held(const struct flow *f)
{
	uint32_t end = f->near_point;

	for (const struct waiting *h = f->held; h; h = h->next)
		if (seq_before(end, h->t.end))
			end = h->t.end;
	return end - f->near_point;
}

typedef void (*way_fn)(void *arg, struct flow *f, const struct flow_frame *frame);

/* In the order in which they came; way NULL: nowhere. */
static void let_go(struct flow *f, way_fn way)
{
	struct waiting *h = f->held;

	f->held = NULL;
	f->held_end = &f->held;
	f->n_held = 0;
	while (h) {
		struct waiting *next = h->next;
		struct flow_frame frame = { h->message, h->message_len, h->message + h->data_at,
					    h->len,	h->gso_size,	&h->v,
					    &h->t };

		f->ops->may_hold(f->arg, -(int64_t)h->message_len);
		if (way) {
			flow_end_took(&f->near, &h->t, h->gso_size);
			way(f->arg, f, &frame);
		}
		free(h);
		h = next;
	}
}

/* Holds what is beyond the point. Its acknowledgement goes on, or two hosts that both send would
 * wait for each other; so does what is in front of the point: the far end may lack it. */
static void hold_beyond(struct flow *f, const struct flow_frame *frame, way_fn way)
{
	static uint8_t made[MADE_MAX]; /* one thread */
	const struct tcp_view *t = frame->t;
	bool straddles = seq_before(t->seq, f->near_point);
	size_t keep = straddles ? f->near_point - t->seq : 0;
	struct flow_frame rest = { .data = made, .v = frame->v, .t = t };

	hold(f, frame);
	if (frame->gso_size)
		keep = min_of(keep, (size_t)frame->gso_size);
	rest.len = tcp_cut(frame->data, frame->v, t, straddles ? t->seq : f->near_point, keep, made,
			   sizeof(made));
	if (rest.len)
		way(f->arg, f, &rest);
}

void flow_fini(struct flow *f)
{
	let_go(f, NULL);
}

/* --- steps --- */

/* What is in flight is not known any more; what the hosts said in their SYNs is. */
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
	let_go(f, f->ops->to_far);
	if (f->blind)
		learn_anew(f);
}

static mono_t again_at(struct flow *f, mono_t now)
{
	int64_t ms = AGAIN_MS << min_of(f->failed, (unsigned)AGAIN_LONGEST);

	f->failed++;
	return mono_add_ms(now, min_of(ms, (int64_t)AGAIN_MAX_MS));
}

/* By its settings, which do not change each minute; or for a reason that is not of this one, and
 * then its node waits. */
static void learn_refusal(struct flow *f, const struct accel_frame *m)
{
	if (m->type != ACCEL_REFUSE)
		return;
	if (m->refuse.reason == ACCEL_NOT_THIS_ONE)
		f->failed = AGAIN_LONGEST;
	else if (m->refuse.reason == ACCEL_NO_PLACE || m->refuse.reason == ACCEL_NOT_WITH_YOU)
		f->failed = 0;
}

static void try_again_later(struct flow *f, mono_t now)
{
	f->not_before = again_at(f, now);
}

void flow_wait(struct flow *f, mono_t now)
{
	f->not_before = mono_add_ms(now, AGAIN_MS);
}

void flow_reset(struct flow *f, bool told, mono_t now)
{
	if (f->state == FLOW_PLAIN || f->state == FLOW_CLOSED)
		return;
	if (!told)
		tell(f, ACCEL_RESET);
	let_go(f, NULL);
	f->ops->give_up(f->arg, f, true);
	enter(f, FLOW_CLOSED, now);
	f->was_reset = true;
	f->stream = 0;
}

static bool near_is_ready(const struct flow *f)
{
	return f->far_point_known && !seq_before(f->near.acked, f->far_point);
}

/* Where the stand-in begins. A FIN that the other host has already is said again by its stand-in,
 * so that it is in the right state; it begins in front of it. */
static int stand_in(struct flow *f)
{
	if (f->near.fin && f->far.fin)
		return -EALREADY;
	f->near_start = f->near_point - f->near.fin;
	f->far_start = f->far_point - f->far.fin;
	return f->ops->stand_in(f->arg, f);
}

static void begin_taken(struct flow *f, mono_t now)
{
	f->failed = 0;
	enter(f, FLOW_TAKEN, now);
	let_go(f, f->ops->to_stand_in);
}

static void tell_accept(struct flow *f)
{
	struct accel_frame m = { .type = ACCEL_ACCEPT, .stream = f->stream };

	m.accept.point = f->near_point;
	m.accept.near = f->near.syn;
	m.accept.far = f->far.syn;
	f->ops->tell(f->arg, f, &m);
}

static void commit_take(struct flow *f, mono_t now)
{
	if (stand_in(f) < 0) {
		tell(f, ACCEL_ABORT);
		try_again_later(f, now);
		go_plain(f, now);
		return;
	}
	if (f->wanted)
		tell_accept(f);
	tell(f, ACCEL_TAKE);
	begin_taken(f, now);
}

static void finish_return(struct flow *f, mono_t now)
{
	f->ops->give_up(f->arg, f, false);
	if (f->leader)
		tell(f, ACCEL_RETURN);
	f->far.next = f->far_point;
	f->far.acked = f->near_point;
	f->far.seen = false;
	f->not_before = mono_add_ms(now, AGAIN_MS);
	go_plain(f, now);
}

/* The host here has acknowledged what the other side says was never sent: that side has not seen
 * it, and its stand-in would wait for it for ever. */
static bool is_beyond(const struct flow *f, uint32_t far_point)
{
	return seq_before(far_point, f->near.acked);
}

/* A follower that is ready, or began, may be taken already: it waits for the word. */
static bool can_be_called_off(const struct flow *f)
{
	return f->state == FLOW_DRAINING && (f->leader || !(f->near_ready || f->wanted));
}

static void call_off(struct flow *f, mono_t now)
{
	tell(f, f->leader ? ACCEL_ABORT : ACCEL_RESET);
	go_plain(f, now);
}

/* It may be that the leader has given up, and frames were faster than its word: so only the leader,
 * which makes offers, waits before the next one. */
static void call_off_beyond(struct flow *f, mono_t now)
{
	if (!can_be_called_off(f))
		return;
	if (f->leader)
		try_again_later(f, now);
	call_off(f, now);
}

/* One of the hosts has more than the node beside the other has seen. */
static bool numbers_are_old(const struct flow *f)
{
	return (f->far_point_known && is_beyond(f, f->far_point)) ||
	       (f->leader && f->wanted && f->far.seen && seq_before(f->near_point, f->far.acked));
}

static bool clocks_fit(const struct flow *f)
{
	return flow_end_clock_fits(&f->near) && flow_end_clock_fits(&f->far);
}

/* Leader, of one that began with a WANT: what the follower need not say, since frames do. */
static bool far_is_ready(const struct flow *f)
{
	return f->far.seen && !seq_before(f->far.acked, f->near_point) && clocks_fit(f);
}

/* Is the next step due? */
static void step(struct flow *f, mono_t now)
{
	bool ready;

	if (f->state != FLOW_DRAINING && f->state != FLOW_RETURNING)
		return;
	if (f->state == FLOW_DRAINING && numbers_are_old(f)) {
		call_off_beyond(f, now);
		return;
	}
	ready = f->state == FLOW_DRAINING ? near_is_ready(f)
					  : f->far_point_known && f->ops->is_drained(f->arg, f);
	if (ready && !f->near_ready && !f->leader && !f->wanted)
		tell(f, f->state == FLOW_DRAINING ? ACCEL_READY : ACCEL_DRAINED);
	f->near_ready |= ready;
	if (f->leader && f->wanted)
		f->far_ready = far_is_ready(f);
	if (!f->leader || !f->near_ready || !f->far_ready)
		return;
	if (f->state == FLOW_DRAINING)
		commit_take(f, now);
	else
		finish_return(f, now);
}

static void begin_draining(struct flow *f, mono_t now)
{
	enter(f, FLOW_DRAINING, now);
	f->near_point = f->near.next;
}

/* But for what shows with the next frames. */
static bool may_be_taken(const struct flow *f, mono_t now)
{
	return f->state == FLOW_PLAIN && !f->foreign && f->near.seen &&
	       !(f->near.fin && f->far.fin) && !mono_before(now, f->not_before);
}

bool flow_can_be_taken(const struct flow *f, mono_t now)
{
	return may_be_taken(f, now) && f->far.seen && clocks_fit(f);
}

/* Asks for it, and drains. */
static void begin(struct flow *f, uint8_t type, uint32_t stream, mono_t now)
{
	struct accel_frame m = { .type = type, .stream = stream };

	f->stream = stream;
	f->far_point_known = false;
	begin_draining(f, now);
	m.offer.key = f->key;
	m.offer.point = f->near_point;
	m.offer.near = f->near.syn;
	m.offer.far = f->far.syn;
	f->ops->tell(f->arg, f, &m);
}

void flow_offer(struct flow *f, uint32_t stream, mono_t now)
{
	begin(f, ACCEL_OFFER, stream, now);
}

void flow_want(struct flow *f, uint32_t stream, mono_t now)
{
	begin(f, ACCEL_WANT, stream, now);
	f->wanted = true;
}

bool flow_may_want(const struct flow *f, mono_t now)
{
	return !f->leader && !mono_before(now, f->want_after);
}

static void learn_syn(struct accel_options *mine, const struct accel_options *told)
{
	if (mine->scale == TCP_SCALE_UNKNOWN)
		*mine = *told;
}

/* What the other node says of the connection; `theirs` is of the host there. */
static void learn_point(struct flow *f, uint32_t point, const struct accel_options *theirs,
			const struct accel_options *ours)
{
	learn_syn(&f->far.syn, theirs);
	learn_syn(&f->near.syn, ours);
	f->far_point = point;
	f->far_point_known = true;
}

bool flow_can_answer(const struct flow *f, mono_t now)
{
	return f->leader && (may_be_taken(f, now) || (f->state == FLOW_DRAINING && !f->wanted));
}

void flow_wanted(struct flow *f, const struct accel_frame *want, mono_t now)
{
	/* The follower does not answer what it was offered meanwhile. What is held is held. */
	if (f->state == FLOW_DRAINING) {
		tell(f, ACCEL_ABORT);
		enter(f, FLOW_DRAINING, now);
	} else {
		begin_draining(f, now);
	}
	f->stream = want->stream;
	f->wanted = true;
	learn_point(f, want->offer.point, &want->offer.near, &want->offer.far);
	step(f, now);
}

void flow_offered(struct flow *f, const struct accel_frame *offer, mono_t now)
{
	f->stream = offer->stream;
	if (!flow_can_be_taken(f, now) || is_beyond(f, offer->offer.point)) {
		struct accel_frame no = { .type = ACCEL_REFUSE, .stream = offer->stream };

		f->ops->tell(f->arg, f, &no);
		if (f->state == FLOW_PLAIN)
			f->stream = 0;
		return;
	}
	begin_draining(f, now);
	learn_point(f, offer->offer.point, &offer->offer.near, &offer->offer.far);
	tell_accept(f);
	step(f, now);
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

/* Follower: the leader gives it back, or goes on after all. */
static void released(struct flow *f, uint32_t point, mono_t now)
{
	enter(f, FLOW_RETURNING, now);
	f->near_point = f->near.next;
	f->far_point = point;
	f->far_point_known = true;
	tell_point(f, ACCEL_RELEASED);
	step(f, now);
}

static void keep_taken(struct flow *f, mono_t now)
{
	enter(f, FLOW_TAKEN, now);
	let_go(f, f->ops->to_stand_in);
}

static void accepted(struct flow *f, const struct accel_frame *m)
{
	learn_point(f, m->accept.point, &m->accept.near, &m->accept.far);
}

static void not_taken(struct flow *f, mono_t now)
{
	if (f->state != FLOW_DRAINING)
		return;
	/* It may be offered all the same. */
	if (f->wanted)
		f->want_after = again_at(f, now);
	go_plain(f, now);
}

static bool leader_says(struct flow *f, const struct accel_frame *m, mono_t now)
{
	switch (m->type) {
	case ACCEL_ACCEPT:
		if (!f->wanted)
			return false;
		accepted(f, m);
		step(f, now);
		return true;
	case ACCEL_TAKE:
		if (f->state == FLOW_RETURNING) {
			keep_taken(f, now);
			return true;
		}
		if (f->state != FLOW_DRAINING || !(f->near_ready || f->wanted))
			return false;
		if (f->blind || !f->near_ready || stand_in(f) < 0)
			flow_reset(f, false, now);
		else
			begin_taken(f, now);
		return true;
	case ACCEL_ABORT:
	case ACCEL_REFUSE:
		learn_refusal(f, m);
		not_taken(f, now);
		return true;
	case ACCEL_RELEASE:
		if (f->state != FLOW_TAKEN)
			return false;
		released(f, m->at.point, now);
		return true;
	case ACCEL_RETURN:
		if (f->state == FLOW_RETURNING)
			finish_return(f, now);
		return true;
	default:
		return false;
	}
}

static bool follower_says(struct flow *f, const struct accel_frame *m, mono_t now)
{
	bool draining = f->state == FLOW_DRAINING, returning = f->state == FLOW_RETURNING;

	switch (m->type) {
	/* What was given up meanwhile may still be answered. */
	case ACCEL_ACCEPT:
		if (draining)
			accepted(f, m);
		break;
	case ACCEL_RELEASED:
		if (returning) {
			f->far_point = m->at.point;
			f->far_point_known = true;
		}
		break;
	case ACCEL_REFUSE:
		if (draining) {
			learn_refusal(f, m);
			try_again_later(f, now);
			go_plain(f, now);
		}
		break;
	case ACCEL_READY:
		f->far_ready |= draining;
		break;
	case ACCEL_DRAINED:
		f->far_ready |= returning;
		break;
	case ACCEL_RELEASE:
		flow_release(f, now);
		break;
	default:
		return false;
	}
	step(f, now);
	return true;
}

bool flow_message(struct flow *f, const struct accel_frame *m, mono_t now)
{
	if (m->type != ACCEL_RESET)
		return f->leader ? follower_says(f, m, now) : leader_says(f, m, now);
	if (f->state == FLOW_DRAINING) {
		if (f->leader)
			try_again_later(f, now);
		go_plain(f, now);
	} else {
		flow_reset(f, true, now);
	}
	return true;
}

void flow_tick(struct flow *f, int64_t rtt_ms, mono_t now)
{
	int64_t age = mono_sub_ms(now, f->since);

	step(f, now);
	if (!f->leader)
		return;
	if (f->state == FLOW_DRAINING && age > max_of(DRAIN_RTTS * rtt_ms, (int64_t)DRAIN_MIN_MS)) {
		tell(f, ACCEL_ABORT);
		try_again_later(f, now);
		go_plain(f, now);
	} else if (f->state == FLOW_RETURNING && age > RETURN_MAX_MS) {
		tell(f, ACCEL_TAKE);
		keep_taken(f, now);
	}
}

void flow_carrier_gone(struct flow *f, mono_t now)
{
	if (can_be_called_off(f)) {
		try_again_later(f, now);
		go_plain(f, now);
		return;
	}
	flow_reset(f, true, now);
}

void flow_call_off(struct flow *f, mono_t now)
{
	if (!can_be_called_off(f))
		return;
	try_again_later(f, now);
	call_off(f, now);
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
	let_go(f, NULL);
	enter(f, FLOW_CLOSED, now);
	f->last = now;
	f->was_reset = true;
	f->stream = 0;
}

void flow_closed(struct flow *f, mono_t now)
{
	let_go(f, f->ops->to_stand_in);
	enter(f, FLOW_CLOSED, now);
	f->stream = 0;
}

/* --- frames --- */

/* A SYN that is said again: a round trip of a second is as long as its timer. */
static bool is_old_syn(const struct flow_end *e, const struct tcp_view *t)
{
	return !(t->flags & TCP_RST) && e->began && e->start == t->end;
}

/* A new connection, or the end of this one, while it is drained: let it pass. */
static bool ends_draining(struct flow *f, const struct flow_end *e, const struct flow_frame *frame,
			  mono_t now)
{
	if (f->state != FLOW_DRAINING || !(frame->t->flags & (TCP_RST | TCP_SYN)) ||
	    is_old_syn(e, frame->t))
		return false;
	call_off(f, now);
	return true;
}

static void begin_again(struct flow *f, mono_t now)
{
	f->was_reset = f->blind = false;
	enter(f, FLOW_PLAIN, now);
}

/* A closed one has its addresses for another. */
static void reopen(struct flow *f, const struct tcp_view *t, mono_t now)
{
	if (f->state == FLOW_CLOSED && (t->flags & (TCP_SYN | TCP_ACK)) == TCP_SYN)
		begin_again(f, now);
}

void flow_from_near(struct flow *f, const struct flow_frame *frame, mono_t now)
{
	bool holds = f->state == FLOW_DRAINING || f->state == FLOW_RETURNING;
	way_fn way;

	f->last = now;
	f->near.mac = frame->v->src;
	f->far.mac = frame->v->dst;
	reopen(f, frame->t, now);
	if (ends_draining(f, &f->near, frame, now))
		holds = false;
	way = f->state == FLOW_PLAIN || f->state == FLOW_DRAINING ? f->ops->to_far
								  : f->ops->to_stand_in;
	if (f->state == FLOW_CLOSED && f->was_reset)
		way = f->ops->refuse_near;
	if (holds && !(frame->t->flags & (TCP_RST | TCP_SYN)) &&
	    seq_before(f->near_point, frame->t->end)) {
		flow_end_hear(&f->near, frame->t, now);
		hold_beyond(f, frame, way);
	} else {
		track(f, &f->near, frame, now);
		way(f->arg, f, frame);
	}
	step(f, now);
}

/* The leader returned it, and that word is still under way. */
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
	/* A late copy: the host has acknowledged what is in it. */
	if (f->state != FLOW_PLAIN && f->state != FLOW_DRAINING)
		return;
	track(f, &f->far, frame, now);
	f->ops->to_near(f->arg, f, frame);
}
