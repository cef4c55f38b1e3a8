// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Interrupt moderation for a worker with real-time priority. Each frame wakes such a worker at
 * once, which preempts the program that sends the frames: every frame costs a wake-up and a
 * datagram. A pause before the sleep lets frames gather. A pause without a frame ends the
 * moderation, because a host that waits for an answer sends no further frame. Worker-owned; pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Length of a pause, ns. */
#define MODERATION_PAUSE_NS 100000
/* Inputs of a pause that justify another pause: 40,000 a second. A super-frame is one input, so
 * bulk TCP of 10 Gbit/s has fewer. */
#define MODERATION_FRAMES 4
/* Sleeps between trial pauses: a round trip has up to eight sleeps, and fewer than 1 % of
 * round trips have a pause. */
#define MODERATION_TRIAL 1024

struct moderation {
	bool on;
	unsigned sleeps;
	uint64_t inputs; /* inputs before the last sleep */
};

/* Before each sleep. `inputs`: frames of the TAP and messages of sockets read since the start.
 * Returns true if the worker pauses. */
static inline bool moderation_pauses(struct moderation *m, uint64_t inputs)
{
	uint64_t gathered = inputs - m->inputs;

	m->inputs = inputs;
	if (m->on)
		m->on = gathered >= MODERATION_FRAMES;
	else
		m->on = ++m->sleeps % MODERATION_TRIAL == 0;
	return m->on;
}
