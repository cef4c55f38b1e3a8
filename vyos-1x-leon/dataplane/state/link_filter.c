// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The filter of latdb.h that makes one link's entry out of probe results: smoothed RTT and
 * variation with the gains of RFC 6298, smoothed loss, a minimum over one to two minutes and a
 * maximum over one to two hours.
 * Owned by whoever probes (proto/), on the control thread.
 */
#include "state/latdb.h"

#include <string.h>

#include "base/defs.h"

#define MINUTE_NS (60 * NS_PER_S)
#define HOUR_NS	  (60 * MINUTE_NS)

/*
 * RFC 6298 starts the variation at half the first sample, because a timeout that is too short is
 * costly. Here the variation is a price: with R/2 a direct link of 20 ms would cost 30 ms until
 * eight probes have worn it down, and every fresh link would first lose to a relay and then win
 * its traffic back. A sixteenth stays below the default threshold of 10 %, so that novelty alone
 * moves no path, and still prefers a proven link to an unproven one that looks the same.
 */
#define VAR_START_DIVISOR 16

#define LOSS_GAIN 32
#define LOSS_FULL 1000

void link_filter_reset(struct link_filter *f)
{
	memset(f, 0, sizeof(*f));
}

/* Begins a new period where the one before is over. */
static void extreme_age(struct extreme *e, bool first, uint32_t sample, int64_t period_ns,
			mono_t now)
{
	int64_t age_ns = mono_sub_ns(now, e->since);

	if (!first && age_ns < period_ns)
		return;
	e->prev = first || age_ns >= 2 * period_ns ? sample : e->cur;
	e->cur = sample;
	e->since = now;
}

static void note_extremes(struct link_filter *f, uint32_t rtt_us, mono_t now)
{
	bool first = f->n_samples == 0;

	extreme_age(&f->min, first, rtt_us, MINUTE_NS, now);
	f->min.cur = min_of(f->min.cur, rtt_us);
	f->min.value = min_of(f->min.cur, f->min.prev);
	extreme_age(&f->peak, first, rtt_us, HOUR_NS, now);
	f->peak.cur = max_of(f->peak.cur, rtt_us);
	f->peak.value = max_of(f->peak.cur, f->peak.prev);
}

static void note_sample(struct link_filter *f, uint32_t rtt_us)
{
	f->last_us = rtt_us;
	/* Rounded up, so that the last thousandth goes away too. */
	f->loss_pm -= (f->loss_pm + LOSS_GAIN - 1) / LOSS_GAIN;
	if (f->n_samples < UINT32_MAX)
		f->n_samples++;
}

void link_filter_answer(struct link_filter *f, uint32_t rtt_us, mono_t now)
{
	int64_t r = rtt_us;

	note_extremes(f, rtt_us, now);
	if (f->n_samples == 0) {
		f->srtt_us = r;
		f->var_us = r / VAR_START_DIVISOR;
	} else {
		/* The deviation is taken from the old average, hence before it moves. A time that falls
		 * is good news: it lowers the average, and must not raise the price. */
		f->var_us += (2 * max_of(r - f->srtt_us, (int64_t)0) - f->var_us) / 4;
		f->srtt_us += (r - f->srtt_us) / 8;
	}
	note_sample(f, rtt_us);
}

void link_filter_jump(struct link_filter *f, uint32_t rtt_us, mono_t now)
{
	int64_t r = rtt_us;

	if (f->n_samples == 0 || r <= f->srtt_us) {
		link_filter_answer(f, rtt_us, now);
		return;
	}
	note_extremes(f, rtt_us, now);
	f->srtt_us = r;
	f->var_us = max_of(f->var_us, r / VAR_START_DIVISOR);
	note_sample(f, rtt_us);
}

void link_filter_loss(struct link_filter *f)
{
	f->loss_pm += (LOSS_FULL - f->loss_pm + LOSS_GAIN - 1) / LOSS_GAIN;
}
