// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See link_load.h. Called by proto/measure/ for each answer to a PING. Pure; control thread.
 */
#include "state/link_load.h"

#include <string.h>

#include "base/defs.h"
#include "state/follow.h"
#include "state/longer_way.h"

#define WAY_MS	10000 /* short, because clocks drift by up to 1 ms in 10 s */
#define BASE_MS (300 * 1000)
#define BEST_MS (300 * 1000)
#define SENT_MS 1000
/* A bulk flow that starts sends twice the maximum rate of this time. */
#define USUAL_MS 3000
/* Window of the bytes in flight, longer than the window of the sending rate. */
#define ON_WAY_MS 3000
#define IDLE_US	  20000000
/* Upper bound of the time weight of the first sample after a silence. */
#define DT_MAX_US 1000000
/* Longest time that own load keeps the base RTT. The limit exists because routes change. */
#define KEPT_MS (3600 * 1000)
/* The delivery rate is measured over one to two of these intervals. */
#define MARK_US 200000
/* Queue size that only a bulk flow makes. */
#define QUEUE_BYTES 12000
/* Shortest and longest interval for a rate: a shorter one is too coarse, a longer one no current
 * value. */
#define LEAST_US 20000
#define TOLD_US	 5000000
/* A change of the delay by more than this is a jump of a clock. */
#define JUMP_US 60000000
/* Window of the maximum delivery rate to which a dip is compared. */
#define FULL_MS 3000
/* A smaller growth of the propagation delay is not searched. */
#define LONGER_US 1000
/* Number of answers in the mean of the jitter, some seconds. A mean over minutes would include the
 * variation that bulk flows of others cause. */
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

/* Enters the sending rate. A rate from one or two seconds ago enters the usual rate. */
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

/* Enters the size of the datagrams that this node sent recently. */
static void note_size(struct link_load *l, const struct load_sample *s)
{
	uint64_t n = s->tx_datagrams - l->seen_datagrams, bytes = s->tx_bytes - l->there.bytes;

	l->seen_datagrams = s->tx_datagrams;
	l->size_datagrams = l->size_datagrams / 2 + n;
	l->size_bytes = l->size_bytes / 2 + bytes;
}

/* Returns the delivery rate since a mark, in kbit/s. Returns `before` if the interval is too
 * short. */
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

/* Enters the bytes that were sent and not delivered since the first sample: in flight or lost. */
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

	/* A later answer arrived before this one. */
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

/* Enters the datagrams of the peer, which are delivered when they arrive here. */
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

/* Returns true if a queueing delay of `us` at this rate is as large as a bulk flow makes it. */
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

/* A queue that starts together with the own traffic is own load, and older rates do not count. */
static void note_beginning(struct load_way *w, mono_t now)
{
	int64_t kbits = sent_kbits(w);

	if (kbits < best_kbits(w) / 2 && kbits >= 2 * extreme_most(&w->usual))
		extreme_begin(&w->best, kbits, now);
}

/*
 * Replaces the best rate by the delivery rate while a queue of own load stands. A lower rate means
 * that the link or the traffic of others changed, if the own bytes in flight or lost stayed the
 * same. If this node sent less, `gone` fell.
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
 * Finds propagation delay in the apparent queue of own load. The propagation delay of the other
 * direction often grows at the same time. A step of delay there that stays is added.
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

/* Limits the growth of the propagation delay to the present delay above the base. */
static void keep_longer_way(struct link_load *l, int64_t rise_us)
{
	if (l->longer_us <= rise_us)
		return;
	l->longer_us = rise_us;
	l->idle_us = min_of(l->idle_us, extreme_least(&l->base) + rise_us);
}

/*
 * Standing delay without own load is propagation delay or traffic of others. With own load the two
 * cannot be separated, and the total delay above the base is the upper limit. Delay that own load
 * on other links does not explain is propagation delay.
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
 * Separates the queueing delay of each direction. A queue that stands for longer than WAY_MS raises
 * the windowed minimum of its direction. The base of the RTT still shows such a queue, because it
 * needs only the local clock, but it does not show the direction. The queue is assigned to the
 * direction with own load.
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

/* Uses the full RTT, because subtracting own load would remove its variation too. */
static void note_jitter(struct link_load *l, int64_t rtt_us, mono_t now)
{
	int64_t by = max_of(rtt_us, l->rtt_us) - min_of(rtt_us, l->rtt_us);

	l->rtt_us = rtt_us;
	/* Plain mean of the first samples, which do not enter the windowed minimum. */
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
	/* Plain mean while the link is young. */
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
	/* Several answers arrived at once: the next answer updates the rates. */
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
	/* The RTT without own load is the smoothed idle RTT, not the least RTT ever measured. */
	l->asked = mono_add_us(now, -(int64_t)s->rtt_us);
	l->load_us = (uint32_t)min_of((int64_t)l->load_us,
				      max_of((int64_t)s->rtt_us - l->idle_us, (int64_t)0));
	note_jitter(l, s->rtt_us, now);
	note_idle(l, s->rtt_us, dt_us, now);
	return l->load_us;
}
