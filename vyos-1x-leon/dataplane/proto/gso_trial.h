// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Trial of UDP segmentation on a link that loses data: a sign test on pairs of short periods, see
 * gso_trial.c. Pure; owned by the embedding structure. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "proto/loss_meas.h"

#define GSO_TRIAL_PING_MS 20 /* probe interval during a trial */
#define GSO_TRIAL_WAIT_MS 5  /* time after a switch in which older datagrams are still sent */
#define GSO_TRIAL_LOSS_PM 10 /* a trial starts at this loss */

/* State of the counters at an answered PING. */
struct gso_reading {
	mono_t at;		  /* transmission of the PING */
	uint32_t phase;		  /* gso_trial_phase() of the PING */
	uint32_t sent, trains;	  /* own counters: datagrams, and trains of datagrams */
	uint32_t epoch, received; /* values of the far end */
};

/* Traffic of a period. */
struct gso_period {
	uint32_t sent, received;
	int64_t us;
};

enum gso_trial_state { GSO_TRIAL_IDLE, GSO_TRIAL_RUNS, GSO_TRIAL_BROKEN };

struct gso_trial {
	enum gso_trial_state state;
	bool off;		   /* segmentation is off now */
	bool second;		   /* the period is the second of a pair */
	unsigned won;		   /* pairs so far */
	uint32_t phase;		   /* number of the period */
	mono_t switched;	   /* start of the period */
	struct gso_reading first;  /* of the period; phase 0: none yet */
	mono_t last;		   /* latest reading */
	struct gso_period pair[2]; /* of the pair, by `off` */
	struct {
		uint64_t received;
		int64_t us;
	} all[2];		    /* of all pairs, by `off` */
	struct loss_meas_hold hold; /* back-off after a trial without a result */
};

enum gso_trial_result { GSO_TRIAL_OPEN, GSO_TRIAL_SWITCHED, GSO_TRIAL_ENDED };

/* `coin`: an independent random bit, also below. Returns false if no trial may start now. */
bool gso_trial_start(struct gso_trial *t, bool coin, mono_t now);
/* Value to remember with the next PING; 0: the answer is no reading. */
uint32_t gso_trial_phase(const struct gso_trial *t, mono_t now);
/* Enters a reading, in the order of PINGs. If the result is not GSO_TRIAL_OPEN, `off` may have
 * changed. */
enum gso_trial_result gso_trial_add(struct gso_trial *t, const struct gso_reading *r, bool coin,
				    mono_t now);
/* Ends a trial without enough traffic, and then returns true. */
bool gso_trial_expire(struct gso_trial *t, mono_t now);
/* Uses segmentation again. */
void gso_trial_reset(struct gso_trial *t);
