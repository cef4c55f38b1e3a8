// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Facts about the accelerator of another node, see peer.h.
 */
#include "peer/peer.h"

#include "base/defs.h"
#include "engine.h"
#include "peer/meter.h"
#include "peer/peer_state.h"
#include "peer/streams.h"
#include "peer/benefit.h"

#define QUIET_MS 2500 /* a live node or leond sends a message each second */

node_id_t peer_id(const struct accel_peer *p)
{
	return p->id;
}

bool peer_is_up(const struct accel_peer *p)
{
	return p->state == PEER_UP;
}

bool peer_is_known(const struct accel_peer *p, mono_t now)
{
	return mono_sub_ms(now, p->learned) <= PEER_SILENT_MS;
}

bool peer_is_left(const struct accel_peer *p, mono_t now)
{
	const struct engine *e = p->e;

	/* Not during or soon after a silence of leond. */
	return !peer_is_known(p, e->leond_seen) &&
	       mono_sub_ms(e->leond_seen, e->leond_since) > PEER_SILENT_MS &&
	       mono_sub_ms(now, e->leond_seen) <= PEER_SILENT_MS;
}

bool peer_accelerates(const struct accel_peer *p)
{
	return p->room > 0;
}

bool peer_is_bypassed(const struct accel_peer *p)
{
	return p->bypassed;
}

bool peer_leads(const struct accel_peer *p)
{
	return p->e->self < p->id;
}

uint32_t peer_rtt_us(const struct accel_peer *p)
{
	return p->rtt_us;
}

int64_t peer_rtt_ms(const struct accel_peer *p)
{
	return p->rtt_us / 1000 + 1;
}

struct accel_node *peer_counted(struct accel_peer *p)
{
	return &p->counted;
}

struct node_share *peer_share(struct accel_peer *p)
{
	return &p->share;
}

void peer_misuse(struct accel_peer *p, enum accel_misuse m)
{
	p->e->counters.misuse[m]++;
	peer_counted(p)->misuse[m]++;
}

uint32_t peer_new_stream(struct accel_peer *p)
{
	/* One connection makes an attempt, and the others wait for the answer. */
	if (p->refuses)
		p->not_before = mono_add_ms(loop_now(p->e->loop), PEER_REFUSED_MS);
	return (peer_leads(p) ? 0 : ACCEL_FOLLOWERS) + ++p->last_stream;
}

bool peer_answers(const struct accel_peer *p, mono_t now)
{
	return mono_sub_ms(now, p->ponged) <= QUIET_MS;
}

bool peer_refuses(const struct accel_peer *p, mono_t now)
{
	return mono_before(now, p->not_before);
}

unsigned peer_attempts(const struct accel_peer *p)
{
	unsigned streams = peer_streams(p);

	return streams - min_of(streams, (unsigned)p->counted.intercepted_now);
}

enum accel_reason peer_refusal(const struct accel_peer *p)
{
	return p->refusal;
}

uint64_t peer_room(struct accel_peer *p, enum saved_direction d, mono_t now)
{
	uint64_t room = d == SAVED_OUT ? p->interproxy.room : p->far_room;

	room = max_of(room, interproxy_least_room(p->rtt_us));
	return benefit_stream_rate(room, meter_best(&p->used[d], p->rtt_us, now), peer_streams(p));
}

void peer_acknowledged(struct accel_peer *p, uint32_t bytes, mono_t now)
{
	train_add(&p->train, bytes, p->rtt_us, now);
	p->interproxy.start = interproxy_start_rate(p->train.rate, p->remembered);
}

void peer_bind(struct accel_peer *p, uint32_t number, struct conn *c)
{
	streams_bind(p->streams, number, c);
}

void peer_unbind(struct accel_peer *p, uint32_t number)
{
	streams_unbind(p->streams, number);
}

unsigned peer_streams(const struct accel_peer *p)
{
	return streams_count(p->streams);
}

void peer_use(struct accel_peer *p, enum saved_direction d, size_t bytes)
{
	meter_add(&p->used[d], bytes, p->rtt_us, loop_now(p->e->loop));
}
