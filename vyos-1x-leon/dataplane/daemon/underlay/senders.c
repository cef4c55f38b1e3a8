// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ingress shaping, see underlay.h. With `shaper ingress`, reads the counters of the workers ten
 * times a second, and divides the rate by the rule of state/rates/shares.h. The protocol sends the
 * share of each node in the next PONG. Control thread.
 */
#include "daemon/underlay/underlay.h"

#include <stdlib.h>

#include "base/loop.h"
#include "base/mem.h"
#include "daemon/states.h"
#include "fwd/fwd.h"
#include "proto/overlay.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/rates/shares.h"

struct sender {
	node_id_t id; /* node of these values; slots are reused */
	struct share_meter meter;
};

struct senders {
	struct timer *timer;
	struct shares shares;
	struct sender *sender; /* indexed by slot */
	struct share *share;   /* shares of the nodes with a link */
	uint16_t *slot;	       /* slots of these nodes */
	uint16_t cap;
};

static void make_room(struct senders *s, uint16_t n)
{
	if (n <= s->cap)
		return;
	s->sender = x_realloc(s->sender, n, sizeof(*s->sender));
	for (uint16_t i = s->cap; i < n; i++)
		s->sender[i] = (struct sender){ .id = NODE_ID_NONE };
	s->share = x_realloc(s->share, n, sizeof(*s->share));
	s->slot = x_realloc(s->slot, n, sizeof(*s->slot));
	s->cap = n;
}

static uint32_t measure(struct leond *d, const struct node *n, mono_t now)
{
	struct sender *s = &d->states->senders->sender[n->slot];
	struct fwd_traffic t;

	if (s->id != n->id)
		*s = (struct sender){ .id = n->id };
	fwd_traffic(d->fwd, n->slot, &t);
	return share_meter_note(&s->meter, t.link_rx_bytes, now);
}

/* Collects all nodes that may send directly; returns their number. */
static unsigned look(struct leond *d, mono_t now)
{
	struct senders *s = d->states->senders;
	unsigned n_senders = 0;

	for (const struct node *n = NULL; (n = nodedb_next(overlay_nodes(d->overlay), n));) {
		if (!overlay_load(d->overlay, n->slot))
			continue;
		s->slot[n_senders] = n->slot;
		s->share[n_senders++] =
			(struct share){ measure(d, n, now), overlay_share(d->overlay, n->slot) };
	}
	return n_senders;
}

static void on_look(void *arg, mono_t now)
{
	struct leond *d = arg;
	struct senders *s = d->states->senders;
	unsigned n_senders;

	timer_set(s->timer, mono_add_ms(now, SHARES_EVERY_MS));
	make_room(s, nodedb_slots(overlay_nodes(d->overlay)));
	n_senders = look(d, now);
	shares_divide(&s->shares, s->share, n_senders, d->conf->shaper_ingress_kbits);
	for (unsigned i = 0; i < n_senders; i++)
		overlay_set_share(d->overlay, s->slot[i], s->share[i].kbits);
}

uint32_t senders_kbits(const struct leond *d, uint16_t slot)
{
	const struct senders *s = d->states->senders;
	const struct node *n = nodedb_at(overlay_nodes(d->overlay), slot);

	if (!s || slot >= s->cap || !n || s->sender[slot].id != n->id)
		return 0;
	return s->sender[slot].meter.kbits;
}

/* --- life cycle --- */

static void stop(struct leond *d)
{
	uint16_t n = nodedb_slots(overlay_nodes(d->overlay));

	timer_stop(d->states->senders->timer);
	d->states->senders->shares = (struct shares){ 0 };
	for (uint16_t slot = SLOT_SELF + 1; slot < n; slot++)
		overlay_set_share(d->overlay, slot, 0);
	for (uint16_t slot = 0; slot < d->states->senders->cap; slot++)
		d->states->senders->sender[slot] = (struct sender){ .id = NODE_ID_NONE };
}

void senders_apply_conf(struct leond *d)
{
	if (!d->states->senders)
		return;
	if (d->conf->shaper_ingress_kbits)
		timer_set(d->states->senders->timer, loop_now(d->loop));
	else
		stop(d);
}

void senders_start(struct leond *d)
{
	d->states->senders = x_new(struct senders);
	d->states->senders->timer = leond_timer(d, on_look, d);
	senders_apply_conf(d);
}

void senders_free(struct leond *d)
{
	struct senders *s = d->states->senders;

	if (!s)
		return;
	free(s->sender);
	free(s->share);
	free(s->slot);
	x_free(d->states->senders);
}
