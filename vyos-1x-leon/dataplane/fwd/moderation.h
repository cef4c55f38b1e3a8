// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Interrupt moderation for a worker with real-time priority. Each frame wakes such a worker at
 * once, which preempts the program that sends the frames: every frame costs a wake-up and a
 * datagram. A pause before the sleep lets frames gather. A pause without a frame ends the
 * moderation, because a host that waits for an answer sends no further frame.
 *
 * Such a worker also yields the processor to workers of another overlay or queue. The kernel
 * rotates real-time threads of one priority every 100 ms only. A yield costs a system call and
 * often a switch of threads, so it follows an amount of work instead of each frame. Worker-owned;
 * pure.
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
/* Work between two yields: inputs, and bytes in units. */
#define MODERATION_WORK 8
#define MODERATION_UNIT 2048

struct moderation {
	bool on;
	unsigned sleeps;
	uint64_t inputs;  /* inputs before the last sleep */
	uint64_t yielded; /* work before the last yield */
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

/* After each turn. `bytes`: received and sent since the start. Returns true if the worker
 * yields. */
static inline bool moderation_yields(struct moderation *m, uint64_t inputs, uint64_t bytes)
{
	uint64_t work = inputs + bytes / MODERATION_UNIT;
	bool yields = work - m->yielded >= MODERATION_WORK;

	if (yields)
		m->yielded = work;
	return yields;
}
