// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bytes per round trip, see meter.h.
 */
#include "peer/meter.h"

#include <string.h>

#include "base/defs.h"

/* Starts an interval for each elapsed round trip. */
static void go_on(struct meter *m, uint32_t rtt_us, mono_t now)
{
	int64_t rounds = m->began.ns ? mono_sub_us(now, m->began) / rtt_us : METER_ROUNDS;

	if (rounds < 1)
		return;
	if (rounds >= METER_ROUNDS) {
		memset(m->bytes, 0, sizeof(m->bytes));
		m->began = now;
		return;
	}
	m->began = mono_add_us(m->began, rounds * rtt_us);
	while (rounds-- > 0) {
		m->at = (m->at + 1) % METER_ROUNDS;
		m->bytes[m->at] = 0;
	}
}

void meter_add(struct meter *m, uint64_t bytes, uint32_t rtt_us, mono_t now)
{
	if (!rtt_us)
		return;
	go_on(m, rtt_us, now);
	m->bytes[m->at] += bytes;
}

uint64_t meter_best(struct meter *m, uint32_t rtt_us, mono_t now)
{
	uint64_t best = 0;

	if (!rtt_us)
		return 0;
	go_on(m, rtt_us, now);
	for (unsigned i = 0; i < METER_ROUNDS; i++)
		best = max_of(best, m->bytes[i]);
	return best;
}

/* --- trains of acknowledgements --- */

#define TRAIN_MIN    2400  /* bytes: two segments */
#define ACK_MAX	     4500  /* bytes of one acknowledgement: three segments */
#define DURATION_MIN 1000  /* microseconds: a process handles arrivals together */
#define PAUSE_MIN_US 10000 /* shorter pauses are jitter */

void train_add(struct train *t, uint32_t bytes, uint32_t rtt_us, mono_t now)
{
	int64_t pause = max_of((int64_t)rtt_us / 4, (int64_t)PAUSE_MIN_US);

	if (!bytes)
		return;
	if (!t->last.ns || mono_sub_us(now, t->last) > pause) {
		t->first = now;
		t->bytes = 0;
	} else {
		/* A late acknowledgement of many segments says nothing about their arrival. */
		t->bytes += min_of(bytes, (uint32_t)ACK_MAX);
	}
	t->last = now;
	if (t->bytes >= TRAIN_MIN)
		t->rate = t->bytes * 1000000 /
			  (uint64_t)max_of(mono_sub_us(now, t->first), (int64_t)DURATION_MIN);
}

/* --- the saved time --- */

/* A longer pause than this and two round trips is a pause of the hosts, which did not wait for the
 * network. */
#define PAUSE_US 200000

void time_saved_add(struct time_saved *s, const struct saved_step *step, mono_t now)
{
	int64_t gap = s->last.ns ? mono_sub_us(now, s->last) : 0;

	if (gap > 0 && gap <= PAUSE_US + 2 * (int64_t)step->rtt_us)
		s->with_us += (uint64_t)gap;
	s->last = now;
	if (step->window)
		s->without_ns[step->direction] +=
			step->bytes * step->rtt_us / step->window * 1000 +
			step->bytes * step->rtt_us % step->window * 1000 / step->window;
}

struct accel_time time_saved_total(const struct time_saved *s)
{
	struct accel_time t = { .with_ms = s->with_us / 1000,
				.without_ms =
					max_of(s->without_ns[0], s->without_ns[1]) / 1000000 };

	/* A negative result has unknown causes, so it counts as 0. */
	t.without_ms = max_of(t.without_ms, t.with_ms);
	return t;
}
