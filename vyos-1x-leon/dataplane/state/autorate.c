// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See autorate.h. Called by the daemon's timer. Pure; control thread.
 */
#include "state/autorate.h"

#include <string.h>

#include "base/defs.h"

/* A link counts that sends this part of what the one with the most does. */
#define PART 8
/* A queue that is worth a limit where there is none, and one where there is. */
#define OPEN_US 10000
#define HIGH_US 5000
/* Round trips differ anyway: so many times that is no queue. The least of minutes is about two
 * thirds of what they do. */
#define OPEN_JITTERS 6
#define HIGH_JITTERS 3
#define IN_A_ROW     2
/* And for so many round trips: TCP that begins sends bursts, each of which waits for a moment. */
#define OPEN_RTTS 3
/* Two frames wait for each other on any line. */
#define FRAMES_BITS (2 * 1514 * 8)
/* Of what the line carries, while it is not tried; in thousandths. */
#define CRUISE_PM 970
/* The queue that is there is to be gone after this; at most so much less is sent for it. */
#define DRAIN_US     250000
#define DRAIN_PM_MAX 400
/* A bump is so long, and so high at first: longer where round trips differ by more than it makes. A
 * PING goes at its end; those count that were sent from JUDGE_MS before to as much after that.
 * Where it finds room the next one is twice as high. */
#define BUMP_MS	    100
#define BUMP_MS_MAX 400
#define BUMP_PM	    40
#define BUMP_PM_MAX 160
/* The same until one filled the line for the first time: what was found may be far too little. */
#define BUMP_PM_NEW 1000
#define JUDGE_MS    40
#define HOLD_MS	    500
/* So much of the limit must be used to say anything about more. */
#define USED_PM 850
/* And of what a bump sends, to try a higher one. */
#define SHOWN_PM 985
/* The same of less. */
#define BUSY_PM 700
/* Who used the line that lately may have filled it. */
#define USED_MS 2000
/* PINGs sent until then found what was before less was sent. */
#define LEARN_MS 100
/* Sending less must shorten a queue of ours by a quarter in this time and a round trip. */
#define LOOK_MS 300
/* It is looked at anew after this. */
#define FLOOR_MS 10000
/* A queue that so much changes in from one sample to the next is one. */
#define MOVES_US      3000
#define VAIN_MS	      3000
#define YIELD_MS      10000
#define YIELD_TIMES   3 /* doublings of it */
#define FORGIVEN_MS   60000
#define LEAST_OF_BEST 16
/* Each time that less than it fills the line, so much is left of the best. */
#define FADES_PM 700
/* What a line carries is the most that arrived in one to two of these: bulk may have ended. */
#define LATELY_MS 2000
/* What was lowered to less than half must have emptied the line, but for two frames and this, */
#define EMPTY_US 20000
/* by then. */
#define PROVEN_MS 3000

const char *autorate_state_name(enum autorate_state s)
{
	static const char *const name[] = { [AUTORATE_OPEN] = "open",
					    [AUTORATE_DRAIN] = "drain",
					    [AUTORATE_CRUISE] = "cruise",
					    [AUTORATE_BUMP] = "bump",
					    [AUTORATE_YIELD] = "yield" };

	return name[s];
}

void autorate_reset(struct autorate *a)
{
	memset(a, 0, sizeof(*a));
}

/* --- what is measured --- */

bool autorate_counts(const struct link_load *l, int64_t most_kbits)
{
	return most_kbits && link_load_sent(l) >= most_kbits / PART;
}

void autorate_take(struct autorate_input *in, const struct link_load *l)
{
	uint32_t stood_us = min_of(l->queue_us, l->stood_us);
	bool first = !in->links++;

	if (first || l->queue_us - stood_us < in->queue_us) {
		in->queue_us = l->queue_us - stood_us;
		in->base_us = link_load_base(l);
	}
	in->stood_us = first ? link_load_stood(l) : min_of(in->stood_us, link_load_stood(l));
	in->long_us = first ? l->long_us : min_of(in->long_us, l->long_us);
	in->rtt_us = max_of(in->rtt_us, (uint32_t)min_of(l->idle_us, (int64_t)UINT32_MAX));
	in->jitter_us = max_of(in->jitter_us, link_load_jitter(l));
	in->delivered_kbits += min_of(l->delivered_kbits, UINT32_MAX - in->delivered_kbits);
	in->latest_kbits += min_of(l->latest_kbits, UINT32_MAX - in->latest_kbits);
	in->ours |= l->there.ours;
	if (first || mono_before(l->asked, in->asked))
		in->asked = l->asked;
}

/* --- what follows --- */

static uint32_t part(uint32_t kbits, uint32_t pm)
{
	return (uint32_t)((uint64_t)kbits * pm / 1000);
}

static void enter(struct autorate *a, enum autorate_state s, mono_t now)
{
	a->state = s;
	a->since = now;
}

static int64_t for_ms(const struct autorate *a, mono_t now)
{
	return mono_sub_ms(now, a->since);
}

static void set_kbits(struct autorate *a, uint64_t kbits)
{
	uint32_t least = max_of(a->best / LEAST_OF_BEST, (uint32_t)AUTORATE_LEAST);

	a->kbits = (uint32_t)max_of(min_of(kbits, (uint64_t)UINT32_MAX), (uint64_t)least);
	a->best = max_of(a->best, a->kbits);
}

static void open_line(struct autorate *a, mono_t now)
{
	a->kbits = a->best = 0;
	a->high = 0;
	a->floor_us = 0;
	enter(a, AUTORATE_OPEN, now);
}

static uint32_t threshold(const struct autorate *a, const struct autorate_input *in,
			  uint32_t least_us, uint32_t jitters)
{
	uint32_t frames_us = a->kbits ? FRAMES_BITS * 1000 / a->kbits : 0;

	least_us = max_of(least_us, frames_us);
	return max_of(least_us, in->jitter_us * jitters);
}

/* What a PING may find on a line that is not full: a frame before it, and what differs anyway. */
static uint32_t noise_us(const struct autorate *a, const struct autorate_input *in)
{
	return threshold(a, in, 0, HIGH_JITTERS) / 2 + in->jitter_us;
}

/* What waits and is not the way. */
static uint32_t queue_us(const struct autorate *a, const struct autorate_input *in)
{
	return in->queue_us - min_of(in->queue_us, a->floor_us);
}

/* While there is a limit the queue is empty again and again, so what waits is known without what
 * stood for long. */
static bool is_high(const struct autorate *a, const struct autorate_input *in)
{
	return queue_us(a, in) > threshold(a, in, HIGH_US, HIGH_JITTERS);
}

/* The next look at whether the queue goes away. What PINGs find of it is known when they are back,
 * and they wait in it, too. */
static void look_again(struct autorate *a, const struct autorate_input *in, mono_t now)
{
	int64_t rtt_us = (int64_t)in->rtt_us + in->queue_us;

	a->goal_us = queue_us(a, in) / 4 * 3;
	a->least_us = UINT32_MAX;
	a->look_from = now;
	a->look_at = mono_add_us(now, LOOK_MS * 1000 + rtt_us);
}

static void drain(struct autorate *a, const struct autorate_input *in, mono_t now)
{
	a->at_first = queue_us(a, in);
	a->known = a->kbits;
	a->ours = mono_sub_ms(now, a->used_at) < USED_MS;
	a->step_pm = BUMP_PM;
	a->high = 0;
	look_again(a, in, now);
	enter(a, AUTORATE_DRAIN, now);
}

/* --- states --- */

/* What the line carries, if it is full. */
static uint32_t carries(const struct autorate *a, const struct autorate_input *in)
{
	return max_of((uint32_t)extreme_most(&a->lately), in->latest_kbits);
}

/* Without a limit, a queue may have stood for long. What so little arrives of that it would be less
 * than two frames is none: bulk has just ended, and the way is longer than it was. */
static bool is_full(const struct autorate *a, const struct autorate_input *in)
{
	uint32_t us = queue_us(a, in) + in->stood_us;

	return in->ours && us > threshold(a, in, OPEN_US, OPEN_JITTERS) &&
	       (uint64_t)us * carries(a, in) > FRAMES_BITS * 1000ull;
}

/* It was found full. What there is without our sending is the way, or others. */
static void when_open(struct autorate *a, const struct autorate_input *in, mono_t now)
{
	if (!in->fresh)
		return;
	if (!in->ours) {
		a->floor_us = in->queue_us;
		a->floor_at = now;
	}
	a->high = is_full(a, in) ? a->high + 1 : 0;
	if (a->high <= 1)
		a->high_at = now;
	if (a->high < IN_A_ROW || mono_sub_us(now, a->high_at) < OPEN_RTTS * (int64_t)in->rtt_us ||
	    !in->delivered_kbits || in->delivered_kbits >= AUTORATE_MOST)
		return;
	a->best = 0;
	set_kbits(a, carries(a, in));
	a->proven = a->kbits;
	a->lowered_at = (mono_t){ 0 };
	a->found++;
	a->unsure = true;
	a->filled = false;
	drain(a, in, now);
}

static void yield(struct autorate *a, mono_t now)
{
	a->in_vain++;
	a->yielded++;
	enter(a, AUTORATE_YIELD, now);
}

static bool is_used(const struct autorate *a, const struct autorate_input *in, uint32_t pm)
{
	return in->backlog || in->delivered_kbits >= part(a->kbits, pm);
}

/* What arrived may be no more than what we sent, while what seems to be a queue is the way. But a
 * queue moves, since more or less is sent than the line carries. */
static bool is_queue(const struct autorate *a, const struct autorate_input *in)
{
	uint32_t was = a->before_us, is = queue_us(a, in);
	uint32_t moved = max_of(was, is) - min_of(was, is);

	return moved > max_of((uint32_t)MOVES_US, in->jitter_us * HIGH_JITTERS);
}

/* Less than half of what was known for sure is believed for a while only. */
static void lower(struct autorate *a, uint32_t kbits, mono_t now)
{
	set_kbits(a, kbits);
	if (a->kbits < a->proven / 2 && mono_is_never(a->lowered_at))
		a->lowered_at = now;
}

/* The line was busy from one sample that found a queue to the next that did, so what arrived
 * between them is what it carries, if the queue is ours: of us who used it until a moment ago,
 * even if TCP has slowed down since and nothing waits here. Of two such times the better one
 * counts, since part of one may have been before. */
static void learn(struct autorate *a, const struct autorate_input *in, mono_t now)
{
	uint32_t carried = max_of(in->latest_kbits, a->before_kbits);

	if (!in->latest_kbits || !(a->ours || is_used(a, in, BUSY_PM)))
		return;
	if (min_of(in->latest_kbits, in->delivered_kbits) > a->kbits) {
		set_kbits(a, min_of(in->latest_kbits, in->delivered_kbits));
	} else if (carried < a->kbits &&
		   (mono_before(in->asked, mono_add_ms(a->since, LEARN_MS)) || is_queue(a, in))) {
		lower(a, carried, now);
		look_again(a, in, now);
	}
}

/* True where less was sent for long enough, and what was there stayed: it is not our queue. */
static bool it_stays(struct autorate *a, const struct autorate_input *in, mono_t now)
{
	if (mono_before(in->asked, a->look_from))
		return false;
	a->least_us = min_of(a->least_us, queue_us(a, in));
	if (mono_before(now, a->look_at))
		return false;
	if (a->least_us > a->goal_us)
		return true;
	look_again(a, in, now);
	return false;
}

/* What arrived was what was sent, and nothing is learned of that. A way gets longer once; where
 * that seems to happen again others fill the line. */
static void it_is_not_ours(struct autorate *a, mono_t now)
{
	bool again = a->floor_us > HIGH_US && !mono_is_never(a->stayed_at) &&
		     mono_sub_ms(now, a->stayed_at) < FLOOR_MS;

	a->floor_us += a->least_us;
	a->floor_at = a->stayed_at = now;
	set_kbits(a, max_of(a->kbits, a->known));
	if (again) {
		yield(a, now);
	} else if (a->unsure) {
		/* So the line was not full at all. */
		a->kbits = a->best = 0;
		enter(a, AUTORATE_OPEN, now);
	} else {
		enter(a, AUTORATE_CRUISE, now);
	}
}

static void when_draining(struct autorate *a, const struct autorate_input *in, mono_t now)
{
	if (!in->fresh)
		return;
	if (!is_high(a, in)) {
		a->unsure = false;
		enter(a, AUTORATE_CRUISE, now);
		return;
	}
	learn(a, in, now);
	if (it_stays(a, in, now)) {
		/* Much more than at first: something came since, so it is looked at anew. */
		if (a->least_us > 2 * a->goal_us)
			drain(a, in, now);
		else
			it_is_not_ours(a, now);
		return;
	}
	if (for_ms(a, now) < VAIN_MS)
		return;
	if (queue_us(a, in) > a->at_first / 2)
		yield(a, now);
	else
		drain(a, in, now);
}

/* True where a queue stands, as several samples say. */
static bool stands(struct autorate *a, const struct autorate_input *in)
{
	if (in->fresh)
		a->high = is_high(a, in) ? a->high + 1 : 0;
	return a->high >= IN_A_ROW;
}

/* What waits while we send little is of others: less of that makes no queue shorter, and to find so
 * would leave us without a limit when there is more. */
static bool may_be_ours(const struct autorate *a, const struct autorate_input *in, mono_t now)
{
	return in->ours || mono_sub_ms(now, a->used_at) < USED_MS;
}

static void when_cruising(struct autorate *a, const struct autorate_input *in, mono_t now)
{
	if (stands(a, in) && may_be_ours(a, in, now)) {
		drain(a, in, now);
		return;
	}
	if (is_high(a, in) || for_ms(a, now) < HOLD_MS || !is_used(a, in, USED_PM))
		return;
	/* This fills the line, so what it was is no measure for long. */
	a->best = max_of(part(a->best, FADES_PM), a->kbits);
	a->full = a->tried = a->asked = false;
	a->empty = true;
	a->shown = 0;
	a->bump_ms = 2 * noise_us(a, in) / a->step_pm;
	a->bump_ms = max_of(min_of(a->bump_ms, (uint32_t)BUMP_MS_MAX), (uint32_t)BUMP_MS);
	a->judge_from = mono_add_ms(now, (int64_t)a->bump_ms - JUDGE_MS);
	a->judge_until = mono_add_ms(now, (int64_t)a->bump_ms + JUDGE_MS);
	enter(a, AUTORATE_BUMP, now);
}

/* What PINGs may find after a bump on a line that has that much room: half of what the least bump
 * makes where there is none. TCP seldom has all that a higher one could send. */
static uint32_t bump_limit_us(const struct autorate *a, const struct autorate_input *in)
{
	return max_of((uint32_t)BUMP_PM * a->bump_ms / 2, noise_us(a, in));
}

static void judge(struct autorate *a, const struct autorate_input *in)
{
	if (!in->fresh || mono_before(in->asked, a->since) ||
	    mono_before(a->judge_until, in->asked))
		return;
	a->shown = max_of(a->shown, in->latest_kbits);
	a->tried |= !mono_before(in->asked, a->judge_from);
	a->full |= queue_us(a, in) > bump_limit_us(a, in);
	a->empty &= queue_us(a, in) <= bump_limit_us(a, in) / 2;
}

/* From what arrived in the bump, since TCP may have had less to send; to that and not beyond where
 * something waits already. While part of what seems to wait is held to be the way, no more than was
 * known before: a buffer that others keep full does not grow. */
static void raise(struct autorate *a)
{
	uint64_t from = min_of(a->kbits, a->shown);
	uint64_t kbits = a->kbits;

	if (a->empty)
		kbits = max_of(kbits,
			       from * (1000 + min_of(a->step_pm, (uint32_t)BUMP_PM_MAX)) / 1000);
	kbits = max_of(kbits, min_of((uint64_t)a->shown, from * (1000 + a->step_pm) / 1000));
	if (a->empty && a->shown >= part(a->kbits, SHOWN_PM))
		a->step_pm =
			min_of(a->step_pm * 3, (uint32_t)(a->filled ? BUMP_PM_MAX : BUMP_PM_NEW));
	set_kbits(a, a->floor_us > HIGH_US ? min_of(kbits, (uint64_t)a->best) : kbits);
}

static void after_bump(struct autorate *a, mono_t now)
{
	bool room = a->tried && !a->full && a->shown >= part(a->kbits, USED_PM);

	if (room)
		raise(a);
	else if (a->tried)
		a->step_pm = BUMP_PM;
	enter(a, AUTORATE_CRUISE, now);
	/* Where there was room there may be more; where nothing was heard, it counts for nothing.
	 */
	if (room || !a->tried)
		a->since = mono_add_ms(now, -HOLD_MS);
	if (a->kbits >= AUTORATE_MOST)
		open_line(a, now);
}

static void when_bumping(struct autorate *a, const struct autorate_input *in, mono_t now)
{
	judge(a, in);
	a->filled |= a->full;
	if (stands(a, in) || (a->full && is_high(a, in))) {
		drain(a, in, now);
		return;
	}
	if (a->full) {
		a->step_pm = BUMP_PM;
		enter(a, AUTORATE_CRUISE, now);
		return;
	}
	if (for_ms(a, now) >= a->bump_ms + 2 * JUDGE_MS + (int64_t)(in->rtt_us / 1000))
		after_bump(a, now);
}

static void when_yielding(struct autorate *a, const struct autorate_input *in, mono_t now)
{
	int64_t ms = (int64_t)YIELD_MS << min_of(a->in_vain, (unsigned)YIELD_TIMES);

	(void)in;
	if (for_ms(a, now) >= ms)
		open_line(a, now);
}

/* --- what is sent --- */

bool autorate_asks(struct autorate *a, mono_t now)
{
	if (a->state != AUTORATE_BUMP || a->asked || for_ms(a, now) < a->bump_ms)
		return false;
	a->asked = true;
	return true;
}

static uint32_t limit(const struct autorate *a, const struct autorate_input *in, mono_t now)
{
	uint32_t less = (uint32_t)min_of((uint64_t)queue_us(a, in) * 1000 / DRAIN_US,
					 (uint64_t)DRAIN_PM_MAX);

	switch (a->state) {
	case AUTORATE_DRAIN:
	case AUTORATE_CRUISE:
		return part(a->kbits, CRUISE_PM - less);
	case AUTORATE_BUMP:
		return part(a->kbits,
			    for_ms(a, now) < a->bump_ms ? 1000 + a->step_pm : CRUISE_PM - less);
	case AUTORATE_OPEN:
	case AUTORATE_YIELD:
		break;
	}
	return 0;
}

/* A longer way becomes part of what queues are reckoned from, after a while. */
static void keep_floor(struct autorate *a, const struct autorate_input *in, mono_t now)
{
	int64_t risen_us = max_of(in->base_us - a->base_us, (int64_t)0);

	if (!in->fresh)
		return;
	a->base_us = in->base_us;
	a->floor_us -= (uint32_t)min_of(risen_us, (int64_t)a->floor_us);
	a->floor_us = min_of(a->floor_us, in->queue_us);
	if (a->floor_us && mono_sub_ms(now, a->floor_at) >= FLOOR_MS)
		a->floor_us = 0;
}

/* A line of ours that is kept below what it carries is empty. Where it is not, others fill it, and
 * each time that they make room for a moment would leave us with less. */
static void prove(struct autorate *a, const struct autorate_input *in, mono_t now)
{
	if (!in->fresh || !a->kbits || a->state == AUTORATE_YIELD)
		return;
	if (in->long_us <= EMPTY_US + FRAMES_BITS * 1000 / a->kbits)
		a->proven = a->kbits;
	if (a->kbits >= a->proven / 2)
		a->lowered_at = (mono_t){ 0 };
	if (mono_is_never(a->lowered_at) || mono_sub_ms(now, a->lowered_at) < PROVEN_MS)
		return;
	set_kbits(a, a->proven);
	yield(a, now);
}

uint32_t autorate_step(struct autorate *a, const struct autorate_input *in, mono_t now)
{
	static void (*const when[])(struct autorate *, const struct autorate_input *, mono_t) = {
		[AUTORATE_OPEN] = when_open,	   [AUTORATE_DRAIN] = when_draining,
		[AUTORATE_CRUISE] = when_cruising, [AUTORATE_BUMP] = when_bumping,
		[AUTORATE_YIELD] = when_yielding,
	};

	if (mono_is_never(a->since))
		a->since = a->busy = now;
	keep_floor(a, in, now);
	extreme_note_most(&a->lately, in->delivered_kbits, LATELY_MS, now);
	if (in->delivered_kbits >= part(a->kbits, 1000 / LEAST_OF_BEST))
		a->busy = now;
	if (is_used(a, in, BUSY_PM))
		a->used_at = now;
	when[a->state](a, in, now);
	prove(a, in, now);
	if (in->fresh) {
		a->before_us = queue_us(a, in);
		a->before_kbits = in->latest_kbits;
	}
	if (a->state == AUTORATE_CRUISE && mono_sub_ms(now, a->busy) >= AUTORATE_FORGET_MS)
		open_line(a, now);
	if (a->in_vain && a->state != AUTORATE_YIELD && for_ms(a, now) >= FORGIVEN_MS)
		a->in_vain = 0;
	return limit(a, in, now);
}
