// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See link_load.h. Called by proto/measure/ with the answers to PINGs. Pure; control thread.
 */
#include "state/link_load.h"

#include <string.h>

#include "base/defs.h"
#include "state/follow.h"
#include "state/longer_way.h"

#define WAY_MS	10000 /* one way: short, since clocks drift by up to a millisecond in it */
#define BASE_MS (300 * 1000)
#define BEST_MS (300 * 1000)
#define SENT_MS 1000
/* Bulk that began sends twice what was sent in this time before. */
#define USUAL_MS 3000
/* What was on its way is remembered for longer than what was sent. */
#define ON_WAY_MS 3000
#define IDLE_US	  20000000
/* The first sample after a silence counts for no more than this of it. */
#define DT_MAX_US 1000000
/* The base is kept while the queue is ours, but not for ever: routes change. */
#define KEPT_MS (3600 * 1000)
/* Delivery is reckoned over one to two of these. */
#define MARK_US 200000
/* So much of a queue is bulk; a few datagrams are not. */
#define QUEUE_BYTES 12000
/* Rates of shorter times than this say nothing, and of longer ones nothing of a moment. */
#define LEAST_US 20000
#define TOLD_US	 5000000
/* No delay is longer, so a clock jumped. */
#define JUMP_US 60000000
/* What a line carries is the most of these seconds, where it is to be told from a dip. */
#define FULL_MS 3000
/* A way that is longer by less than this is not looked for. */
#define LONGER_US 1000
/* So many answers say by how much round trips differ: seconds, for those of minutes would keep what
 * bulk of others made of them. */
#define JITTER_ANSWERS 32
#define BITS	       8

void link_load_reset(struct link_load *l)
{
	memset(l, 0, sizeof(*l));
}

/* --- rates --- */

static int64_t rate_kbits(uint64_t bytes, int64_t us)
{
	return us > 0 ? (int64_t)(bytes * BITS * 1000 / (uint64_t)us) : 0;
}

/* What was sent a second or two ago is usual by now. */
static int64_t note_sent(struct load_way *w, uint64_t bytes, int64_t dt_us, mono_t now)
{
	int64_t kbits = rate_kbits(bytes - w->bytes, dt_us);

	if (extreme_is_over(&w->sent, SENT_MS, now))
		extreme_note_most(&w->usual, w->sent.prev, USUAL_MS, now);
	extreme_note_most(&w->sent, kbits, SENT_MS, now);
	w->bytes = bytes;
	return kbits;
}

static int64_t sent_kbits(const struct load_way *w)
{
	return extreme_most(&w->sent);
}

/* The size of a datagram of ours, of those of the last moments. */
static void note_size(struct link_load *l, const struct load_sample *s)
{
	uint64_t n = s->tx_datagrams - l->seen_datagrams, bytes = s->tx_bytes - l->there.bytes;

	l->seen_datagrams = s->tx_datagrams;
	l->size_datagrams = l->size_datagrams / 2 + n;
	l->size_bytes = l->size_bytes / 2 + bytes;
}

/* What arrived from a mark on, in kbit/s; `before` where that is too short a time. */
static uint32_t since_mark(const struct link_load *l, const struct load_mark *mark,
			   const struct load_mark *here, uint32_t before)
{
	int32_t us = (int32_t)(here->at_us - mark->at_us);
	uint64_t n = here->datagrams - mark->datagrams;

	if (us < LEAST_US)
		return before;
	if (!l->size_datagrams)
		return 0;
	return (uint32_t)min_of(rate_kbits(n * l->size_bytes / l->size_datagrams, us),
				(int64_t)UINT32_MAX);
}

/* What was sent and has not arrived, since the first sample: on its way, or lost. */
static void note_gone(struct link_load *l, const struct load_sample *s)
{
	uint32_t gone = (uint32_t)s->tx_datagrams - s->delivered;

	if (l->size_datagrams)
		l->gone_bytes += (int32_t)(gone - l->gone_datagrams) * (int64_t)l->size_bytes /
				 (int64_t)l->size_datagrams;
	l->gone_datagrams = gone;
}

static void note_best(struct load_way *w, int64_t kbits, mono_t now)
{
	extreme_note_most(&w->best, kbits, BEST_MS, now);
	extreme_note_most(&w->full, kbits, FULL_MS, now);
	w->marked_kbits = kbits;
}

static void note_carried_for(struct load_way *w, int64_t kbits, int64_t us)
{
	w->carried_kbits = kbits;
	w->carried_us = us < LEAST_US || us > TOLD_US ? 0 : us;
	w->moved_us = w->delay_us - w->before_us;
	w->before_us = w->delay_us;
}

static void note_delivered(struct link_load *l, const struct load_sample *s, mono_t now)
{
	struct load_mark here = { s->counted_us, s->delivered };

	/* An answer that another one overtook. */
	if ((int32_t)(here.at_us - l->latest.at_us) < 0 ||
	    (int32_t)(here.datagrams - l->latest.datagrams) < 0)
		return;
	note_gone(l, s);
	l->delivered_kbits = since_mark(l, &l->mark[0], &here, l->delivered_kbits);
	l->latest_kbits = since_mark(l, &l->latest, &here, l->latest_kbits);
	note_carried_for(&l->there, l->latest_kbits, (int32_t)(here.at_us - l->latest.at_us));
	l->latest = here;
	note_best(&l->there, l->delivered_kbits, now);
	if ((int32_t)(here.at_us - l->mark[1].at_us) >= MARK_US) {
		l->mark[0] = l->mark[1];
		l->mark[1] = here;
	}
}

/* The other end's datagrams, which are delivered when they are here. */
static void note_received(struct link_load *l, const struct load_sample *s, mono_t now)
{
	int64_t us = mono_sub_us(now, l->back_at);

	if (us < MARK_US)
		return;
	note_best(&l->back, rate_kbits(s->rx_bytes - l->back_bytes, us), now);
	l->back_at = now;
	l->back_bytes = s->rx_bytes;
}

/* --- queues --- */

static bool note_way(struct load_way *w, uint32_t raw_us, mono_t now)
{
	int32_t us = (int32_t)(raw_us - w->zero);
	int64_t least = extreme_note_least(&w->least, us, WAY_MS, now);

	w->delay_us = us;
	w->rise_us = us - least;
	return w->rise_us < JUMP_US && us - w->least.prev > -JUMP_US;
}

/* `us` of a queue, filled at this rate: is it as much as bulk makes? */
static bool is_bulk(int64_t kbits, int64_t us)
{
	return kbits > 0 && us >= (int64_t)QUEUE_BYTES * BITS * 1000 / kbits;
}

static int64_t queued_bytes(const struct load_way *w, int64_t us)
{
	return w->carried_kbits * us / (BITS * 1000);
}

static int64_t best_kbits(const struct load_way *w)
{
	return extreme_most(&w->best);
}

/* A queue that begins when we begin to send is ours, whatever was carried in other minutes. */
static void note_beginning(struct load_way *w, mono_t now)
{
	int64_t kbits = sent_kbits(w);

	if (kbits < best_kbits(w) / 2 && kbits >= 2 * extreme_most(&w->usual))
		extreme_begin(&w->best, kbits, now);
}

/*
 * A queue of ours says what is carried now: what arrives while it stands. Where that is less than
 * before it is the line, or others, that changed, if as much of ours is on its way or lost as
 * lately; where it is less because we send less, `gone` fell.
 */
static void note_carried(struct load_way *w, int64_t us, int64_t gone, mono_t now)
{
	int64_t most = extreme_note_most(&w->gone, gone, ON_WAY_MS, now);
	int64_t on_way = extreme_note_most(&w->on_way, queued_bytes(w, us), ON_WAY_MS, now);

	if (w->carried_kbits && w->carried_kbits < best_kbits(w) && most - gone <= on_way / 2)
		extreme_begin(&w->best, w->carried_kbits, now);
}

static bool is_ours(struct load_way *w, int64_t us, int64_t gone, mono_t now)
{
	bool stood = w->stands, ours;

	w->stands = is_bulk(min_of(sent_kbits(w), best_kbits(w)), us);
	if (w->stands && !stood)
		note_beginning(w, now);
	ours = w->stands && sent_kbits(w) >= best_kbits(w) / 2;
	if (ours && stood)
		note_carried(w, us, gone, now);
	return ours;
}

/*
 * Part of what seems to be a queue of ours may be the way. The way in the other direction often got
 * longer with it: what came at once there, and stays, is the way as well.
 */
static void look_for_longer_way(struct link_load *l, struct load_way *w,
				const struct load_way *other, int64_t us, int64_t rise_us,
				mono_t now)
{
	bool both = !other->ours && other->longer.step_us;
	int64_t longer_us;
	struct way_sample s = { .us = min_of(us, rise_us - l->longer_us),
				.moved_us = w->moved_us,
				.carried_us = w->carried_us,
				.carried_kbits = w->carried_kbits,
				.marked_kbits = w->marked_kbits,
				.full_kbits = min_of(extreme_most(&w->full), best_kbits(w)),
				.noise_us = LONGER_US + 2 * extreme_least(&l->jitter),
				.ours = w->ours };

	longer_us = longer_way_note(&w->longer, &s, now);
	if (!longer_us)
		return;
	if (both)
		longer_us += other->longer.stays_us;
	l->longer_us = min_of(l->longer_us + longer_us, rise_us);
	l->idle_us = max_of(l->idle_us, extreme_least(&l->base) + l->longer_us);
}

/* What is beyond the base got less than what was held to be the way: that was no more than this. */
static void keep_longer_way(struct link_load *l, int64_t rise_us)
{
	if (l->longer_us <= rise_us)
		return;
	l->longer_us = rise_us;
	l->idle_us = min_of(l->idle_us, extreme_least(&l->base) + rise_us);
}

/*
 * What stands while no queue is ours is the way, or others. Beside one of ours that is not known,
 * but it is no more than all that is there; what a queue of ours on another link does not explain
 * is the way also then.
 */
static void note_standing_way(struct link_load *l, const struct load_sample *s, int64_t stood,
			      int64_t rise_us)
{
	int64_t site = (int64_t)s->site_there_us + s->site_back_us, way_us = l->way_us;

	if (l->there.ours || l->back.ours)
		way_us = min_of(way_us, rise_us);
	else
		way_us = max_of(min_of(way_us, stood), stood - site);
	l->way_us = (uint32_t)min_of(way_us, (int64_t)UINT32_MAX);
}

/*
 * What waits in each direction. A queue that stood for longer than WAY_MS is in what that direction
 * takes at least by now; the base of the round trip, which needs no clock but ours, still knows of
 * it, but not where it is: it is where we send.
 */
static void tell_apart(struct link_load *l, const struct load_sample *s, int64_t rise_us,
		       mono_t now)
{
	int64_t there = max_of(l->there.rise_us, (int64_t)0);
	int64_t back = max_of(l->back.rise_us, (int64_t)0);
	int64_t stood = max_of(rise_us - there - back, (int64_t)0), ours, back_us;

	l->there.ours = is_ours(&l->there, min_of(there + stood, rise_us), l->gone_bytes, now);
	back_us = min_of(back + stood, rise_us);
	l->back.ours = is_ours(&l->back, back_us, queued_bytes(&l->back, back_us), now);
	note_standing_way(l, s, stood, rise_us);
	keep_longer_way(l, rise_us);
	look_for_longer_way(l, &l->there, &l->back, min_of(there + stood, rise_us), rise_us, now);
	look_for_longer_way(l, &l->back, &l->there, back_us, rise_us, now);
	l->long_us = (uint32_t)min_of(there + (l->back.ours ? 0 : stood), rise_us);
	if (l->there.ours && !l->back.ours)
		there += stood;
	else if (l->back.ours)
		back += stood;
	ours = l->there.ours ? there : min_of(there, (int64_t)s->site_there_us);
	ours += l->back.ours ? back : min_of(back, (int64_t)s->site_back_us);
	l->queue_us = (uint32_t)min_of(there, rise_us);
	l->stood_us = l->there.ours && !l->back.ours ? (uint32_t)min_of(stood, rise_us) : 0;
	l->back_us = (uint32_t)min_of(back, rise_us);
	l->load_us = (uint32_t)min_of(ours, rise_us - l->longer_us);
}

/* With own load in it: one that is taken off would take what they differ with it. */
static void note_jitter(struct link_load *l, int64_t rtt_us, mono_t now)
{
	int64_t by = max_of(rtt_us, l->rtt_us) - min_of(rtt_us, l->rtt_us);

	l->rtt_us = rtt_us;
	/* A plain mean while it is young, of which none is the least for minutes. */
	l->answers = min_of(l->answers + 1, (int64_t)JITTER_ANSWERS);
	l->differs_us += (by - l->differs_us) / l->answers;
	if (l->answers < JITTER_ANSWERS)
		extreme_begin(&l->jitter, l->differs_us, now);
	else
		extreme_note_least(&l->jitter, l->differs_us, BASE_MS, now);
}

static void note_idle(struct link_load *l, int64_t rtt_us, int64_t dt_us, mono_t now)
{
	if (l->load_us) {
		if (extreme_is_over(&l->base, KEPT_MS, now))
			extreme_begin(&l->base, rtt_us, now);
		return;
	}
	extreme_note_least(&l->base, rtt_us, BASE_MS, now);
	/* A plain mean while it is young. */
	l->idle_us = follow(l->idle_us, rtt_us, min_of(dt_us, (int64_t)DT_MAX_US),
			    min_of(mono_sub_us(now, l->first_at), (int64_t)IDLE_US));
}

static void begin_way(struct load_way *w, mono_t now)
{
	extreme_begin(&w->least, 0, now);
	extreme_begin(&w->sent, 0, now);
	extreme_begin(&w->usual, 0, now);
	extreme_begin(&w->best, 0, now);
	extreme_begin(&w->full, 0, now);
	extreme_begin(&w->on_way, 0, now);
	extreme_begin(&w->gone, 0, now);
	longer_way_reset(&w->longer);
}

static void start(struct link_load *l, const struct load_sample *s, mono_t now)
{
	struct load_mark here = { s->counted_us, s->delivered };

	*l = (struct link_load){ .known = true,
				 .epoch = s->epoch,
				 .first_at = now,
				 .at = now,
				 .back_at = now,
				 .back_bytes = s->rx_bytes,
				 .there = { .zero = s->there_us, .bytes = s->tx_bytes },
				 .back = { .zero = s->back_us, .bytes = s->rx_bytes },
				 .idle_us = s->rtt_us,
				 .rtt_us = s->rtt_us,
				 .mark = { here, here },
				 .latest = here,
				 .seen_datagrams = s->tx_datagrams,
				 .gone_datagrams = (uint32_t)s->tx_datagrams - s->delivered };
	extreme_begin(&l->base, s->rtt_us, now);
	extreme_begin(&l->jitter, 0, now);
	begin_way(&l->there, now);
	begin_way(&l->back, now);
}

uint32_t link_load_note(struct link_load *l, const struct load_sample *s, mono_t now)
{
	int64_t dt_us = mono_sub_us(now, l->at), base;

	if (!l->known || s->epoch != l->epoch || !note_way(&l->there, s->there_us, now) ||
	    !note_way(&l->back, s->back_us, now)) {
		start(l, s, now);
		return 0;
	}
	l->there.carried_us = l->back.carried_us = 0;
	/* Several answers at once: rates are reckoned with the next. */
	if (dt_us >= LEAST_US) {
		note_size(l, s);
		note_sent(&l->there, s->tx_bytes, dt_us, now);
		note_carried_for(&l->back, note_sent(&l->back, s->rx_bytes, dt_us, now), dt_us);
		note_delivered(l, s, now);
		note_received(l, s, now);
		l->at = now;
	}
	base = extreme_least(&l->base);
	tell_apart(l, s, max_of((int64_t)s->rtt_us - base, (int64_t)0), now);
	/* What the link is without us is what it was then, not the least that it ever was. */
	l->asked = mono_add_us(now, -(int64_t)s->rtt_us);
	l->load_us = (uint32_t)min_of((int64_t)l->load_us,
				      max_of((int64_t)s->rtt_us - l->idle_us, (int64_t)0));
	note_jitter(l, s->rtt_us, now);
	note_idle(l, s->rtt_us, dt_us, now);
	return l->load_us;
}
