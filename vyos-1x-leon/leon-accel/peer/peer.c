// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Facts about the accelerator of another node, see peer.h.
 */
#include "peer/peer.h"

#include "base/defs.h"
#include "engine.h"
#include "peer/benefit.h"

#define QUIET_MS 2500 /* a live node or leond sends a message each second */

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

bool peer_is_far_at(const struct accel_peer *p, uint32_t percent)
{
	const struct accel_settings *s = &p->e->settings;

	return s->mode == ACCEL_ALWAYS ||
	       (uint64_t)p->rtt_us * 100 >= (uint64_t)s->threshold_us * percent;
}

bool peer_leads(const struct accel_peer *p)
{
	return p->e->self < p->id;
}

int64_t peer_rtt_ms(const struct accel_peer *p)
{
	return p->rtt_us / 1000 + 1;
}

void peer_misuse(struct accel_peer *p, enum accel_misuse m)
{
	p->e->counters.misuse[m]++;
	p->counted.misuse[m]++;
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

unsigned peer_attempts(const struct accel_peer *p)
{
	unsigned streams = streams_count(&p->streams);

	return streams - min_of(streams, (unsigned)p->counted.intercepted_now);
}

uint64_t peer_room(struct accel_peer *p, enum saved_direction d, mono_t now)
{
	uint64_t room = d == SAVED_OUT ? p->interproxy.room : p->far_room;

	room = max_of(room, interproxy_least_room(p->rtt_us));
	return benefit_stream_rate(room, meter_best(&p->used[d], p->rtt_us, now),
				   streams_count(&p->streams));
}

void peer_acknowledged(struct accel_peer *p, uint32_t bytes, mono_t now)
{
	train_add(&p->train, bytes, p->rtt_us, now);
	p->interproxy.start = interproxy_start_rate(p->train.rate, p->remembered);
}

void peer_use(struct accel_peer *p, enum saved_direction d, size_t bytes)
{
	meter_add(&p->used[d], bytes, p->rtt_us, loop_now(p->e->loop));
}
