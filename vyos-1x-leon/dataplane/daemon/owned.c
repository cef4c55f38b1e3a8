// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory and timers of modules, released together. Control thread.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "daemon/leond.h"
#include "daemon/states.h"

/* Precedes the memory. */
struct owned {
	struct owned *next;
	struct timer *timer; /* NULL: memory */
};

static struct owned *own(struct leond *d, size_t size)
{
	struct owned *o = x_calloc(1, sizeof(*o) + size);

	o->next = d->states->owned;
	d->states->owned = o;
	return o;
}

void *leond_memory(struct leond *d, size_t size)
{
	return own(d, size) + 1;
}

struct timer *leond_timer(struct leond *d, timer_fn fn, void *arg)
{
	return own(d, 0)->timer = timer_new(d->loop, fn, arg);
}

void leond_release(struct leond *d)
{
	while (d->states->owned) {
		struct owned *o = d->states->owned;

		d->states->owned = o->next;
		timer_free(o->timer);
		free(o);
	}
}
