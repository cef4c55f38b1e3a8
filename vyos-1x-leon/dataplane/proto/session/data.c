// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which keys data to and from a peer uses while sessions change (protocol 2.7): without losing a
 * frame, a node opens with the keys of both sessions, and seals with the new ones only when the
 * peer was heard in the new session and its workers had time to learn of it. Control thread.
 */
#include "proto/session/data.h"

#include "proto/agenda.h"
#include "proto/core.h"
#include "proto/service.h"

/* From the first message in a session until data follows: longer than a snapshot takes. */
#define SWITCH_MS 200
/* For data of the session before that is still on its way. */
#define KEEP_MS 10000

static void replace(struct seal **at, struct seal *s)
{
	seal_ref(s);
	seal_unref(*at);
	*at = s;
}

void data_confirmed(struct overlay *o, struct peer *p)
{
	struct data_keys *d = &p->data;
	mono_t now = overlay_now(o);

	if (d->heard || !d->rx)
		return;
	d->heard = true;
	if (d->tx != d->rx)
		p->due[DUE_SWITCH] = mono_add_ms(now, SWITCH_MS);
	if (d->rx_before)
		p->due[DUE_DROP] = mono_add_ms(now, KEEP_MS);
}

void data_established(struct overlay *o, struct peer *p, bool renewed)
{
	struct data_keys *d = &p->data;
	struct seal *fresh = session_data(p->cur);

	if (!fresh)
		return;
	/* A session in which the peer never spoke is one that it may not have: then it is still the
	 * one before that is needed. */
	if (d->heard || !d->rx_before)
		replace(&d->rx_before, d->rx);
	replace(&d->rx, fresh);
	/* A peer that was started anew has forgotten what was before. */
	if (!d->tx || !renewed)
		replace(&d->tx, fresh);
	d->heard = false;
	p->due[DUE_SWITCH] = p->due[DUE_DROP] = MONO_NEVER;
	agenda_snapshot(o);
}

void data_went_back(struct overlay *o, struct peer *p)
{
	struct data_keys *d = &p->data;
	struct seal *given_up = d->rx;

	/* The keys may be of another session: two were replaced since, or one is not sealed. */
	if (!d->rx_before || d->rx_before != session_data(p->cur))
		return;
	d->rx = d->rx_before;
	d->rx_before = given_up;
	replace(&d->tx, d->rx);
	d->heard = true;
	p->due[DUE_SWITCH] = MONO_NEVER;
	p->due[DUE_DROP] = mono_add_ms(overlay_now(o), KEEP_MS);
	agenda_snapshot(o);
}

void data_tick(struct overlay *o, struct peer *p, mono_t now)
{
	struct data_keys *d = &p->data;

	if (agenda_take(p, DUE_SWITCH, now)) {
		replace(&d->tx, d->rx);
		agenda_snapshot(o);
	}
	if (agenda_take(p, DUE_DROP, now)) {
		replace(&d->rx_before, NULL);
		agenda_snapshot(o);
	}
}

void data_end(struct overlay *o, struct peer *p)
{
	data_free(p);
	p->data = (struct data_keys){ 0 };
	p->due[DUE_SWITCH] = p->due[DUE_DROP] = MONO_NEVER;
	agenda_snapshot(o);
}

void data_free(struct peer *p)
{
	replace(&p->data.tx, NULL);
	replace(&p->data.rx, NULL);
	replace(&p->data.rx_before, NULL);
}
