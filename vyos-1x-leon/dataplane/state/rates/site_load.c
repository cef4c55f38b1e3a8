// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See site_load.h. Pure; control thread.
 */
#include "state/rates/site_load.h"

#include "base/defs.h"

/* A link counts if its rate is at least 1/PART of the rate of the busiest link. */
#define PART 8
/* Delay below this multiple of the RTT jitter is no queue. The jitter is a windowed minimum, about
 * two thirds of the mean. */
#define JITTERS	    3
#define FRAMES_BITS (2 * 1514 * 8)

bool site_load_counts(const struct link_load *l, int64_t most_kbits)
{
	return most_kbits && link_load_sent(l) >= most_kbits / PART;
}

static uint32_t sum_kbits(uint32_t a, uint32_t b)
{
	return a + min_of(b, UINT32_MAX - a);
}

void site_load_add(struct site_load *s, const struct link_load *l)
{
	uint32_t standing_us = min_of(l->queue_us, l->standing_us);
	bool first = !s->links++;

	if (first || l->queue_us - standing_us < s->queue_us) {
		s->queue_us = l->queue_us - standing_us;
		s->base_us = link_load_base(l);
	}
	s->standing_us =
		first ? link_load_standing(l) : min_of(s->standing_us, link_load_standing(l));
	s->any_queue_us = first ? l->any_queue_us : min_of(s->any_queue_us, l->any_queue_us);
	s->rtt_us = max_of(s->rtt_us, (uint32_t)min_of(l->idle_us, (int64_t)UINT32_MAX));
	s->jitter_us = max_of(s->jitter_us, link_load_jitter(l));
	s->delivered_kbits = sum_kbits(s->delivered_kbits, l->delivered_kbits);
	s->latest_kbits = sum_kbits(s->latest_kbits, l->latest_kbits);
	s->ours |= l->forward.ours;
	if (first || mono_before(l->sent_at, s->sent_at))
		s->sent_at = l->sent_at;
}

uint32_t site_load_frames_us(uint32_t kbits)
{
	return kbits ? FRAMES_BITS * 1000 / kbits : 0;
}

uint32_t site_load_threshold_us(const struct site_load *s, uint32_t kbits, uint32_t least_us)
{
	least_us = max_of(least_us, site_load_frames_us(kbits));
	return max_of(least_us, s->jitter_us * JITTERS);
}

uint32_t site_load_noise_us(const struct site_load *s, uint32_t kbits)
{
	return site_load_threshold_us(s, kbits, 0) / 2 + s->jitter_us;
}
