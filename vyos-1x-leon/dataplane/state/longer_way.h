// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether what seems to be a queue of ours in one direction of a link is a way that got longer
 * while our traffic was on it. Two things tell them apart, and nothing is sent for them. A queue
 * gets shorter while less comes than the line carries. And a queue that comes at once, without our
 * having sent more than before, is a line that got slower: one that carries as much as before did
 * not. Used by link_load.c; pure; control thread. doc/decisions/041.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

/* What a sample says of a direction. */
struct way_sample {
	int64_t us;	       /* seems to wait */
	int64_t moved_us;      /* so much more than in the sample before */
	int64_t carried_us;    /* between the two as they arrived */
	int64_t carried_kbits; /* arrived meanwhile */
	int64_t marked_kbits;  /* and in the last 200 to 400 ms */
	int64_t full_kbits;    /* the line carries */
	int64_t noise_us;      /* what waits for less than this is no queue */
	bool ours;	       /* what waits */
};

struct longer_way {
	int64_t due_us, fell_us; /* so much shorter a queue had to get, and what waits got */
	int64_t least_us;	 /* what waited at least meanwhile */
	unsigned steady;	 /* samples without a queue in which we sent all the time */
	int64_t before_kbits;	 /* the line carried, by the last of them */
	int64_t step_us;	 /* what waited when it came at once, 0: it did not, */
	int64_t stays_us;	 /* and what waits at least since */
	int64_t step_kbits;	 /* and what the line had carried before */
	mono_t step_at;
};

void longer_way_reset(struct longer_way *y);
/* Takes a sample; returns by how much the way is longer, in us, where that is seen now, else 0. */
int64_t longer_way_note(struct longer_way *y, const struct way_sample *s, mono_t now);
