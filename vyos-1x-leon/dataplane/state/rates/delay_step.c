// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Detects a longer propagation delay in one direction of a link while own load is present. Two
 * facts distinguish propagation delay from a queue, and no additional packet is sent. A queue
 * drains while less traffic arrives than the link carries. A queue that appears at once, without a
 * higher sending rate, means a slower link, so an unchanged delivery rate rules out a queue. Called
 * by link_load.c with each answer to a PING. Pure; control thread. See doc/decisions/041.
 */
#include "base/defs.h"
#include "state/rates/link_load.h"

/* A dip is an interval with at least a quarter and at least DIP_BYTES less traffic than the link
 * carries. Delivery is counted in datagrams. */
#define DIP_PART  4
#define DIP_BYTES 6000
/* Dips count after this sum of their expected reductions, and after twice the queueing delay. */
#define DIPS_US 200000
/* 80 % of a value still counts as the value. */
#define NEARLY(x) ((x) - (x) / 5)
/* Number of samples without a queue after which the sending rate is known. */
#define STEADY 5
/* Time after a step until the new delivery rate is known. */
#define STEP_MS 600
#define BITS	8

static void watch(struct delay_step *y, int64_t us)
{
	y->due_us = y->fell_us = 0;
	y->least_us = us;
}

void delay_step_reset(struct delay_step *y)
{
	watch(y, INT64_MAX);
	y->step_us = 0;
}

/* Time in which the delivered bytes were sent. */
static int64_t sent_us(const struct delay_sample *s)
{
	return s->carried_us - s->moved_us;
}

/* Expected growth of the queue: delivered bytes minus the capacity of the link. */
static int64_t due_us(const struct delay_sample *s, int64_t full_kbits)
{
	/* A rate of 0 makes any traffic a burst. */
	int64_t kbits = max_of(full_kbits, (int64_t)1);

	return s->carried_kbits * s->carried_us / kbits - sent_us(s);
}

static bool is_dip(const struct delay_sample *s, int64_t due)
{
	return due <= -sent_us(s) / DIP_PART && -due * s->full_kbits >= DIP_BYTES * BITS * 1000;
}

/* Returns true if dips would have emptied the queue twice, and the delay fell by less than half of
 * the expected reduction. */
static bool stays_in_dips(struct delay_step *y, const struct delay_sample *s, int64_t due)
{
	if (!is_dip(s, due))
		return false;
	/* The reduction cannot exceed the delay before the dip. */
	due = max_of((int64_t)0, min_of(-due, s->us - s->moved_us));
	y->due_us += due;
	y->fell_us += max_of((int64_t)0, min_of(-s->moved_us, due));
	if (y->due_us < max_of(2 * s->us, (int64_t)DIPS_US))
		return false;
	if (y->fell_us < y->due_us / 2)
		return true;
	watch(y, s->us);
	return false;
}

/* Detects a step of delay. Traffic at the rate of an empty queue is no burst. */
static void look_for_step(struct delay_step *y, const struct delay_sample *s, mono_t now)
{
	if (y->steady < STEADY || due_us(s, y->before_kbits) > sent_us(s) / DIP_PART ||
	    s->moved_us < NEARLY(s->us) - s->noise_us)
		return;
	y->step_us = y->stays_us = s->us;
	y->step_kbits = y->before_kbits;
	y->step_at = now;
}

/* Returns true if the delay after a step stayed and the delivery rate did too. A queue would have
 * drained, or the rate would have fallen. */
static bool came_at_once(struct delay_step *y, const struct delay_sample *s, mono_t now)
{
	y->stays_us = min_of(y->stays_us, s->us);
	if (y->stays_us < NEARLY(y->step_us) - s->noise_us)
		y->step_us = 0;
	return y->step_us && mono_sub_ms(now, y->step_at) >= STEP_MS &&
	       s->marked_kbits >= NEARLY(y->step_kbits);
}

static int64_t note_waiting(struct delay_step *y, const struct delay_sample *s, int64_t due,
			    mono_t now)
{
	int64_t step_us;

	look_for_step(y, s, now);
	y->steady = 0;
	step_us = came_at_once(y, s, now) ? y->stays_us : 0;
	if (!s->ours) {
		watch(y, INT64_MAX);
		return 0;
	}
	return stays_in_dips(y, s, due) ? y->least_us : step_us;
}

int64_t delay_step_note(struct delay_step *y, const struct delay_sample *s, mono_t now)
{
	int64_t due, persistent_us;

	y->least_us = min_of(y->least_us, s->us);
	if (!s->carried_us || sent_us(s) <= 0)
		return 0;
	due = due_us(s, s->full_kbits);
	if (s->us < s->noise_us) {
		delay_step_reset(y);
		y->steady = is_dip(s, due) ? 0 : y->steady + 1;
		y->before_kbits = s->full_kbits;
		return 0;
	}
	persistent_us = note_waiting(y, s, due, now);
	if (persistent_us)
		delay_step_reset(y);
	return persistent_us;
}
