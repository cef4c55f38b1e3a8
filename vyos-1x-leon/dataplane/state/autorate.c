// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See autorate.h. Called by the daemon's timer. Pure; control thread.
 */
#include "state/autorate.h"

#include <string.h>

#include "base/defs.h"

/* A queue that is worth a limit where there is none, and one where there is. */
#define OPEN_US 10000
#define HIGH_US 5000
/* Round trips differ anyway: so many times that is no queue. */
#define OPEN_JITTERS 4
#define HIGH_JITTERS 2
#define IN_A_ROW     2
/* Two frames wait for each other on any line. */
#define FRAMES_BITS (2 * 1514 * 8)
/* Of what the line carries, while it is not tried; in thousandths. */
#define CRUISE_PM 970
/* The queue that is there is to be gone after this; at most so much less is sent for it. */
#define DRAIN_US     250000
#define DRAIN_PM_MAX 400
/* A bump is so long, and so high at first; PINGs count that were sent from its middle to a little
 * after its end. Where it finds room the next one is twice as high. */
#define BUMP_MS	    100
#define BUMP_PM	    80
#define BUMP_PM_MAX 500
#define JUDGE_MS    50
#define HOLD_MS	    500
/* So much of the limit must be used to say anything about more. */
#define USED_PM 850
/* One sample lowers what is known by so much at most. */
#define LOWER_PM 750
/* Sending less must shorten a queue in this time. */
#define VAIN_MS	      3000
#define YIELD_MS      10000
#define YIELD_TIMES   5 /* doublings of it */
#define FORGIVEN_MS   60000
#define LEAST_OF_BEST 16

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
	enter(a, AUTORATE_OPEN, now);
}

static uint32_t threshold(const struct autorate *a, const struct autorate_input *in,
			  uint32_t least_us, uint32_t jitters)
{
	uint32_t frames_us = a->kbits ? FRAMES_BITS * 1000 / a->kbits : 0;

	least_us = max_of(least_us, frames_us);
	return max_of(least_us, in->jitter_us * jitters);
}

/* While there is a limit the queue is empty again and again, so what waits is known without what
 * stood for long. */
static bool is_high(const struct autorate *a, const struct autorate_input *in)
{
	return in->queue_us > threshold(a, in, HIGH_US, HIGH_JITTERS);
}

static void drain(struct autorate *a, const struct autorate_input *in, mono_t now)
{
	a->at_first = in->queue_us;
	a->step_pm = BUMP_PM;
	a->high = 0;
	enter(a, AUTORATE_DRAIN, now);
}

/* --- states --- */

/* It was found full: what arrives while a queue stands is what it carries. */
static void when_open(struct autorate *a, const struct autorate_input *in, mono_t now)
{
	if (!in->fresh)
		return;
	a->high = in->ours && in->queue_us + in->stood_us > threshold(a, in, OPEN_US, OPEN_JITTERS)
			  ? a->high + 1
			  : 0;
	if (a->high < IN_A_ROW || !in->delivered_kbits || in->delivered_kbits >= AUTORATE_MOST)
		return;
	a->best = 0;
	set_kbits(a, in->delivered_kbits);
	a->found++;
	drain(a, in, now);
}

static void yield(struct autorate *a, mono_t now)
{
	a->in_vain++;
	a->yielded++;
	enter(a, AUTORATE_YIELD, now);
}

static bool is_used(const struct autorate *a, const struct autorate_input *in)
{
	return in->backlog || in->delivered_kbits >= part(a->kbits, USED_PM);
}

static void when_draining(struct autorate *a, const struct autorate_input *in, mono_t now)
{
	if (!in->fresh)
		return;
	if (!is_high(a, in)) {
		enter(a, AUTORATE_CRUISE, now);
		return;
	}
	if (in->delivered_kbits < a->kbits && is_used(a, in))
		set_kbits(a, max_of(in->delivered_kbits, part(a->kbits, LOWER_PM)));
	if (for_ms(a, now) < VAIN_MS)
		return;
	if (in->queue_us > a->at_first / 2)
		yield(a, now);
	else
		drain(a, in, now);
}

static void when_cruising(struct autorate *a, const struct autorate_input *in, mono_t now)
{
	if (in->fresh)
		a->high = is_high(a, in) ? a->high + 1 : 0;
	if (a->high >= IN_A_ROW) {
		drain(a, in, now);
		return;
	}
	if (a->high || for_ms(a, now) < HOLD_MS || !is_used(a, in))
		return;
	a->full = a->tried = false;
	a->judge_from = mono_add_ms(now, JUDGE_MS);
	a->judge_until = mono_add_ms(now, BUMP_MS + JUDGE_MS);
	enter(a, AUTORATE_BUMP, now);
}

/* What PINGs may find after a bump on a line that has that much room. */
static uint32_t bump_limit_us(const struct autorate *a, const struct autorate_input *in)
{
	return threshold(a, in, a->step_pm * BUMP_MS / 3, HIGH_JITTERS);
}

static void judge(struct autorate *a, const struct autorate_input *in)
{
	if (!in->fresh || mono_before(in->asked, a->judge_from) ||
	    mono_before(a->judge_until, in->asked))
		return;
	a->tried = true;
	a->full |= in->queue_us > bump_limit_us(a, in);
}

static void after_bump(struct autorate *a, const struct autorate_input *in, mono_t now)
{
	bool room = a->tried && !a->full && is_used(a, in);

	if (room) {
		set_kbits(a, (uint64_t)a->kbits * (1000 + a->step_pm) / 1000);
		a->step_pm = min_of(a->step_pm * 2, (uint32_t)BUMP_PM_MAX);
	} else {
		a->step_pm = BUMP_PM;
	}
	enter(a, AUTORATE_CRUISE, now);
	/* Where there was room, there may be more. */
	if (room)
		a->since = mono_add_ms(now, -HOLD_MS);
	if (a->kbits >= AUTORATE_MOST)
		open_line(a, now);
}

static void when_bumping(struct autorate *a, const struct autorate_input *in, mono_t now)
{
	judge(a, in);
	if (a->tried && a->full && in->fresh) {
		a->step_pm = BUMP_PM;
		if (in->queue_us > 2 * bump_limit_us(a, in))
			drain(a, in, now);
		else
			enter(a, AUTORATE_CRUISE, now);
		return;
	}
	if (for_ms(a, now) >= BUMP_MS + 2 * JUDGE_MS + (int64_t)(in->rtt_us / 1000))
		after_bump(a, in, now);
}

static void when_yielding(struct autorate *a, const struct autorate_input *in, mono_t now)
{
	int64_t ms = (int64_t)YIELD_MS << min_of(a->in_vain, (unsigned)YIELD_TIMES);

	(void)in;
	if (for_ms(a, now) >= ms)
		open_line(a, now);
}

/* --- what is sent --- */

static uint32_t limit(const struct autorate *a, const struct autorate_input *in, mono_t now)
{
	uint32_t less =
		(uint32_t)min_of((uint64_t)in->queue_us * 1000 / DRAIN_US, (uint64_t)DRAIN_PM_MAX);

	switch (a->state) {
	case AUTORATE_DRAIN:
		return part(a->kbits, CRUISE_PM - less);
	case AUTORATE_CRUISE:
		return part(a->kbits, CRUISE_PM);
	case AUTORATE_BUMP:
		return part(a->kbits, for_ms(a, now) < BUMP_MS ? 1000 + a->step_pm : CRUISE_PM);
	case AUTORATE_OPEN:
	case AUTORATE_YIELD:
		break;
	}
	return 0;
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
	if (in->delivered_kbits >= part(a->kbits, 1000 / LEAST_OF_BEST))
		a->busy = now;
	when[a->state](a, in, now);
	if (a->state == AUTORATE_CRUISE && mono_sub_ms(now, a->busy) >= AUTORATE_FORGET_MS)
		open_line(a, now);
	if (a->in_vain && a->state != AUTORATE_YIELD && for_ms(a, now) >= FORGIVEN_MS)
		a->in_vain = 0;
	return limit(a, in, now);
}
