// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A bandwidth probe of the access link: traffic may exceed the limit for a moment, and the PINGs
 * sent near the end show if the link has spare capacity. Owns the height and the duration of the
 * probe, and the judgement of its samples. autorate.c starts a probe, applies its height and acts
 * on its outcome. Pure; control thread. See doc/decisions/041.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

/* Interval of the samples. */
#define AUTORATE_STEP_MS 50
/* Part of the limit that must be used before and during a probe, in thousandths. */
#define BANDWIDTH_PROBE_USED_PM 850

struct bandwidth_probe {
	uint32_t step_pm; /* height, 1/1000 above the limit */
	uint32_t ms;	  /* duration */
	mono_t since;
	mono_t judge_from; /* interval of the PINGs that show the outcome */
	mono_t judge_until;
	mono_t answered_at;	/* time of the last answer on a link without an RTT */
	bool full, tried, sent; /* queue found, sample counted, PING sent */
	bool empty;		/* no sample found half of the allowed queue */
	uint32_t peak_kbits;	/* peak delivery rate */
};

struct probe_sample {
	mono_t sent_at;	   /* send time of the PING */
	uint32_t queue_us; /* queueing delay above the baseline */
	uint32_t noise_us; /* queueing delay that is possible on a link that is not full */
	uint32_t delivered_kbits;
};

enum probe_outcome {
	PROBE_UNANSWERED, /* no answer to a PING near the end */
	PROBE_FULL,	  /* no spare capacity, or not enough traffic to find it */
	PROBE_ROOM	  /* spare capacity */
};

/* Sets the smallest height: the link is full. */
void bandwidth_probe_shrink(struct bandwidth_probe *p);
/* noise_us: as in a sample. */
void bandwidth_probe_start(struct bandwidth_probe *p, uint32_t noise_us, mono_t now);
/* Returns the height in 1/1000, and 0 after the end of the probe. */
uint32_t bandwidth_probe_height_pm(const struct bandwidth_probe *p, mono_t now);
/* Returns true once, at the end: a PING sent now measures the queue. */
bool bandwidth_probe_ended(struct bandwidth_probe *p, mono_t now);
void bandwidth_probe_note(struct bandwidth_probe *p, const struct probe_sample *s);
/* Returns true if the answers to all PINGs of the probe are due. */
bool bandwidth_probe_is_over(const struct bandwidth_probe *p, uint32_t rtt_us, mono_t now);
/* Returns the outcome and sets the height of the next probe. *kbits: the limit; PROBE_ROOM raises
 * it. */
enum probe_outcome bandwidth_probe_judge(struct bandwidth_probe *p, uint64_t *kbits);
