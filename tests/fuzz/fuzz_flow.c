// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-accel/flow/flow: a leader and a follower (tests/unit/flow_lab.h) between two hosts. The
 * input is {flags (8)} and steps of 6 bytes. flags & 1: both proxies are honest. Then no message is
 * invalid at the other side, in any order of frames, messages and time, and held frames fit the
 * limit. Otherwise the fuzzer makes the messages of one side.
 */
#include "../unit/flow_lab.h"

#include <stdlib.h>

#include "wire/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define STEP	  6u
#define STEPS_MAX 512
#define STREAM	  1000u /* of the hostile side; honest sides count from 1 */
#define RTT_MS	  200

static uint32_t last_stream; /* a number is never reused on one inter-proxy connection */

static struct accel_view view_of(const uint8_t *s)
{
	const struct accel_options syn = { 7, true, true, 1460 };

	return (struct accel_view){
		.near = { .seq = 1000u + get_u16(s + 2), .ack = 5000u + s[4], .syn = syn },
		.far = { .seq = 5000u + s[4], .ack = 1000u + get_u16(s + 2), .syn = syn },
	};
}

static void speak(struct side *to, const uint8_t *s, mono_t now)
{
	struct accel_frame m = { .type = (uint8_t)(1 + s[1] % (ACCEL_TYPES - 1)),
				 .stream = to->flow.stream };

	switch (m.type) {
	case ACCEL_OFFER:
	case ACCEL_ACCEPT:
		m.offer.view = view_of(s);
		if (m.type == ACCEL_ACCEPT)
			break;
		m.stream = STREAM;
		flow_offered(&to->flow, &m, now);
		return;
	case ACCEL_RELEASE:
	case ACCEL_RELEASED:
		m.at.point = 5000u + get_u16(s + 2);
		break;
	case ACCEL_HELLO:
	case ACCEL_DATA:
	case ACCEL_PACKED:
	case ACCEL_CREDIT:
	case ACCEL_FIN:
	case ACCEL_PING:
	case ACCEL_PONG:
	case ACCEL_FOUND:
	case ACCEL_FORWARD:
		return; /* do not reach the flow */
	default:
		break;
	}
	if (to->flow.stream)
		flow_message(&to->flow, &m, now);
}

/* A segment of one host at its own node, at the other node, or at both nodes. */
static void send_segment(struct lab *l, struct side *of, const uint8_t *s)
{
	struct side *other = of == &l->leader ? &l->follower : &l->leader;
	uint32_t seq = (of == &l->leader ? 1000u : 5000u) + s[2] * 4u;
	uint32_t ack = (of == &l->leader ? 5000u : 1000u) + s[3] * 4u;

	if (s[1] & 1)
		segment(l, of, of, seq, s[4], ack, s[5]);
	if (s[1] & 2)
		segment(l, of, other, seq, s[4], ack, s[5]);
}

static void begin_one(struct side *s, mono_t now)
{
	if (s->flow.state == FLOW_PLAIN && flow_can_intercept(&s->flow))
		flow_offer(&s->flow, (s->leads ? 0 : ACCEL_FOLLOWERS) + ++last_stream, now);
}

/* An action of one side alone. */
static void act(struct lab *l, struct side *s, uint8_t what)
{
	switch (what % 6) {
	case 0:
		begin_one(s, l->now);
		break;
	case 1:
		if (s->leads && s->flow.state == FLOW_INTERCEPTED)
			flow_release(&s->flow, l->now);
		break;
	case 2:
		s->drained = what & 0x80;
		break;
	case 3:
		s->proxy_sock = what & 0x80 ? -1 : 0;
		break;
	case 4:
		if (s->flow.state != FLOW_PLAIN)
			flow_reset(&s->flow, false, l->now);
		break;
	default:
		flow_tick(&s->flow, RTT_MS, l->now);
		break;
	}
}

/* The log of a side has places for LOG_MAX messages, so none is lost. */
static void take_step(struct lab *l, const uint8_t *s, bool honest)
{
	struct side *side = s[0] & 0x80 ? &l->leader : &l->follower;

	switch (s[0] % 5) {
	case 0:
		send_segment(l, side, s);
		break;
	case 1:
		if (honest)
			deliver(l, side);
		else
			speak(side, s, l->now);
		break;
	case 2:
		act(l, side, s[1]);
		break;
	case 3:
		l->now = mono_add_ms(l->now, get_u16(s + 1));
		flow_tick(&l->leader.flow, RTT_MS, l->now);
		flow_tick(&l->follower.flow, RTT_MS, l->now);
		break;
	default:
		if (honest) { /* the connection loses messages in flight */
			l->leader.n_intercepted = l->leader.n_notified;
			l->follower.n_intercepted = l->follower.n_notified;
		}
		flow_interproxy_gone(&l->leader.flow, l->now);
		flow_interproxy_gone(&l->follower.flow, l->now);
		break;
	}
	if (honest && l->leader.n_notified - l->leader.n_intercepted > LOG_MAX / 2)
		deliver(l, &l->leader);
	if (honest && l->follower.n_notified - l->follower.n_intercepted > LOG_MAX / 2)
		deliver(l, &l->follower);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct lab l;
	bool honest;

	if (len < 1)
		return 0;
	honest = data[0] & 1;
	last_stream = 0;
	begin(&l);
	l.clock_hz = data[0] & 2 ? 1000 : 0;
	data++;
	len--;
	for (unsigned i = 0; i < STEPS_MAX && len >= STEP; i++, data += STEP, len -= STEP)
		take_step(&l, data, honest);
	end(&l);
	return 0;
}
