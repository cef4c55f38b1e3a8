// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Services without knowledge of the protocol: time, random numbers, events, alarms.
 * Control thread.
 */
#include "proto/core.h"

#define MINUTE_MS 60000
#define MANY	  4
#define SHARING	  16u /* see overlay_spread() */

mono_t overlay_now(const struct overlay *o)
{
	return loop_now(o->loop);
}

mono_t overlay_clock(const struct overlay *o)
{
	return o->ops.precise_now ? o->ops.precise_now(o->arg) : loop_now(o->loop);
}

/* splitmix64: small and seedable, to spread timers; never used for secrets. */
uint64_t overlay_random(struct overlay *o)
{
	uint64_t z = o->rng += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

mono_t overlay_in(struct overlay *o, int64_t lo_ms, int64_t hi_ms)
{
	uint64_t span_ns = hi_ms > lo_ms ? (uint64_t)(hi_ms - lo_ms) * (uint64_t)NS_PER_MS : 0;
	uint64_t more_ns = span_ns ? overlay_random(o) % (span_ns + 1) : 0;

	return mono_add_ns(mono_add_ms(overlay_now(o), lo_ms), (int64_t)more_ns);
}

int64_t overlay_stretch(const struct overlay *o, int64_t ms)
{
	uint32_t members = nodedb_members(o->nodes);

	return members > STRETCH_MEMBERS ? ms * members / STRETCH_MEMBERS : ms;
}

int64_t overlay_spread(int64_t ms, uint32_t n_missing)
{
	return ms * max_of(n_missing, SHARING) / SHARING;
}

void overlay_emit(struct overlay *o, enum event_kind kind, node_id_t node, node_id_t other,
		  uint64_t value, const char *detail)
{
	struct overlay_event e = {
		.kind = kind,
		.at = overlay_now(o),
		.node = node,
		.other = other,
		.value = value,
		.detail = detail,
	};

	if (o->ops.event)
		o->ops.event(o->arg, &e);
}

bool overlay_once_a_minute(const struct overlay *o, struct bucket *b)
{
	return bucket_pass(b, overlay_now(o), 60 * NS_PER_S, 60 * NS_PER_S);
}

bool overlay_many_a_minute(const struct overlay *o, struct minute_count *c)
{
	mono_t now = overlay_now(o);

	if (mono_is_never(c->since) || mono_sub_ms(now, c->since) > MINUTE_MS)
		*c = (struct minute_count){ .since = now };
	return ++c->n >= MANY;
}

struct overlay_traffic overlay_traffic_of(const struct overlay *o, uint16_t slot)
{
	struct overlay_traffic t = { 0 };

	if (o->ops.traffic)
		o->ops.traffic(o->arg, slot, &t);
	return t;
}

void alarm_init(struct overlay *o, struct alarm *a, timer_fn fn, void *arg)
{
	a->timer = timer_new(o->loop, fn, arg);
	a->at = MONO_NEVER;
}

void alarm_set(struct alarm *a, mono_t at)
{
	a->at = at;
	if (mono_is_never(at))
		timer_stop(a->timer);
	else
		timer_set(a->timer, at);
}

void alarm_sooner(struct alarm *a, mono_t at)
{
	if (!timer_is_set(a->timer) || mono_before(at, a->at))
		alarm_set(a, at);
}

void alarm_free(struct alarm *a)
{
	timer_free(a->timer);
	a->timer = NULL;
}
