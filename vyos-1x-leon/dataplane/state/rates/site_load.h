// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The measurements of all links of a site (link_load.h), combined into one measurement of the
 * access link, and the noise delays of that link. All links share the access link, so the shortest
 * queue counts. Filled by daemon/underlay/bottleneck.c at each step, read by autorate.c. Pure;
 * control thread. See doc/decisions/041.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "state/rates/link_load.h"

/* All links that carry a part of the data of the site. */
struct site_load {
	unsigned links;		  /* number of links */
	bool fresh;		  /* a new sample since the previous step */
	mono_t sent_at;		  /* send time of the PING of the oldest sample */
	uint32_t queue_us;	  /* least recent queueing delay of the links */
	int64_t base_us;	  /* base delay that queue_us refers to */
	uint32_t standing_us;	  /* least standing queue, in either direction */
	uint32_t any_queue_us;	  /* least queueing delay above the long-term base, of any sender */
	uint32_t jitter_us;	  /* largest RTT jitter */
	uint32_t rtt_us;	  /* longest RTT without own load */
	uint32_t delivered_kbits; /* delivery rate of all links, IP packets */
	uint32_t latest_kbits;	  /* delivery rate between the last two samples */
	bool ours;		  /* own load on at least one link */
	bool backlog;		  /* frames are queued in leond */
};

/* Returns true if the link carries a part of the data. most_kbits: the rate of the busiest link. */
bool site_load_counts(const struct link_load *l, int64_t most_kbits);
/* Adds a link that counts to `s`, which is all zero at first. Leaves `fresh` and `backlog`. */
void site_load_add(struct site_load *s, const struct link_load *l);

/* In the following, kbits is the rate of the access link; 0: unknown. */
/* Returns the time in us that two frames need; 0 without a rate. They queue behind each other on
 * any link. */
uint32_t site_load_frames_us(uint32_t kbits);
/* Returns the delay in us above which a queue is certain: least_us, two frames, or a multiple of
 * the jitter. */
uint32_t site_load_threshold_us(const struct site_load *s, uint32_t kbits, uint32_t least_us);
/* Returns the delay in us that a PING may find on a link that is not full: half of the threshold,
 * and the jitter. */
uint32_t site_load_noise_us(const struct site_load *s, uint32_t kbits);
