// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Busy polling of a worker: the time for which it polls after its last work, before it sleeps. A
 * sleep costs tens of microseconds to end. The window follows the rule of the kernel for virtual
 * processors (Linux, Documentation/virt/kvm/halt-polling.rst). Work that arrives within the limit
 * doubles the window, and a longer idle time halves it.
 *
 * A polling worker may occupy the processor of the program that sends the next frame, and only
 * delays this frame. Windows without success therefore suspend polling for a number of idle times.
 * Worker-owned; pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/defs.h"

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
