// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports links with traffic to the protocol, which probes them faster. Reads the workers' counters
 * ten times a second. Control thread.
 */
#include "daemon/underlay/underlay.h"

#include <stdlib.h>

#include "base/loop.h"
#include "base/mem.h"
#include "daemon/states.h"
#include "fwd/fwd.h"
#include "proto/overlay.h"
#include "proto/view.h"

#define LOOK_EVERY_MS 100
/* Flooded frames are a stream if this number of successive looks saw some. PINGs in the fast
 * interval then cost no more than the stream. */
#define STREAM_LOOKS 10

struct usage {
	struct timer *timer;
	struct link_use *link; /* indexed by slot */
	uint16_t n;
};

enum use usage_look(struct link_use *u, const struct fwd_use *t)
{
	bool sent = t->link_tx != u->link_tx, directed = t->directed != u->directed;

	*u = (struct link_use){ t->link_tx, t->directed, sent ? u->looks + 1 : 0 };
	if (!sent && !directed)
		return USE_NONE;
	return directed || u->looks >= STREAM_LOOKS ? USE_DATA : USE_FLOODS;
}

static void make_room(struct usage *u, uint16_t n, const struct fwd_use *now)
{
	if (n <= u->n)
		return;
	u->link = x_realloc(u->link, n, sizeof(*u->link));
	for (; u->n < n; u->n++)
		u->link[u->n] = (struct link_use){ now[u->n].link_tx, now[u->n].directed, 0 };
}

static void on_look(void *arg, mono_t now)
{
	struct leond *d = arg;
	struct usage *u = d->states->usage;
	uint16_t n = nodedb_slots(overlay_nodes(d->overlay));
	struct fwd_use *use = x_calloc(n, sizeof(*use));

	timer_set(u->timer, mono_add_ms(now, LOOK_EVERY_MS));
	fwd_uses(d->fwd, n, use);
	make_room(u, n, use);
	for (uint16_t slot = SLOT_SELF + 1; slot < n; slot++) {
		switch (usage_look(&u->link[slot], &use[slot])) {
		case USE_DATA:
			overlay_link_used(d->overlay, slot);
			break;
		case USE_FLOODS:
			overlay_link_floods(d->overlay, slot);
			break;
		case USE_NONE:
		default:
			break;
		}
	}
	free(use);
}

void usage_start(struct leond *d)
{
	d->states->usage = x_new(struct usage);
	d->states->usage->timer = leond_timer(d, on_look, d);
	timer_set(d->states->usage->timer, mono_add_ms(loop_now(d->loop), LOOK_EVERY_MS));
}

void usage_free(struct leond *d)
{
	if (!d->states->usage)
		return;
	free(d->states->usage->link);
	x_free(d->states->usage);
}
