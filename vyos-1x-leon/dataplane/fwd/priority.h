// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Real-time priority of a worker. A worker has it while other programs delay the worker: after a
 * wait for a processor, for 0.1 to 4 s. Otherwise the worker has normal scheduling, because the
 * kernel starts a normal thread on the processor of the program that wakes the thread up. A
 * real-time thread starts on an idle processor, which must wake up first, so each frame would wait
 * longer. Worker-owned.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

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
