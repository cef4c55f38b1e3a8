// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Trains of acknowledgements, see train.h.
 */
#include "peer/train.h"

#include "base/defs.h"

#define TRAIN_MIN    2400  /* bytes: two segments */
#define ACK_MAX	     4500  /* bytes of one acknowledgement: three segments */
#define DURATION_MIN 1000  /* microseconds: a process handles arrivals together */
#define PAUSE_MIN_US 10000 /* shorter pauses are jitter */

void train_add(struct train *t, uint32_t bytes, uint32_t rtt_us, mono_t now)
{
	int64_t pause = max_of((int64_t)rtt_us / 4, (int64_t)PAUSE_MIN_US);

	if (!bytes)
		return;
	if (!t->last.ns || mono_sub_us(now, t->last) > pause) {
		t->first = now;
		t->bytes = 0;
	} else {
		/* A late acknowledgement of many segments says nothing about their arrival. */
		t->bytes += min_of(bytes, (uint32_t)ACK_MAX);
	}
	t->last = now;
	if (t->bytes >= TRAIN_MIN)
		t->rate = t->bytes * 1000000 /
			  (uint64_t)max_of(mono_sub_us(now, t->first), (int64_t)DURATION_MIN);
}
