// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two flows of leon-accel, a leader and a follower, between two simulated hosts. Messages and
 * frames are in flight until the test delivers them.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/virtio_net.h>
#include <string.h>

#include "base/defs.h"
#include "flow/flow.h"
#include "ipc/accel_queue.h"
#include "wire/bytes.h"

#define LOG_MAX	    64
#define CHECKSUM_AT (ETH_HDR_LEN + 20 + 16)

/* The actions of one side, in order. */
struct side {
	struct flow flow;
	bool leads;
	unsigned n_ended; /* streams */
	struct accel_frame told[LOG_MAX];
	unsigned n_notified, n_intercepted;
	uint32_t far[LOG_MAX], near[LOG_MAX], inside[LOG_MAX]; /* `end` of the frames */
	/* TSval of the same frames; checksum of the last frame to a host */
	uint32_t far_ts[LOG_MAX], near_ts[LOG_MAX], inside_ts[LOG_MAX];
	uint16_t far_sum, near_sum;
	unsigned n_far, n_near, n_inside, n_refused;
	int proxy_sock;	   /* result of making the proxy socket */
	bool made, starts; /* of the proxy socket */
	unsigned n_unused; /* made, and never part of the connection */
	unsigned n_probed;
	struct flow_proof proof;
	bool stands, drained, reset;
	bool unsent; /* data of the near host is in the proxy socket */
	int64_t held;
};

struct lab {
	struct side leader, follower;
	mono_t now;
	unsigned clock_hz; /* of the hosts' timestamps; 0: none */
	uint32_t behind;   /* time for which the clocks of the hosts were paused, in ticks */
	/* received segments have an option that forbids a proxy socket in the middle */
	bool foreign;
	/* segments have a checksum of the pseudo-header only */
	bool partial;
};

/* Reports whether the connection can be intercepted, as far as this node knows. */
static inline bool flow_can_intercept(const struct flow *f)
{
	return f->state == FLOW_PLAIN && !f->foreign && f->near.seen && f->far.seen &&
	       !(f->near.fin && f->far.fin) && flow_end_clock_fits(&f->near) &&
	       flow_end_clock_fits(&f->far);
}

static inline struct tcp_view tcp_of(const struct flow_frame *f)
{
	struct tcp_view t;
	struct eth_view v;

	assert_int_equal(eth_parse(f->data, f->len, &v), 0);
	assert_int_equal(tcp_parse(f->data, f->len, &v, &t), 0);
	return t;
}

static inline uint32_t end_of(const struct flow_frame *f)
{
	return tcp_of(f).end;
}

/* The proxy sockets begin at these sequence numbers. */
static inline void assert_starts(const struct side *s, uint32_t near, uint32_t far)
{
	assert_int_equal(s->flow.near_start, near);
	assert_int_equal(s->flow.far_start, far);
}

static inline struct side *side_of(struct flow *f)
{
	return container_of(f, struct side, flow);
}

static inline bool leads(const struct flow *f)
{
	return container_of(f, const struct side, flow)->leads;
}
static inline void stream_ended(struct flow *f, uint32_t stream)
{
	(void)stream;
	side_of(f)->n_ended++;
}
static inline void to_far(struct flow *f, const struct flow_frame *frame)
{
	struct side *s = side_of(f);

	s->far_ts[s->n_far % LOG_MAX] = tcp_of(frame).ts_val;
	s->far_sum = get_u16(frame->data + CHECKSUM_AT);
	s->far[s->n_far++ % LOG_MAX] = end_of(frame);
}
static inline void to_near(struct flow *f, const struct flow_frame *frame)
{
	struct side *s = side_of(f);

	s->near_ts[s->n_near % LOG_MAX] = tcp_of(frame).ts_val;
	s->near_sum = get_u16(frame->data + CHECKSUM_AT);
	s->near[s->n_near++ % LOG_MAX] = end_of(frame);
}
static inline void to_proxy_sock(struct flow *f, const struct flow_frame *frame)
{
	struct side *s = side_of(f);

	s->inside_ts[s->n_inside % LOG_MAX] = tcp_of(frame).ts_val;
	s->inside[s->n_inside++ % LOG_MAX] = end_of(frame);
}
static inline void notify(struct flow *f, const struct accel_frame *frame)
{
	struct side *s = side_of(f);

	s->told[s->n_notified++ % LOG_MAX] = *frame;
}
static inline int proxy_sock(struct flow *f)
{
	struct side *s = side_of(f);

	s->made = s->proxy_sock == 0;
	return s->proxy_sock;
}
static inline bool start(struct flow *f)
{
	struct side *s = side_of(f);

	assert_true(s->made);
	s->stands = true;
	return true;
}
static inline bool is_drained(struct flow *f)
{
	return side_of(f)->drained;
}
static inline bool is_sent(struct flow *f)
{
	return !side_of(f)->unsent;
}
static inline void refuse_far(struct flow *f, const struct flow_frame *frame)
{
	(void)frame;
	side_of(f)->n_refused++;
}
static inline void refuse_near(struct flow *f, const struct flow_frame *frame)
{
	refuse_far(f, frame);
}
static inline void give_up(struct flow *f, enum flow_end_of how)
{
	struct side *s = side_of(f);

	s->n_unused += how == FLOW_UNUSED && s->made;
	assert_false(how == FLOW_UNUSED && s->stands);
	s->made = s->stands = false;
	s->reset |= how == FLOW_RESET;
}
static inline void probe(struct flow *f)
{
	side_of(f)->n_probed++;
}
static inline struct flow_proof proof(struct flow *f)
{
	return side_of(f)->proof;
}
static inline bool may_hold(struct flow *f, int64_t bytes)
{
	struct side *s = side_of(f);

	if (bytes > 0 && s->held + bytes > 1000)
		return false;
	s->held += bytes;
	assert_true(s->held >= 0);
	return true;
}

static const struct flow_ops OPS = { .leads = leads,
				     .stream_ended = stream_ended,
				     .to_far = to_far,
				     .to_near = to_near,
				     .to_proxy_sock = to_proxy_sock,
				     .notify = notify,
				     .proxy_sock = proxy_sock,
				     .start = start,
				     .is_drained = is_drained,
				     .is_sent = is_sent,
				     .refuse_far = refuse_far,
				     .refuse_near = refuse_near,
				     .give_up = give_up,
				     .probe = probe,
				     .proof = proof,
				     .may_hold = may_hold };

/* A segment of the host behind `from`. Sequence numbers begin at 1000 behind the leader, and at
 * 5000 behind the follower. */
static inline void segment(struct lab *l, struct side *from, struct side *at, uint32_t seq,
			   uint32_t len, uint32_t ack, uint8_t flags)
{
	bool of_leader = from == &l->leader;
	struct tcp_segment s = { .src = { 4, { 10, 0, 0, of_leader ? 1 : 2 } },
				 .dst = { 4, { 10, 0, 0, of_leader ? 2 : 1 } },
				 .src_port = of_leader ? 1 : 2,
				 .dst_port = of_leader ? 2 : 1,
				 .seq = seq,
				 .ack = ack,
				 .window = 100,
				 .flags = flags,
				 .has_ts = l->clock_hz,
				 .ts_val = (uint32_t)(l->now.ns / 1000000 * l->clock_hz / 1000) -
					   l->behind };
	uint8_t message[18 + TCP_FRAME_MAX + 512] = { 0 };
	struct flow_frame f = { .message = message, .data = message + 18 };
	struct eth_view v;
	struct tcp_view t;

	f.len = tcp_make(&s, f.data) + len;
	f.data[16] = (uint8_t)((f.len - 14) >> 8);
	f.data[17] = (uint8_t)(f.len - 14);
	f.message_len = 18 + f.len;
	message[ACCEL_QUEUE_HDR] = l->partial ? VIRTIO_NET_HDR_F_NEEDS_CSUM : 0;
	assert_int_equal(eth_parse(f.data, f.len, &v), 0);
	assert_int_equal(tcp_parse(f.data, f.len, &v, &t), 0);
	t.foreign = l->foreign;
	f.v = &v;
	f.t = &t;
	if (from == at)
		flow_from_near(&at->flow, &f, l->now);
	else
		flow_from_far(&at->flow, &f, l->now);
}

/* A segment that both nodes receive. */
static inline void across(struct lab *l, struct side *from, uint32_t seq, uint32_t len,
			  uint32_t ack)
{
	struct side *to = from == &l->leader ? &l->follower : &l->leader;

	segment(l, from, from, seq, len, ack, TCP_ACK);
	segment(l, from, to, seq, len, ack, TCP_ACK);
}

static inline const struct accel_frame *last_notified(const struct side *s)
{
	assert_true(s->n_notified > 0);
	return &s->told[(s->n_notified - 1) % LOG_MAX];
}

/* Delivers all messages of one side to the other. */
static inline void deliver(struct lab *l, struct side *from)
{
	struct side *to = from == &l->leader ? &l->follower : &l->leader;

	for (; from->n_intercepted < from->n_notified; from->n_intercepted++) {
		const struct accel_frame *m = &from->told[from->n_intercepted % LOG_MAX];

		if (m->type == ACCEL_OFFER)
			flow_offered(&to->flow, m, l->now);
		else if (m->stream == to->flow.stream)
			assert_true(flow_message(&to->flow, m, l->now));
	}
}

static inline void begin(struct lab *l)
{
	struct accel_key k = { 0 };

	memset(l, 0, sizeof(*l));
	l->now = (mono_t){ NS_PER_S };
	l->leader.leads = true;
	flow_init(&l->leader.flow, &OPS, &k, l->now);
	flow_init(&l->follower.flow, &OPS, &k, l->now);
	across(l, &l->leader, 1000, 100, 5000);
	across(l, &l->follower, 5000, 100, 1100);
	across(l, &l->leader, 1100, 0, 5100);
}

static inline void end(struct lab *l)
{
	flow_fini(&l->leader.flow);
	flow_fini(&l->follower.flow);
	assert_int_equal(l->leader.held, 0);
	assert_int_equal(l->follower.held, 0);
}

/* Makes an offer while a segment of the leader's host is in flight and has not reached the
 * follower. */
static inline void begin_offer(struct lab *l)
{
	begin(l);
	segment(l, &l->leader, &l->leader, 1100, 100, 5100, TCP_ACK);
	flow_offer(&l->leader.flow, 7, l->now);
}

static inline void offer(struct lab *l, struct side *s)
{
	flow_offer(&s->flow, s == &l->leader ? 7 : ACCEL_FOLLOWERS + 1, l->now);
}

/* Delivers the messages of both sides until no new message follows. */
static inline void deliver_all(struct lab *l)
{
	while (l->leader.n_intercepted < l->leader.n_notified ||
	       l->follower.n_intercepted < l->follower.n_notified) {
		deliver(l, &l->leader);
		deliver(l, &l->follower);
	}
}

static inline void take(struct lab *l)
{
	offer(l, &l->leader);
	deliver_all(l);
	assert_int_equal(l->leader.flow.state, FLOW_INTERCEPTED);
	assert_int_equal(l->follower.flow.state, FLOW_INTERCEPTED);
	assert_true(l->leader.stands && l->follower.stands);
}
