// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Round-trip time and one-way values of a PING and PONG. The answering node may lie: ids are
 * unpredictable, and a held time counts only up to the bound of an honest node. Called by probe.c
 * and ping.c on the control thread. Protocol 4.7; doc/decisions/020.
 */
#include "proto/measure/measure.h"

#include "proto/core.h"

#define RTT_MAX_US 60000000
/* Upper bound of the subtracted held time. An idle control thread answers in microseconds; a busy
 * one appears more distant. */
#define HELD_MAX_US 2000
/* If a node reports longer held times, samples that would raise the estimate are skipped for this
 * time. */
#define HELD_SKIP_MS 3000

/* Random: a node that predicts the next id could answer a PING too early. */
uint32_t rtt_new_id(void)
{
	return (uint32_t)(random_u64_nonzero() % UINT32_MAX) + 1;
}

uint32_t rtt_us(const struct overlay *o, mono_t sent, mono_t rx, uint32_t held_ns)
{
	int64_t us, held_us = min_of((int64_t)held_ns / NS_PER_US, (int64_t)HELD_MAX_US);

	/* A receive time outside [sent, now] is the result of a clock step. */
	if (mono_before(rx, sent) || mono_before(overlay_clock(o), rx))
		rx = overlay_clock(o);
	us = mono_sub_us(rx, sent);
	if (us > RTT_MAX_US)
		return 0;
	/* The reported held time exceeds the round trip: nothing is subtracted. */
	if (held_ns / NS_PER_US < us)
		us -= held_us;
	return (uint32_t)max_of(us, (int64_t)1);
}

uint32_t rtt_sample_us(const struct overlay *o, struct peer *p, mono_t sent, mono_t rx,
		       uint32_t held_ns)
{
	uint32_t us = rtt_us(o, sent, rx, held_ns);
	const struct link_filter *f = &p->probe.filter;

	if (held_ns / NS_PER_US <= HELD_MAX_US || !f->n_samples || us <= f->srtt_us) {
		p->probe.held_since = MONO_NEVER;
		return us;
	}
	/* The link took at most this time, so the sample cannot raise the estimate. If the state
	 * persists, the sample counts, because a slower link could hide behind it. */
	if (mono_is_never(p->probe.held_since))
		p->probe.held_since = overlay_now(o);
	return mono_sub_ms(overlay_now(o), p->probe.held_since) < HELD_SKIP_MS ? 0 : us;
}

void rtt_one_way(const struct overlay *o, struct one_way *w, mono_t sent, mono_t rx,
		 const struct msg_pong *m)
{
	struct one_way_times t = { .sent_us = sent.ns / NS_PER_US,
				   .answered_us = rx.ns / NS_PER_US,
				   .arrived_us = m->arrived_us,
				   .held_us = (uint32_t)(m->held_ns / NS_PER_US) };

	/* Outside [sent, now]: a clock step. Held longer than the round trip: false. */
	if (mono_before(rx, sent) || mono_before(overlay_clock(o), rx) ||
	    t.held_us > t.answered_us - t.sent_us)
		return;
	one_way_note(w, &t, overlay_now(o));
}
