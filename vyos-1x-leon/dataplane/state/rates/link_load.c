// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See link_load.h. Called by proto/measure/ for each answer to a PING. Pure; control thread.
 */
#include "state/rates/link_load.h"

#include <string.h>

#include "base/defs.h"
#include "state/ewma.h"

#define PROPAGATION_MS 10000 /* short, because clocks drift by up to 1 ms in 10 s */
/* Window of the base RTT, of the jitter and of the best rate. */
#define LONG_MS (300 * 1000)
#define SENT_MS 1000
/* Window of the bytes in flight, and of the delivery rate to which a dip is compared. It is longer
 * than SENT_MS. */
#define RECENT_MS 3000
#define IDLE_US	  20000000
/* Longest time that own load keeps the base RTT. The limit exists because routes change. */
#define KEPT_MS (3600 * 1000)
/* The delivery rate is measured over one to two of these intervals. */
#define MARK_US 200000
/* Queue size that only a bulk flow makes. */
#define QUEUE_BYTES 12000
/* Shortest and longest interval for a rate: a shorter one is too coarse, a longer one no current
 * value. */
#define LEAST_US	 20000
#define DISTINGUISHED_US 5000000
/* A change of the delay by more than this is a jump of a clock. */
#define JUMP_US 60000000
/* Clock and counter of the peer have 32 bits, so their differences need an answer in 35 min. */
#define SILENCE_US 1000000000
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

/* Enters the sending rate. */
static int64_t note_sent(struct load_direction *w, uint64_t bytes, int64_t dt_us, mono_t now)
{
	int64_t kbits = rate_kbits(bytes - w->bytes, dt_us);

	if (minmax_is_over(&w->sent, 2 * SENT_MS, now))
		w->sent_before = w->sent.cur;
	else if (minmax_is_over(&w->sent, SENT_MS, now))
		w->sent_before = w->sent.prev;
	minmax_running_max(&w->sent, kbits, SENT_MS, now);
	w->bytes = bytes;
	return kbits;
}

static int64_t sent_kbits(const struct load_direction *w)
{
	return minmax_max(&w->sent);
}

/* Enters the size of the datagrams that this node sent recently. */
static void note_size(struct link_load *l, const struct load_sample *s)
{
	uint64_t n = s->tx_datagrams - l->seen_datagrams, bytes = s->tx_bytes - l->forward.bytes;

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

static void note_best(struct load_direction *w, int64_t kbits, mono_t now)
{
	minmax_running_max(&w->best, kbits, LONG_MS, now);
	minmax_running_max(&w->full, kbits, RECENT_MS, now);
	w->marked_kbits = kbits;
}

static void note_carried_for(struct load_direction *w, int64_t kbits, int64_t us)
{
	w->carried_kbits = kbits;
	w->carried_us = us < LEAST_US || us > DISTINGUISHED_US ? 0 : us;
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
	note_carried_for(&l->forward, l->latest_kbits, (int32_t)(here.at_us - l->latest.at_us));
	l->latest = here;
	note_best(&l->forward, l->delivered_kbits, now);
	if ((int32_t)(here.at_us - l->mark[1].at_us) >= MARK_US) {
		l->mark[0] = l->mark[1];
		l->mark[1] = here;
	}
}

/* Enters the datagrams of the peer, which are delivered when they arrive here. */
static void note_received(struct link_load *l, const struct load_sample *s, mono_t now)
{
	int64_t us = mono_sub_us(now, l->reverse_at);

	if (us < MARK_US)
		return;
	note_best(&l->reverse, rate_kbits(s->rx_bytes - l->reverse_bytes, us), now);
	l->reverse_at = now;
	l->reverse_bytes = s->rx_bytes;
}

/* --- queues --- */

static bool note_propagation(struct load_direction *w, uint32_t raw_us, mono_t now)
{
	int32_t us = (int32_t)(raw_us - w->zero);
	int64_t least = minmax_running_min(&w->least, us, PROPAGATION_MS, now);

	w->delay_us = us;
	w->rise_us = us - least;
	return w->rise_us < JUMP_US && us - w->least.prev > -JUMP_US;
}

/* Returns true if a queueing delay of `us` at this rate is as large as a bulk flow makes it. */
static bool is_bulk(int64_t kbits, int64_t us)
{
	return kbits > 0 && us >= (int64_t)QUEUE_BYTES * BITS * 1000 / kbits;
}

static int64_t queued_bytes(const struct load_direction *w, int64_t us)
{
	return w->carried_kbits * us / (BITS * 1000);
}

static int64_t best_kbits(const struct load_direction *w)
{
	return minmax_max(&w->best);
}

/* A queue that starts together with the own traffic is own load, and older rates do not count. Own
 * traffic starts if it sends twice the rate before. */
static void note_beginning(struct load_direction *w, mono_t now)
{
	int64_t kbits = sent_kbits(w);

	if (kbits < best_kbits(w) / 2 && kbits >= 2 * w->sent_before)
		minmax_reset(&w->best, kbits, now);
}

/*
 * Replaces the best rate by the delivery rate while a queue of own load stands. A lower rate means
 * that the link or the traffic of others changed, if the own bytes in flight or lost stayed the
 * same. If this node sent less, `gone` fell.
 */
static void note_carried(struct load_direction *w, int64_t us, int64_t gone, mono_t now)
{
	int64_t most = minmax_running_max(&w->gone, gone, RECENT_MS, now);
	int64_t in_queue = minmax_running_max(&w->in_queue, queued_bytes(w, us), RECENT_MS, now);

	if (w->carried_kbits && w->carried_kbits < best_kbits(w) && most - gone <= in_queue / 2)
		minmax_reset(&w->best, w->carried_kbits, now);
}

static bool is_ours(struct load_direction *w, int64_t us, int64_t gone, mono_t now)
{
	bool stood = w->is_standing, ours;

	w->is_standing = is_bulk(min_of(sent_kbits(w), best_kbits(w)), us);
	if (w->is_standing && !stood)
		note_beginning(w, now);
	ours = w->is_standing && sent_kbits(w) >= best_kbits(w) / 2;
	if (ours && stood)
		note_carried(w, us, gone, now);
	return ours;
}

/*
 * Finds propagation delay in the apparent queue of own load. The propagation delay of the other
 * direction often grows at the same time. A step of delay there that stays is added.
 */
static void look_for_delay_step(struct link_load *l, struct load_direction *w,
				const struct load_direction *other, int64_t us, int64_t rise_us,
				mono_t now)
{
	bool both = !other->ours && other->step.step_us;
	int64_t persistent_us;
	struct delay_sample s = { .us = min_of(us, rise_us - l->persistent_us),
				  .moved_us = w->moved_us,
				  .carried_us = w->carried_us,
				  .carried_kbits = w->carried_kbits,
				  .marked_kbits = w->marked_kbits,
				  .full_kbits = min_of(minmax_max(&w->full), best_kbits(w)),
				  .noise_us = LONGER_US + 2 * minmax_min(&l->jitter),
				  .ours = w->ours };

	persistent_us = delay_step_note(&w->step, &s, now);
	if (!persistent_us)
		return;
	if (both)
		persistent_us += other->step.stays_us;
	l->persistent_us = min_of(l->persistent_us + persistent_us, rise_us);
	l->idle_us = max_of(l->idle_us, minmax_min(&l->base) + l->persistent_us);
}

/* Limits the growth of the propagation delay to the present delay above the base. */
static void keep_delay_step(struct link_load *l, int64_t rise_us)
{
	if (l->persistent_us <= rise_us)
		return;
	l->persistent_us = rise_us;
	l->idle_us = min_of(l->idle_us, minmax_min(&l->base) + rise_us);
}

/*
 * Standing delay without own load is propagation delay or traffic of others. With own load the two
 * cannot be separated, and the total delay above the base is the upper limit. Delay that own load
 * on other links does not explain is propagation delay.
 */
static void note_standing_propagation(struct link_load *l, const struct load_sample *s,
				      int64_t stood, int64_t rise_us)
{
	int64_t site = (int64_t)s->site_forward_us + s->site_return_us,
		propagation_us = l->propagation_us;

	if (l->forward.ours || l->reverse.ours)
		propagation_us = min_of(propagation_us, rise_us);
	else
		propagation_us = max_of(min_of(propagation_us, stood), stood - site);
	l->propagation_us = (uint32_t)min_of(propagation_us, (int64_t)UINT32_MAX);
}

/*
 * Separates the queueing delay of each direction. A queue that stands for longer than
 * PROPAGATION_MS raises the windowed minimum of its direction. The base of the RTT still shows such
 * a queue, because it needs only the local clock, but it does not show the direction. The queue is
 * assigned to the direction with own load.
 */
static void distinguish_queue(struct link_load *l, const struct load_sample *s, int64_t rise_us,
			      mono_t now)
{
	int64_t forward = max_of(l->forward.rise_us, (int64_t)0);
	int64_t reverse = max_of(l->reverse.rise_us, (int64_t)0);
	int64_t stood = max_of(rise_us - forward - reverse, (int64_t)0), ours, reverse_us;

	l->forward.ours =
		is_ours(&l->forward, min_of(forward + stood, rise_us), l->gone_bytes, now);
	reverse_us = min_of(reverse + stood, rise_us);
	l->reverse.ours =
		is_ours(&l->reverse, reverse_us, queued_bytes(&l->reverse, reverse_us), now);
	note_standing_propagation(l, s, stood, rise_us);
	keep_delay_step(l, rise_us);
	look_for_delay_step(l, &l->forward, &l->reverse, min_of(forward + stood, rise_us), rise_us,
			    now);
	look_for_delay_step(l, &l->reverse, &l->forward, reverse_us, rise_us, now);
	l->any_queue_us = (uint32_t)min_of(forward + (l->reverse.ours ? 0 : stood), rise_us);
	if (l->forward.ours && !l->reverse.ours)
		forward += stood;
	else if (l->reverse.ours)
		reverse += stood;
	ours = l->forward.ours ? forward : min_of(forward, (int64_t)s->site_forward_us);
	ours += l->reverse.ours ? reverse : min_of(reverse, (int64_t)s->site_return_us);
	l->queue_us = (uint32_t)min_of(forward, rise_us);
	l->standing_us = l->forward.ours && !l->reverse.ours ? (uint32_t)min_of(stood, rise_us) : 0;
	l->reverse_us = (uint32_t)min_of(reverse, rise_us);
	l->load_us = (uint32_t)min_of(ours, rise_us - l->persistent_us);
}

/* Uses the full RTT, because subtracting own load would remove its variation too. */
static void note_jitter(struct link_load *l, int64_t rtt_us, mono_t now)
{
	int64_t by = max_of(rtt_us, l->rtt_us) - min_of(rtt_us, l->rtt_us);

	l->rtt_us = rtt_us;
	/* Plain mean of the first samples, which do not enter the windowed minimum. */
	l->answers = min_of(l->answers + 1, (int64_t)JITTER_ANSWERS);
	l->difference_us += (by - l->difference_us) / l->answers;
	if (l->answers < JITTER_ANSWERS)
		minmax_reset(&l->jitter, l->difference_us, now);
	else
		minmax_running_min(&l->jitter, l->difference_us, LONG_MS, now);
}

static void note_idle(struct link_load *l, int64_t rtt_us, int64_t dt_us, mono_t now)
{
	if (l->load_us) {
		if (minmax_is_over(&l->base, KEPT_MS, now))
			minmax_reset(&l->base, rtt_us, now);
		return;
	}
	minmax_running_min(&l->base, rtt_us, LONG_MS, now);
	/* Plain mean while the link is young. After a silence, a sample counts for SENT_MS. */
	l->idle_us = ewma_add(l->idle_us, rtt_us, min_of(dt_us, (int64_t)SENT_MS * 1000),
			      min_of(mono_sub_us(now, l->first_at), (int64_t)IDLE_US));
}

static void begin_direction(struct load_direction *w, mono_t now)
{
	minmax_reset(&w->least, 0, now);
	minmax_reset(&w->sent, 0, now);
	minmax_reset(&w->best, 0, now);
	minmax_reset(&w->full, 0, now);
	minmax_reset(&w->in_queue, 0, now);
	minmax_reset(&w->gone, 0, now);
	delay_step_reset(&w->step);
}

static void start(struct link_load *l, const struct load_sample *s, mono_t now)
{
	struct load_mark here = { s->counted_us, s->delivered };

	*l = (struct link_load){ .known = true,
				 .epoch = s->epoch,
				 .first_at = now,
				 .at = now,
				 .reverse_at = now,
				 .reverse_bytes = s->rx_bytes,
				 .forward = { .zero = s->forward_us, .bytes = s->tx_bytes },
				 .reverse = { .zero = s->reverse_us, .bytes = s->rx_bytes },
				 .idle_us = s->rtt_us,
				 .rtt_us = s->rtt_us,
				 .mark = { here, here },
				 .latest = here,
				 .seen_datagrams = s->tx_datagrams,
				 .gone_datagrams = (uint32_t)s->tx_datagrams - s->delivered };
	minmax_reset(&l->base, s->rtt_us, now);
	minmax_reset(&l->jitter, 0, now);
	begin_direction(&l->forward, now);
	begin_direction(&l->reverse, now);
}

uint32_t link_load_note(struct link_load *l, const struct load_sample *s, mono_t now)
{
	int64_t dt_us = mono_sub_us(now, l->at), base;

	if (!l->known || s->epoch != l->epoch || dt_us > SILENCE_US ||
	    !note_propagation(&l->forward, s->forward_us, now) ||
	    !note_propagation(&l->reverse, s->reverse_us, now)) {
		start(l, s, now);
		return 0;
	}
	l->forward.carried_us = l->reverse.carried_us = 0;
	/* Several answers arrived at once: the next answer updates the rates. */
	if (dt_us >= LEAST_US) {
		note_size(l, s);
		note_sent(&l->forward, s->tx_bytes, dt_us, now);
		note_carried_for(&l->reverse, note_sent(&l->reverse, s->rx_bytes, dt_us, now),
				 dt_us);
		note_delivered(l, s, now);
		note_received(l, s, now);
		l->at = now;
	}
	base = minmax_min(&l->base);
	distinguish_queue(l, s, max_of((int64_t)s->rtt_us - base, (int64_t)0), now);
	/* The RTT without own load is the smoothed idle RTT, not the least RTT ever measured. */
	l->sent_at = mono_add_us(now, -(int64_t)s->rtt_us);
	l->load_us = (uint32_t)min_of((int64_t)l->load_us,
				      max_of((int64_t)s->rtt_us - l->idle_us, (int64_t)0));
	note_jitter(l, s->rtt_us, now);
	note_idle(l, s->rtt_us, dt_us, now);
	return l->load_us;
}
