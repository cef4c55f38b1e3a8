// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The filter of latdb.h that derives a link's entry from probe results. The entry has the RTT on
 * two time scales (decision 023), RFC 6298 values for timeouts, the smoothed loss, and the windowed
 * minimum and maximum. Owned by the prober (proto/), on the control thread.
 */
#include "state/latency/latdb.h"

#include <string.h>

#include "base/defs.h"
#include "state/ewma.h"

#define MINUTE_MS (60 * 1000)
#define HOUR_MS	  (3600 * 1000)

/*
 * RFC 6298 initialises the variation with half the first sample, because a short timeout is costly.
 * Here the variation is part of the cost. With R/2 a direct link of 20 ms would cost 30 ms for
 * eight probes. Every new link would first lose its traffic to a relay and then win it back. A
 * sixteenth stays below the default threshold of 10 %, so a new link alone moves no path. Between
 * two links of equal latency, the older link still wins.
 */
#define VAR_START_DIVISOR 16

/* Initial age of the average, so that one burst of samples does not dominate it. */
#define AGE_MIN_US 10000000
/* Upper bound of the time weight of the first sample after a silence. */
#define DT_MAX_US 10000000

/* Number of mean deviations above the long-term average that marks an outlier. */
#define OUTLIER 8

#define LOSS_FULL 1000

void link_filter_reset(struct link_filter *f, uint32_t long_term_s)
{
	memset(f, 0, sizeof(*f));
	f->long_term_s = long_term_s;
}

static void note_minmax(struct link_filter *f, uint32_t rtt_us, mono_t now)
{
	if (f->n_samples == 0) {
		minmax_reset(&f->min, rtt_us, now);
		minmax_reset(&f->peak, rtt_us, now);
	}
	minmax_running_min(&f->min, rtt_us, MINUTE_MS, now);
	minmax_running_max(&f->peak, rtt_us, HOUR_MS, now);
}

static void note_sample(struct link_filter *f, uint32_t rtt_us)
{
	f->last_us = rtt_us;
	/* Rounds up: the average reaches 0. */
	f->loss_pm -= (f->loss_pm + LOSS_GAIN - 1) / LOSS_GAIN;
	if (f->n_samples < UINT32_MAX)
		f->n_samples++;
}

static void start_averages(struct link_filter *f, int64_t r, mono_t now)
{
	f->before_us = r;
	f->quick_us = r;
	f->slow_us = r;
	f->now_us = r;
	f->long_term_us = r;
	f->jitter_us = r / VAR_START_DIVISOR;
	f->variation_us = r / VAR_START_DIVISOR;
	f->dev_us = r / VAR_START_DIVISOR;
	f->first_at = now;
	f->last_at = now;
}

static int64_t distance(int64_t a, int64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * Short-term latency. If samples are correlated (a level shift), it follows the last samples. If
 * each sample is independent, it is their average. The difference of successive samples
 * distinguishes the two: a shift of the last samples within it is noise, a shift beyond it counts.
 *
 * A single sample moves nothing; two on the same side are required. An outlier enters the average
 * limited to the outlier bound.
 */
static void note_now(struct link_filter *f, int64_t r, bool overtaken, int64_t dt_us,
		     int64_t age_us)
{
	int64_t low = min_of(r, f->before_us), high = max_of(r, f->before_us);
	int64_t most = max_of(f->long_term_us + OUTLIER * f->dev_us, f->slow_us), by;

	if (!overtaken)
		f->quick_us = ewma_add(f->quick_us, min_of(max_of(f->quick_us, low), high), dt_us,
				       FILTER_QUICK_MS * 1000);
	f->slow_us = ewma_add(f->slow_us, min_of(r, most), dt_us,
			      min_of(FILTER_SLOW_S * 1000000LL, age_us));
	f->jitter_us = ewma_add(f->jitter_us, min_of(high, most) - min_of(low, most), dt_us,
				min_of(FILTER_JITTER_S * 1000000LL, age_us));
	if (!overtaken)
		f->before_us = r;
	by = f->quick_us - f->slow_us;
	if (distance(by, 0) <= f->jitter_us)
		f->now_us = f->slow_us;
	else
		f->now_us = f->quick_us + (by > 0 ? -f->jitter_us : f->jitter_us);
}

static void note_averages(struct link_filter *f, int64_t r, bool overtaken, mono_t now)
{
	int64_t dt_us = min_of(mono_sub_us(now, f->last_at), (int64_t)DT_MAX_US);
	int64_t age_us = mono_sub_us(now, f->first_at) + AGE_MIN_US;
	int64_t scale_us = min_of((int64_t)f->long_term_s * 1000000, age_us);

	note_now(f, r, overtaken, dt_us, age_us);
	/* Plain mean while the link is young. Deviations use the average before the update. */
	f->variation_us =
		ewma_add(f->variation_us, distance(f->now_us, f->long_term_us), dt_us, scale_us);
	f->dev_us = ewma_add(f->dev_us, distance(r, f->long_term_us), dt_us, scale_us);
	f->long_term_us = ewma_add(f->long_term_us, r, dt_us, scale_us);
	f->last_at = now;
}

/* Latency of the link without own load. Timeouts use the full sample. */
static int64_t without_load(const struct link_filter *f, int64_t r)
{
	return max_of(r - f->load_us, (int64_t)1);
}

void link_filter_answer(struct link_filter *f, uint32_t rtt_us, mono_t now)
{
	int64_t r = rtt_us;

	note_minmax(f, rtt_us, now);
	if (f->n_samples == 0) {
		f->srtt_us = r;
		f->var_us = r / VAR_START_DIVISOR;
		start_averages(f, r, now);
	} else {
		/* The deviation uses the old average and is therefore computed before it moves. A
		 * lower sample is an improvement: it lowers the average and must not raise the
		 * cost. */
		f->var_us += (2 * max_of(r - f->srtt_us, (int64_t)0) - f->var_us) / 4;
		f->srtt_us += (r - f->srtt_us) / 8;
		note_averages(f, without_load(f, r), false, now);
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
	note_minmax(f, rtt_us, now);
	note_averages(f, without_load(f, r), false, now);
	f->quick_us = max_of(f->quick_us, without_load(f, r));
	f->now_us = max_of(f->now_us, without_load(f, r));
	f->srtt_us = r;
	f->var_us = max_of(f->var_us, r / VAR_START_DIVISOR);
	note_sample(f, rtt_us);
}

void link_filter_overtaken(struct link_filter *f, uint32_t rtt_us, mono_t now)
{
	if (f->n_samples == 0)
		return;
	note_minmax(f, rtt_us, now);
	note_averages(f, without_load(f, rtt_us), true, now);
}

void link_filter_loss(struct link_filter *f)
{
	f->loss_pm += (LOSS_FULL - f->loss_pm + LOSS_GAIN - 1) / LOSS_GAIN;
}

#define LATE_GAIN 256
#define PPM	  1000000

void link_filter_late(struct link_filter *f, bool late)
{
	f->late_ppm =
		(uint32_t)(f->late_ppm + ((late ? PPM : 0) - (int64_t)f->late_ppm) / LATE_GAIN);
}

int64_t link_filter_usual_us(const struct link_filter *f)
{
	return f->long_term_us + 2 * f->dev_us;
}

uint32_t link_filter_chance(const struct link_filter *f)
{
	/* Loss shares whose 3rd, 4th, ... power is about 1e-5: at ten probes a second such a run
	 * occurs a few times an hour. */
	static const uint32_t shares[] = { 20000, 55000, 100000, 150000, 200000 };
	uint32_t n = 0;

	while (n < sizeof(shares) / sizeof(shares[0]) && f->late_ppm > shares[n])
		n++;
	return n;
}
