// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports links with traffic to the protocol, which probes them faster. Reads the workers' counters
 * ten times a second. Control thread.
 */
#include "daemon/underlay/usage.h"

#include <stdlib.h>

#include "base/loop.h"
#include "base/mem.h"
#include "daemon/states.h"
#include "fwd/fwd.h"
#include "proto/overlay.h"
#include "proto/view.h"

#define LOOK_EVERY_MS 100

struct usage {
	struct timer *timer;
	uint64_t *link_tx; /* indexed by slot, values of the last check */
	uint16_t n;
};

static void make_room(struct leond *d, uint16_t n)
{
	if (n <= d->states->usage->n)
		return;
	d->states->usage->link_tx =
		x_realloc(d->states->usage->link_tx, n, sizeof(*d->states->usage->link_tx));
	for (uint16_t i = d->states->usage->n; i < n; i++)
		d->states->usage->link_tx[i] = fwd_link_tx(d->fwd, i);
	d->states->usage->n = n;
}

static void on_look(void *arg, mono_t now)
{
	struct leond *d = arg;
	uint16_t n = nodedb_slots(overlay_nodes(d->overlay));

	timer_set(d->states->usage->timer, mono_add_ms(now, LOOK_EVERY_MS));
	make_room(d, n);
	for (uint16_t slot = SLOT_SELF + 1; slot < n; slot++) {
		uint64_t tx = fwd_link_tx(d->fwd, slot);

		if (tx != d->states->usage->link_tx[slot])
			overlay_link_used(d->overlay, slot);
		d->states->usage->link_tx[slot] = tx;
	}
}

void usage_start(struct leond *d)
{
	d->states->usage = x_new(struct usage);
	d->states->usage->timer = timer_new(d->loop, on_look, d);
	timer_set(d->states->usage->timer, mono_add_ms(loop_now(d->loop), LOOK_EVERY_MS));
}

void usage_free(struct leond *d)
{
	if (!d->states->usage)
		return;
	timer_free(d->states->usage->timer);
	free(d->states->usage->link_tx);
	free(d->states->usage);
	d->states->usage = NULL;
}
