// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Times at which a worker sleeps, polls and yields, and its real-time priority. Worker-owned.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/defs.h"
#include "base/mono.h"

/* --- moderation.c ---
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

/* --- polling.c ---
 * Busy polling of a worker: the time for which it polls after its last work, before it sleeps. A
 * sleep costs tens of microseconds to end. The window follows the rule of the kernel for virtual
 * processors (Linux, Documentation/virt/kvm/halt-polling.rst). Work that arrives within the limit
 * doubles the window, and a longer idle time halves it.
 *
 * A polling worker may occupy the processor of the program that sends the next frame, and only
 * delays this frame. Windows without success therefore suspend polling for a number of idle times.
 * Worker-owned; pure.
 */

/* Shortest window, us. */
#define POLLING_START_US 10
/* Windows without success that suspend polling. The growth to the largest limit has 8. */
#define POLLING_MISSES 16
/* Idle times of a suspension. */
#define POLLING_REST 1024

struct polling {
	uint32_t limit_us; /* maximum of the window; 0: no polling */
	uint32_t window_us;
	unsigned misses; /* consecutive windows without success */
	unsigned rest;	 /* idle times until polling resumes */
};

static inline void polling_adapt(struct polling *p, int64_t idle_us)
{
	uint32_t twice = max_of(2 * p->window_us, (uint32_t)POLLING_START_US);

	if (idle_us <= p->limit_us)
		p->window_us = min_of(twice, p->limit_us);
	else if (p->window_us >= 2 * POLLING_START_US)
		p->window_us /= 2;
	else
		p->window_us = p->misses = 0;
}

/* An idle time of `idle_us` has ended with work. */
static inline void polling_learn(struct polling *p, int64_t idle_us)
{
	bool polled;

	/* The limit may have changed. */
	p->window_us = min_of(p->window_us, p->limit_us);
	polled = p->window_us > 0;
	if (p->rest) {
		p->rest--;
	} else if (polled && idle_us <= p->window_us) {
		p->misses = 0;
	} else if (polled && ++p->misses == POLLING_MISSES) {
		p->window_us = p->misses = 0;
		p->rest = POLLING_REST;
	} else {
		polling_adapt(p, idle_us);
	}
}

/* --- priority.c ---
 * Real-time priority of a worker. A worker has it while other programs delay the worker: after a
 * wait for a processor, for 0.1 to 4 s. Otherwise the worker has normal scheduling, because the
 * kernel starts a normal thread on the processor of the program that wakes the thread up. A
 * real-time thread starts on an idle processor, which must wake up first, so each frame would wait
 * longer. Worker-owned.
 */

/* Interval of looks at the waiting time. Half of it is a wait: four programs that pass a frame on
 * one processor wait for less. */
#define PRIORITY_LOOK_NS 1000000
/* Duration after a wait: the least, doubled by each wait soon after, and the most. One frame in
 * this time can wait again. Of four seconds, this is less than 1 % of a call. */
#define PRIORITY_HOLD_MIN_NS 100000000
#define PRIORITY_HOLD_MAX_NS 4000000000

struct priority {
	int fd; /* scheduler statistics of the thread; 0: not yet open, negative: none */
	bool realtime;
	mono_t looked, until;
	int64_t hold_ns;    /* latest duration */
	uint64_t waited_ns; /* at the last look */
};

/* Pure. `waited_ns`: waiting time for a processor since the start of the thread. Returns true if
 * the worker needs real-time priority until the next look. */
bool priority_is_needed(struct priority *p, uint64_t waited_ns, mono_t now);

/* After each turn, on the thread of the worker. `permitted`: real-time priority to take (1 to 99),
 * or 0. Without statistics of the kernel, the worker keeps this priority. Returns true if the
 * worker took it. */
bool priority_look(struct priority *p, int permitted, mono_t now);
void priority_fini(struct priority *p);
