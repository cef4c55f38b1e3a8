// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Estimates the rate of the access link of a site and sets the limit of the shaper. A queue that
 * grows under own load shows that the link is full. The delivery rate at that time is the rate of
 * the link. The inputs are the combined measurements of the links (site_load.h), and no additional
 * packet is sent. A limit a little below the rate moves the queue into leond, which knows the
 * flows. Bandwidth probes (bandwidth_probe.c) exceed the limit for a moment to find spare capacity.
 * Owned by the daemon; pure; control thread. See doc/decisions/041.
 *
 * - open: no limit. The link was never full, or its rate is AUTORATE_MAX or more.
 * - drain: a lower rate, until the queue is empty or turns out not to be own load.
 * - cruise: a little below the rate of the link.
 * - probe: bandwidth probe. The PINGs during the probe decide.
 * - suspended: no limit. A lower rate did not shorten the queue, so others keep it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "state/minmax.h"
#include "state/rates/site_load.h"

/* --- bandwidth_probe.c --- */

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

/* --- autorate.c --- */

#define AUTORATE_MIN	   128	   /* kbit/s */
#define AUTORATE_MAX	   1000000 /* no limit at this rate or above */
#define AUTORATE_FORGET_MS (600 * 1000)

enum autorate_state {
	AUTORATE_OPEN,
	AUTORATE_DRAIN,
	AUTORATE_CRUISE,
	AUTORATE_PROBE,
	AUTORATE_SUSPENDED
};

struct autorate {
	enum autorate_state state;
	mono_t since;	/* start of the state */
	uint32_t kbits; /* estimated rate of the link; 0: unknown */
	uint32_t best;	/* best recent rate */
	struct bandwidth_probe probe;
	uint32_t initial_queue_us;   /* queueing delay at the start of draining */
	uint32_t baseline_us;	     /* baseline: delay that no lower rate shortens */
	mono_t baseline_at;	     /* time of the baseline */
	mono_t stayed_at;	     /* last time that draining did not shorten the delay */
	int64_t base_us;	     /* base delay that baseline_us refers to */
	uint32_t before_us;	     /* queueing delay of the previous sample */
	uint32_t before_kbits;	     /* delivery rate of the previous sample */
	struct minmax recent;	     /* windowed maximum of the delivery rate, kbit/s */
	uint32_t verified;	     /* verified rate: kbits when the link was last empty */
	mono_t lowered_at;	     /* time at which kbits fell below half of the verified rate */
	bool unsure;		     /* the first queue has not drained yet */
	uint32_t known;		     /* kbits at the start of draining */
	mono_t used_at;		     /* last time that the link was in use */
	uint32_t least_us;	     /* draining: least queueing delay since look_from */
	mono_t look_from;	     /* draining: earliest send time of a PING that counts */
	uint32_t target_us;	     /* draining: target of least_us for own load */
	mono_t look_at;		     /* draining: time of the check */
	unsigned high;		     /* successive samples that found a queue */
	mono_t high_at;		     /* state open: time of the first such sample */
	unsigned unresponsive;	     /* recent suspensions */
	mono_t busy;		     /* last time with traffic */
	uint64_t found, suspensions; /* number of first limits and of suspensions */
};

void autorate_reset(struct autorate *a);
/* Returns true once for each bandwidth probe, at its end: a PING sent now measures the queue. */
bool autorate_probe_ended(struct autorate *a, mono_t now);
/* Called every AUTORATE_STEP_MS. Returns the limit in kbit/s, 0: none. */
uint32_t autorate_step(struct autorate *a, const struct site_load *in, mono_t now);
const char *autorate_state_name(enum autorate_state s);
