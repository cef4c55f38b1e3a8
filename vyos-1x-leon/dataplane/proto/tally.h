// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Datagrams with data that were sent and did not arrive, see tally.c. Pure; the owner is whoever
 * embeds the structs. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

struct tally {
	/* Own counter when the latest PINGs were sent. */
	uint32_t mark, mark_before;
	mono_t marked;
	/* Of the window: counters at its beginning. */
	bool based;
	uint32_t epoch, tx, rx;
	uint32_t tx_now; /* what had been sent when rx was here */
	mono_t since;
	int32_t early; /* arrived before it, although sent in it */
	/* What was found: in the latest window, and in all of them. */
	uint16_t loss_pm;
	uint64_t sent, lost;
	unsigned bad, good; /* windows in a row; one in which nothing arrived is bad twice */
	mono_t bad_since;
};

/* For how long what was found to lose data is avoided. */
struct tally_hold {
	mono_t until;
	int64_t ms;
};

/* What a PONG says, and what is known about the PING it answers. */
struct tally_answer {
	uint32_t epoch, received; /* the far end's */
	uint32_t sent;		  /* tally_mark() of the PING */
	uint32_t sent_now;	  /* when the PONG came */
};

enum tally_verdict { TALLY_OPEN, TALLY_LOSES, TALLY_WELL };

/* A PING is about to be sent, and so many datagrams were so far; returns what its answer is to be
 * compared with. */
uint32_t tally_mark(struct tally *t, uint32_t sent, mono_t now);
/* Answers must come in the order of their PINGs. True where this one made a window complete. */
bool tally_take(struct tally *t, const struct tally_answer *a, mono_t now);
enum tally_verdict tally_verdict(const struct tally *t);
/* What is counted goes another way from now on. */
void tally_restart(struct tally *t);
/* It loses data (still). */
void tally_hold(struct tally_hold *h, mono_t now);
bool tally_holds(const struct tally_hold *h, mono_t now);
