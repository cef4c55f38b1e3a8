// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The filter of latdb.h that makes one link's entry out of probe results: round-trip time on
 * two time scales (decision 023), those of RFC 6298 for timeouts, smoothed loss, a minimum
 * over one to two minutes and a maximum over one to two hours. Owned by whoever probes
 * (proto/), on the control thread.
 */
#include "state/latdb.h"

#include <string.h>

#include "base/defs.h"
#include "state/follow.h"

#define MINUTE_MS (60 * 1000)
#define HOUR_MS	  (3600 * 1000)

/*
 * RFC 6298 starts the variation at half the first sample, because a timeout that is too short is
 * costly. Here the variation is a price: with R/2 a direct link of 20 ms would cost 30 ms until
 * eight probes have worn it down, and every fresh link would first lose to a relay and then win
 * its traffic back. A sixteenth stays below the default threshold of 10 %, so that novelty alone
 * moves no path, and still prefers a proven link to an unproven one that looks the same.
 */
#define VAR_START_DIVISOR 16

/* The average starts as if it were this old, so that one burst of samples does not make it. */
#define AGE_MIN_US 10000000
/* The first sample after a silence counts for no more than this of it. */
#define DT_MAX_US 10000000

/* So many mean deviations above what lasts is beyond anything usual. */
#define OUTLIER 8

#define LOSS_GAIN 32
#define LOSS_FULL 1000

void link_filter_reset(struct link_filter *f, uint32_t lasting_s)
{
	memset(f, 0, sizeof(*f));
	f->lasting_s = lasting_s;
}

static void note_extremes(struct link_filter *f, uint32_t rtt_us, mono_t now)
{
	if (f->n_samples == 0) {
		extreme_begin(&f->min, rtt_us, now);
		extreme_begin(&f->peak, rtt_us, now);
	}
	extreme_note_least(&f->min, rtt_us, MINUTE_MS, now);
	extreme_note_most(&f->peak, rtt_us, HOUR_MS, now);
}

static void note_sample(struct link_filter *f, uint32_t rtt_us)
{
	f->last_us = rtt_us;
	/* Rounded up, so that the last thousandth goes away too. */
	f->loss_pm -= (f->loss_pm + LOSS_GAIN - 1) / LOSS_GAIN;
	if (f->n_samples < UINT32_MAX)
		f->n_samples++;
}

static void start_averages(struct link_filter *f, int64_t r, mono_t now)
{
	f->before_us = r;
	f->quick_us = r;
	f->calm_us = r;
	f->now_us = r;
	f->lasting_us = r;
	f->jitter_us = r / VAR_START_DIVISOR;
	f->sway_us = r / VAR_START_DIVISOR;
	f->dev_us = r / VAR_START_DIVISOR;
	f->first_at = now;
	f->last_at = now;
}

static int64_t distance(int64_t a, int64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * What the round trip is now. Where one answer says what the next one will (a value that stands),
 * that is the last answers; where each is drawn anew, it is their average. The difference between
 * one answer and the next tells the two apart: a move of the last answers that is within it is
 * noise, and what is beyond it counts. One answer alone moves nothing: it takes two that lie to
 * the same side, and what is far beyond anything usual counts in the average as if it were just
 * that.
 */
static void note_now(struct link_filter *f, int64_t r, bool overtaken, int64_t dt_us,
		     int64_t age_us)
{
	int64_t low = min_of(r, f->before_us), high = max_of(r, f->before_us);
	int64_t most = max_of(f->lasting_us + OUTLIER * f->dev_us, f->calm_us), by;

	if (!overtaken)
		f->quick_us = follow(f->quick_us, min_of(max_of(f->quick_us, low), high), dt_us,
				     FILTER_QUICK_MS * 1000);
	f->calm_us = follow(f->calm_us, min_of(r, most), dt_us,
			    min_of(FILTER_CALM_S * 1000000LL, age_us));
	f->jitter_us = follow(f->jitter_us, min_of(high, most) - min_of(low, most), dt_us,
			      min_of(FILTER_JITTER_S * 1000000LL, age_us));
	if (!overtaken)
		f->before_us = r;
	by = f->quick_us - f->calm_us;
	if (distance(by, 0) <= f->jitter_us)
		f->now_us = f->calm_us;
	else
		f->now_us = f->quick_us + (by > 0 ? -f->jitter_us : f->jitter_us);
}

static void note_averages(struct link_filter *f, int64_t r, bool overtaken, mono_t now)
{
	int64_t dt_us = min_of(mono_sub_us(now, f->last_at), (int64_t)DT_MAX_US);
	int64_t age_us = mono_sub_us(now, f->first_at) + AGE_MIN_US;
	int64_t scale_us = min_of((int64_t)f->lasting_s * 1000000, age_us);

	note_now(f, r, overtaken, dt_us, age_us);
	/* A plain mean while the link is young. Deviations are from the average as it was. */
	f->sway_us = follow(f->sway_us, distance(f->now_us, f->lasting_us), dt_us, scale_us);
	f->dev_us = follow(f->dev_us, distance(r, f->lasting_us), dt_us, scale_us);
	f->lasting_us = follow(f->lasting_us, r, dt_us, scale_us);
	f->last_at = now;
}

/* What the answer says of the link itself. Timeouts go by the whole of it. */
static int64_t without_load(const struct link_filter *f, int64_t r)
{
	return max_of(r - f->load_us, (int64_t)1);
}

void link_filter_answer(struct link_filter *f, uint32_t rtt_us, mono_t now)
{
	int64_t r = rtt_us;

	note_extremes(f, rtt_us, now);
	if (f->n_samples == 0) {
		f->srtt_us = r;
		f->var_us = r / VAR_START_DIVISOR;
		start_averages(f, r, now);
	} else {
		/* The deviation is taken from the old average, hence before it moves. A time that
		 * falls is an improvement: it lowers the average, and must not raise the price. */
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
	note_extremes(f, rtt_us, now);
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
	note_extremes(f, rtt_us, now);
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

uint32_t link_filter_chance(const struct link_filter *f)
{
	/* Shares whose 3rd, 4th, ... power is about one in 100000: at ten probes a second that
	 * happens a few times an hour. */
	static const uint32_t shares[] = { 20000, 55000, 100000, 150000, 200000 };
	uint32_t n = 0;

	while (n < sizeof(shares) / sizeof(shares[0]) && f->late_ppm > shares[n])
		n++;
	return n;
}
