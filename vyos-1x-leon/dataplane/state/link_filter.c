// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The filter of latdb.h that makes one link's entry out of probe results: smoothed RTT and
 * variation with the gains of RFC 6298, smoothed loss, a minimum over one to two minutes.
 * Owned by whoever probes (proto/), on the control thread.
 */
#include "state/latdb.h"

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"

#define MINUTE_NS (60 * NS_PER_S)

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

static void note_minimum(struct link_filter *f, uint32_t rtt_us, mono_t now)
{
	int64_t age_ns = mono_sub_ns(now, f->min_since);

	if (f->n_samples == 0 || age_ns >= 2 * MINUTE_NS) {
		f->min_prev_us = rtt_us;
		f->min_cur_us = rtt_us;
		f->min_since = now;
	} else if (age_ns >= MINUTE_NS) {
		f->min_prev_us = f->min_cur_us;
		f->min_cur_us = rtt_us;
		f->min_since = now;
	}
	f->min_cur_us = min_of(f->min_cur_us, rtt_us);
	f->min_us = min_of(f->min_cur_us, f->min_prev_us);
}

void link_filter_answer(struct link_filter *f, uint32_t rtt_us, mono_t now)
{
	int64_t r = rtt_us;

	note_minimum(f, rtt_us, now);
	if (f->n_samples == 0) {
		f->srtt_us = r;
		f->var_us = r / VAR_START_DIVISOR;
	} else {
		/* The deviation is taken from the old average, hence before it moves. */
		f->var_us += (llabs(f->srtt_us - r) - f->var_us) / 4;
		f->srtt_us += (r - f->srtt_us) / 8;
	}
	f->last_us = rtt_us;
	/* Rounded up, so that the last thousandth goes away too. */
	f->loss_pm -= (f->loss_pm + LOSS_GAIN - 1) / LOSS_GAIN;
	if (f->n_samples < UINT32_MAX)
		f->n_samples++;
}

void link_filter_loss(struct link_filter *f)
{
	f->loss_pm += (LOSS_FULL - f->loss_pm + LOSS_GAIN - 1) / LOSS_GAIN;
}
