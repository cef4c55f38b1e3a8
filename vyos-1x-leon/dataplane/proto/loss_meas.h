// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Detection of lost data datagrams, see loss_meas.c. Pure; owned by the embedding structure.
 * Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

struct loss_meas {
	/* Own counter at the latest PINGs. */
	uint32_t mark, mark_before;
	mono_t marked;
	/* Counters at the start of the window. */
	bool based;
	uint32_t epoch, tx, rx;
	uint32_t tx_now; /* own counter when rx was received */
	mono_t since;
	int32_t early; /* arrived before the window, although sent in it */
	/* Results: of the latest window, and of all. */
	uint16_t loss_pm;
	uint64_t sent, lost;
	unsigned bad, good; /* windows in a row; a window without arrivals is twice as bad */
	mono_t bad_since;
};

/* Back-off time of a link or path with data loss. */
struct loss_meas_hold {
	mono_t until;
	int64_t ms;
};

/* Counters of a PONG and of the answered PING. */
struct loss_meas_answer {
	uint32_t epoch, received; /* values of the far end */
	uint32_t sent;		  /* loss_meas_mark() of the PING */
	uint32_t sent_now;	  /* own counter at the arrival of the PONG */
};

enum loss_meas_verdict { LOSS_MEAS_OPEN, LOSS_MEAS_BAD, LOSS_MEAS_GOOD };

/* Records the own counter before a PING; returns the value to compare its answer with. */
uint32_t loss_meas_mark(struct loss_meas *t, uint32_t sent, mono_t now);
/* Enters a PONG, in the order of PINGs. Returns true at the end of a window. */
bool loss_meas_add(struct loss_meas *t, const struct loss_meas_answer *a, mono_t now);
enum loss_meas_verdict loss_meas_verdict(const struct loss_meas *t);
/* Restarts the window after a change of the path. */
void loss_meas_restart(struct loss_meas *t);
/* Returns true while data loss is detected. */
void loss_meas_hold(struct loss_meas_hold *h, mono_t now);
bool loss_meas_holds(const struct loss_meas_hold *h, mono_t now);
