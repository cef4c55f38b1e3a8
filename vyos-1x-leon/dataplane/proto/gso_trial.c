// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decides whether UDP segmentation causes the data loss of a link. Pure: counters, times and random
 * bits are arguments. Called by segmentation.c on the control thread. doc/decisions/074.
 *
 * A sign test (Dixon and Mood 1946) on pairs of periods, one with segmentation and one without, in
 * an order that a coin decides. A pair is a success if data is lost with segmentation, and at most
 * a quarter of it without. PAIRS successes in a row convict segmentation. Loss that is independent
 * of segmentation makes a pair a success in at most one of the two orders, for each distribution of
 * the loss. Therefore at most 2^-PAIRS of the trials end with a wrong conviction.
 *
 * A full queue loses less if the sender is slower, and sending without segmentation may be slower.
 * Therefore more datagrams must arrive without segmentation, too.
 */
#include "proto/gso_trial.h"

#define PAIRS	    12
#define LOSS_RATIO  4
#define PERIOD_MS   50
#define PERIOD_SENT 3
#define EXPIRE_MS   5000 /* maximum time of a period */

static void begin_period(struct gso_trial *t, bool off, bool second, mono_t now)
{
	t->off = off;
	t->second = second;
	t->phase++;
	t->phase += t->phase == 0;
	t->switched = now;
	t->first.phase = 0;
	t->last = now;
}

void gso_trial_reset(struct gso_trial *t)
{
	t->state = GSO_TRIAL_IDLE;
	t->off = false;
}

bool gso_trial_start(struct gso_trial *t, bool coin, mono_t now)
{
	if (t->state != GSO_TRIAL_IDLE || loss_meas_holds(&t->hold, now))
		return false;
	t->state = GSO_TRIAL_RUNS;
	t->won = 0;
	t->all[0].received = t->all[1].received = 0;
	t->all[0].us = t->all[1].us = 0;
	begin_period(t, coin, false, now);
	return true;
}

uint32_t gso_trial_phase(const struct gso_trial *t, mono_t now)
{
	bool settled = mono_sub_ms(now, t->switched) >= GSO_TRIAL_WAIT_MS;

	return t->state == GSO_TRIAL_RUNS && settled ? t->phase : 0;
}

static enum gso_trial_result give_up(struct gso_trial *t, mono_t now)
{
	loss_meas_hold(&t->hold, now);
	gso_trial_reset(t);
	return GSO_TRIAL_ENDED;
}

static uint64_t lost(const struct gso_period *p)
{
	return p->sent > p->received ? p->sent - p->received : 0;
}

static bool is_success(const struct gso_period *on, const struct gso_period *off)
{
	return lost(on) * 1000 >= (uint64_t)GSO_TRIAL_LOSS_PM * on->sent &&
	       lost(off) * on->sent * LOSS_RATIO <= lost(on) * off->sent;
}

/* Compares the rates of arrival of all pairs. */
static bool more_arrives_without(const struct gso_trial *t)
{
	return (double)t->all[true].received * (double)t->all[false].us >
	       (double)t->all[false].received * (double)t->all[true].us;
}

static enum gso_trial_result judge(struct gso_trial *t, bool coin, mono_t now)
{
	if (!is_success(&t->pair[false], &t->pair[true]))
		return give_up(t, now);
	for (unsigned i = 0; i < 2; i++) {
		t->all[i].received += t->pair[i].received;
		t->all[i].us += t->pair[i].us;
	}
	if (++t->won < PAIRS) {
		begin_period(t, coin, false, now);
		return GSO_TRIAL_SWITCHED;
	}
	if (!more_arrives_without(t))
		return give_up(t, now);
	t->state = GSO_TRIAL_BROKEN;
	t->off = true;
	return GSO_TRIAL_ENDED;
}

/* Returns true if the period has enough traffic. */
static bool measure(const struct gso_trial *t, const struct gso_reading *r, struct gso_period *p)
{
	const struct gso_reading *f = &t->first;

	*p = (struct gso_period){ .sent = r->sent - f->sent,
				  .received = r->received - f->received,
				  .us = mono_sub_us(r->at, f->at) };
	return p->us >= PERIOD_MS * 1000 && p->sent >= PERIOD_SENT &&
	       (t->off || r->trains != f->trains);
}

enum gso_trial_result gso_trial_add(struct gso_trial *t, const struct gso_reading *r, bool coin,
				    mono_t now)
{
	if (t->state != GSO_TRIAL_RUNS || !r->phase || r->phase != t->phase ||
	    mono_before(r->at, t->last))
		return GSO_TRIAL_OPEN;
	t->last = r->at;
	/* A restart of the far end begins at another value. */
	if (!t->first.phase || r->epoch != t->first.epoch) {
		t->first = *r;
		return GSO_TRIAL_OPEN;
	}
	if (!measure(t, r, &t->pair[t->off]))
		return GSO_TRIAL_OPEN;
	if (t->second)
		return judge(t, coin, now);
	begin_period(t, !t->off, true, now);
	return GSO_TRIAL_SWITCHED;
}

bool gso_trial_expire(struct gso_trial *t, mono_t now)
{
	if (t->state != GSO_TRIAL_RUNS || mono_sub_ms(now, t->switched) < EXPIRE_MS)
		return false;
	if (t->won)
		gso_trial_reset(t);
	else
		give_up(t, now);
	return true;
}
