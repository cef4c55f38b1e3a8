// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Detects a longer propagation delay in one direction of a link while own load is present. Two
 * facts distinguish propagation delay from a queue, and no additional packet is sent. A queue
 * drains while less traffic arrives than the link carries. A queue that appears at once, without a
 * higher sending rate, means a slower link, so an unchanged delivery rate rules out a queue. Used
 * by link_load.c; pure; control thread. See doc/decisions/041.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

/* Sample of one direction. */
struct delay_sample {
	int64_t us;	       /* apparent queueing delay */
	int64_t moved_us;      /* growth since the previous sample */
	int64_t carried_us;    /* time between the two samples, at the receiver */
	int64_t carried_kbits; /* delivery rate between the two samples */
	int64_t marked_kbits;  /* delivery rate of the last 200 to 400 ms */
	int64_t full_kbits;    /* rate of the link */
	int64_t noise_us;      /* a shorter delay is no queue */
	bool ours;	       /* the apparent queue is own load */
};

struct delay_step {
	int64_t due_us, fell_us; /* reduction in dips: expected and measured */
	int64_t least_us;	 /* least delay since the sums started */
	unsigned steady;	 /* samples without a queue and without a dip */
	int64_t before_kbits;	 /* rate of the link at the last sample without a queue */
	int64_t step_us;	 /* delay of a step; 0: none */
	int64_t stays_us;	 /* least delay since the step */
	int64_t step_kbits;	 /* rate of the link before the step */
	mono_t step_at;
};

void delay_step_reset(struct delay_step *y);
/* Enters a sample. Returns the growth of the propagation delay in us if it is detected now, else
 * 0. */
int64_t delay_step_note(struct delay_step *y, const struct delay_sample *s, mono_t now);
