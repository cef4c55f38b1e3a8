// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Data loss despite answered PINGs. On a direct link the own row reports the loss, and all nodes
 * avoid the link. On a path, some relay drops data if neither own links nor the rows of the relays
 * explain the loss. Then only this node uses other relays to the destination. PONGs carry the
 * counters. Called by probe.c, path_probe.c and paths.c, which handle the consequences, on the
 * control thread. Protocol 4.7, 6; doc/decisions/021.
 */
#include "proto/measure/measure.h"

#include "proto/core.h"
#include "proto/loss_meas.h"

/* Delay of a path's reaction, so that the responsible link is reported first. */
#define PATH_WAIT_MS 1200
/* Measured or reported loss of a link that explains loss of the path. */
#define EXPLAINS_PM 50
#define LOSS_MAX_PM 990 /* expensive, but still usable as the last resort */
#define DISTRUST_US 20000000

void loss_init(struct overlay *o, struct peer *p)
{
	p->loss.epoch = (uint32_t)overlay_random(o);
}

void loss_fill(const struct overlay *o, const struct peer *p, struct msg_pong *m)
{
	struct overlay_traffic t = overlay_traffic_of(o, p->slot);

	m->epoch = p->loss.epoch;
	m->link_rx = (uint32_t)t.link_rx;
	m->path_rx = (uint32_t)t.path_rx;
}

/* --- links --- */

static uint32_t sent_on_link(const struct overlay *o, const struct peer *p)
{
	struct overlay_traffic t = overlay_traffic_of(o, p->slot);

	return (uint32_t)(t.link_tx - t.refused);
}

uint32_t loss_link_mark(struct overlay *o, struct peer *p)
{
	return loss_meas_mark(&p->loss.link, sent_on_link(o, p), overlay_now(o));
}

/* The loss of the link starts or stops to count for paths. */
static bool set_link_loss(struct overlay *o, struct peer *p, bool loses)
{
	uint32_t pm = min_of((uint32_t)p->loss.link.loss_pm, (uint32_t)LOSS_MAX_PM);

	p->loss.link_pm = (uint16_t)(loses ? pm : 0);
	overlay_emit(o, loses ? EV_DATA_LOSS : EV_DATA_LOSS_OVER, p->id, NODE_ID_NONE,
		     p->loss.link.loss_pm, NULL);
	return true;
}

bool loss_link_answer(struct overlay *o, struct peer *p, const struct probe *q,
		      const struct msg_pong *m)
{
	struct loss *l = &p->loss;
	struct loss_meas_answer a = { m->epoch, m->link_rx, q->data_tx, sent_on_link(o, p) };
	mono_t now = overlay_now(o);

	if (!p->probe.up || mono_before(q->sent, l->link_requested))
		return false;
	l->link_requested = q->sent;
	/* The outage that ends lost data and PINGs alike. */
	if (p->probe.silent && !l->link_pm) {
		loss_meas_restart(&l->link);
		return false;
	}
	if (!loss_meas_add(&l->link, &a, now))
		return false;
	switch (loss_meas_verdict(&l->link)) {
	case LOSS_MEAS_BAD:
		/* Own load may also fill the second line. */
		if (load_is_ours(o, p) || p->lines.distributes) {
			loss_meas_restart(&l->link);
			return false;
		}
		loss_meas_hold(&l->link_hold, now);
		return l->link_pm == 0 && set_link_loss(o, p, true);
	case LOSS_MEAS_GOOD:
		return l->link_pm && set_link_loss(o, p, false);
	case LOSS_MEAS_OPEN:
		break;
	}
	return false;
}

bool loss_link_expire(struct overlay *o, struct peer *p)
{
	return p->loss.link_pm && !loss_meas_holds(&p->loss.link_hold, overlay_now(o)) &&
	       set_link_loss(o, p, false);
}

bool loss_on_link(const struct peer *p)
{
	return p->loss.link_pm != 0;
}

bool loss_link_forgive(struct overlay *o, struct peer *p)
{
	loss_meas_restart(&p->loss.link);
	p->loss.link_hold.until = MONO_NEVER;
	return loss_link_expire(o, p);
}

void loss_link_up(struct peer *p)
{
	loss_meas_restart(&p->loss.link);
}

/* --- paths through relays --- */

uint32_t loss_path_tx(const struct overlay *o, const struct peer *p)
{
	struct overlay_traffic t = overlay_traffic_of(o, p->slot), first = { 0 };

	/* All datagrams that the kernel refused on the first link may have been for the
	 * destination. */
	if (p->choice.path.n_hops)
		first = overlay_traffic_of(o, p->choice.path.hop[0]);
	return (uint32_t)(t.path_tx - first.refused);
}

uint32_t loss_path_mark(struct overlay *o, struct peer *p)
{
	return loss_meas_mark(&p->loss.path, loss_path_tx(o, p), overlay_now(o));
}

void loss_path_changed(struct peer *p)
{
	loss_meas_restart(&p->loss.path);
}

static bool is_sound(const struct overlay *o, uint16_t from, uint16_t to)
{
	struct lat_entry e = latdb_get(o->lat, from, to);

	return e.up && !e.silent && e.loss_pm < EXPLAINS_PM;
}

/* Returns true if an end of a link on the path reports loss itself. Answers return over the same
 * links. */
static bool is_explained(const struct overlay *o, const struct path *path)
{
	uint16_t from = SLOT_SELF;

	for (unsigned i = 0; i < path->n_hops; i++) {
		if (!is_sound(o, from, path->hop[i]) || !is_sound(o, path->hop[i], from))
			return true;
		from = path->hop[i];
	}
	return false;
}

static bool is_distrusted(const struct loss *l, uint16_t slot)
{
	for (unsigned i = 0; i < l->n_distrusted; i++)
		if (l->distrusted[i] == slot)
			return true;
	return false;
}

bool loss_distrust(struct overlay *o, struct peer *p, uint16_t loss_pm)
{
	struct loss *l = &p->loss;
	const struct path *path = &p->choice.path;
	const struct node *first = nodedb_at(o->nodes, path->hop[0]);
	mono_t now = overlay_now(o);

	if (path->n_hops < 2 || is_explained(o, path))
		return false;
	if (!loss_meas_holds(&l->path_hold, now))
		l->n_distrusted = 0;
	for (unsigned i = 0; i + 1 < path->n_hops; i++)
		if (!is_distrusted(l, path->hop[i]) && l->n_distrusted < LOSS_RELAYS_MAX)
			l->distrusted[l->n_distrusted++] = path->hop[i];
	loss_meas_hold(&l->path_hold, now);
	loss_meas_restart(&l->path);
	l->relay = first ? first->id : NODE_ID_NONE;
	overlay_emit(o, EV_DATA_LOSS, p->id, l->relay, loss_pm, NULL);
	return true;
}

bool loss_path_answer(struct overlay *o, struct peer *p, uint32_t data_tx, const struct msg_pong *m)
{
	struct loss_meas_answer a = { m->epoch, m->path_rx, data_tx, loss_path_tx(o, p) };
	struct loss_meas *t = &p->loss.path;
	mono_t now = overlay_now(o);

	loss_meas_add(t, &a, now);
	return loss_meas_verdict(t) == LOSS_MEAS_BAD &&
	       mono_sub_ms(now, t->bad_since) >= PATH_WAIT_MS && loss_distrust(o, p, t->loss_pm);
}

/* --- consequences for paths --- */

bool loss_is_distrusting(const struct overlay *o, const struct peer *p)
{
	return p->loss.n_distrusted && loss_meas_holds(&p->loss.path_hold, overlay_now(o));
}

void loss_mark_relays(const struct overlay *o, const struct peer *p, bool *no_relay)
{
	for (unsigned i = 0; i < p->loss.n_distrusted; i++)
		if (p->loss.distrusted[i] < nodedb_slots(o->nodes))
			no_relay[p->loss.distrusted[i]] = true;
}

void loss_evaluate(const struct overlay *o, const struct peer *p, struct path *path)
{
	if (!loss_is_distrusting(o, p) || path->cost_us == COST_INFINITE)
		return;
	for (unsigned i = 0; i + 1 < path->n_hops; i++) {
		if (!is_distrusted(&p->loss, path->hop[i]))
			continue;
		path->cost_us = (uint32_t)min_of((uint64_t)path->cost_us + DISTRUST_US,
						 (uint64_t)COST_INFINITE - 1);
		path->silent = true;
		return;
	}
}

/* --- release --- */

void loss_forget(struct overlay *o, uint16_t slot)
{
	/* The slot may be reused soon. */
	for (struct peer *p = NULL; (p = peer_next(o, p));)
		for (unsigned k = 0; k < p->loss.n_distrusted; k++)
			if (p->loss.distrusted[k] == slot)
				p->loss.distrusted[k] = SLOT_NONE;
}

bool loss_path_expire(struct overlay *o, struct peer *p)
{
	if (!p->loss.n_distrusted || loss_meas_holds(&p->loss.path_hold, overlay_now(o)))
		return false;
	p->loss.n_distrusted = 0;
	overlay_emit(o, EV_DATA_LOSS_OVER, p->id, p->loss.relay, 0, NULL);
	return true;
}
