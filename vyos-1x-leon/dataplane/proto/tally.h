// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Detection of lost data datagrams, see tally.c. Pure; owned by the embedding structure. Control
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

struct tally {
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
	unsigned bad, good; /* windows in a row; one without arrivals counts twice as bad */
	mono_t bad_since;
};

/* Back-off time of a link or path that loses data. */
struct tally_hold {
	mono_t until;
	int64_t ms;
};

/* Counters of a PONG and of the PING that it answers. */
struct tally_answer {
	uint32_t epoch, received; /* values of the far end */
	uint32_t sent;		  /* tally_mark() of the PING */
	uint32_t sent_now;	  /* own counter at the arrival of the PONG */
};

enum tally_verdict { TALLY_OPEN, TALLY_LOSES, TALLY_WELL };

/* Records the own counter before a PING; returns the value to compare its answer with. */
uint32_t tally_mark(struct tally *t, uint32_t sent, mono_t now);
/* Enters a PONG, in the order of PINGs. Returns true if this completed a window. */
bool tally_take(struct tally *t, const struct tally_answer *a, mono_t now);
enum tally_verdict tally_verdict(const struct tally *t);
/* Restarts the window after a change of the path. */
void tally_restart(struct tally *t);
/* Returns true while data loss is detected. */
void tally_hold(struct tally_hold *h, mono_t now);
bool tally_holds(const struct tally_hold *h, mono_t now);
