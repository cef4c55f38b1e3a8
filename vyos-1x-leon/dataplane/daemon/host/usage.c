// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tells the protocol which links carry traffic, so that it probes them faster. Looks at the
 * workers' counters ten times a second. Control thread.
 */

#include "base/mem.h"
#include "daemon/host/usage.h"
#include "daemon/leond.h"

#define LOOK_EVERY_MS 100

static void make_room(struct leond *d, uint16_t n)
{
	if (n <= d->n_link_tx)
		return;
	d->link_tx = x_realloc(d->link_tx, n, sizeof(*d->link_tx));
	for (uint16_t i = d->n_link_tx; i < n; i++)
		d->link_tx[i] = fwd_link_tx(d->fwd, i);
	d->n_link_tx = n;
}

static void on_look(void *arg, mono_t now)
{
	struct leond *d = arg;
	uint16_t n = nodedb_slots(overlay_nodes(d->overlay));

	timer_set(d->usage_timer, mono_add_ms(now, LOOK_EVERY_MS));
	make_room(d, n);
	for (uint16_t slot = SLOT_SELF + 1; slot < n; slot++) {
		uint64_t tx = fwd_link_tx(d->fwd, slot);

		if (tx != d->link_tx[slot])
			overlay_link_used(d->overlay, slot);
		d->link_tx[slot] = tx;
	}
}

void usage_start(struct leond *d)
{
	d->usage_timer = timer_new(d->loop, on_look, d);
	timer_set(d->usage_timer, mono_add_ms(loop_now(d->loop), LOOK_EVERY_MS));
}
