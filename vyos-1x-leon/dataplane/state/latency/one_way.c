// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See one_way.h. Called by proto/measure/ with the answers to PINGs. Pure; control thread.
 */
#include "state/latency/one_way.h"

#include <string.h>

#include "base/defs.h"
#include "state/ewma.h"

/* Short, so that clock drift has little effect; at one probe a second the minimum of ten to twenty
 * samples is near the true minimum. */
#define PERIOD_MS 10000
#define SCALE_US  60000000
#define ENOUGH	  5
#define STALE_MS  60000
/* Upper bound of a plausible delay; above it a clock was stepped or the host restarted. */
#define JUMP_US 60000000

void one_way_reset(struct one_way *w)
{
	memset(w, 0, sizeof(*w));
}

static int32_t sample_of(struct one_way_dir *d, uint32_t raw_us, bool first)
{
	if (first)
		*d = (struct one_way_dir){ .zero = raw_us };
	return (int32_t)(raw_us - d->zero);
}

static bool has_jumped(const struct one_way_dir *d, int32_t us)
{
	int64_t by = (int64_t)us - d->cur;

	return by > JUMP_US || by < -JUMP_US;
}

/* Minima from before a silence are outdated: the clocks drifted, or the path changed. */
static bool begins_anew(const struct one_way *w, int32_t forward_us, int32_t reverse_us, mono_t now)
{
	return mono_sub_ms(now, w->last_at) >= STALE_MS || has_jumped(&w->forward, forward_us) ||
	       has_jumped(&w->reverse, reverse_us);
}

static void note_dir(struct one_way_dir *d, int32_t us, bool new_period, int64_t dt_us,
		     int64_t scale_us)
{
	int64_t beyond;

	if (new_period) {
		d->prev = d->cur;
		d->cur = us;
	}
	d->cur = min_of(d->cur, us);
	beyond = (int64_t)us - min_of(d->cur, d->prev);
	d->beyond_us = ewma_add(d->beyond_us, beyond, dt_us, scale_us);
}

void one_way_note(struct one_way *w, const struct one_way_times *t, mono_t now)
{
	uint32_t forward = t->arrived_us - (uint32_t)t->sent_us;
	uint32_t reverse = (uint32_t)t->answered_us - t->arrived_us - t->held_us;
	int64_t rtt_us = t->answered_us - t->sent_us - t->held_us, dt_us, scale_us;
	int32_t forward_us = sample_of(&w->forward, forward, w->n == 0);
	int32_t reverse_us = sample_of(&w->reverse, reverse, w->n == 0);
	bool new_period;

	if (w->n && begins_anew(w, forward_us, reverse_us, now)) {
		one_way_reset(w);
		forward_us = sample_of(&w->forward, forward, true);
		reverse_us = sample_of(&w->reverse, reverse, true);
	}
	if (w->n++ == 0) {
		w->first_at = w->last_at = w->period_at = now;
		w->rtt_us = rtt_us;
		return;
	}
	dt_us = min_of(mono_sub_us(now, w->last_at), (int64_t)PERIOD_MS * 1000);
	/* Plain mean for the first samples. */
	scale_us = min_of(mono_sub_us(now, w->first_at), (int64_t)SCALE_US);
	new_period = mono_sub_ms(now, w->period_at) >= PERIOD_MS;
	if (new_period)
		w->period_at = now;
	note_dir(&w->forward, forward_us, new_period, dt_us, scale_us);
	note_dir(&w->reverse, reverse_us, new_period, dt_us, scale_us);
	w->jitter_us =
		ewma_add(w->jitter_us, rtt_us > w->rtt_us ? rtt_us - w->rtt_us : w->rtt_us - rtt_us,
			 dt_us, scale_us);
	w->rtt_us = rtt_us;
	w->last_at = now;
}

bool one_way_is_known(const struct one_way *w, mono_t now)
{
	return w->n >= ENOUGH && mono_sub_ms(now, w->last_at) < STALE_MS;
}

/* A second minimum, of the period before, exists from the second period on. */
static uint32_t smallest(const struct one_way_dir *d)
{
	return d->zero + (uint32_t)min_of(d->cur, d->prev);
}

bool one_way_clock(const struct one_way *w, mono_t now, uint32_t *offset_us, uint32_t *rtt_us)
{
	uint32_t forward, reverse;

	if (!one_way_is_known(w, now))
		return false;
	forward = smallest(&w->forward);
	reverse = smallest(&w->reverse);
	*rtt_us = forward + reverse;
	*offset_us = forward - *rtt_us / 2;
	return *rtt_us <= JUMP_US;
}
