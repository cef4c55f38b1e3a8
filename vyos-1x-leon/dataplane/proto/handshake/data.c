// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keys of data to and from a peer across a session change (protocol 2.7). To lose no frame, a node
 * opens with the keys of both sessions. The node seals with the new keys only after a message of
 * the peer in the new session. The workers of the peer then have time to receive the keys. Control
 * thread.
 */
#include "proto/handshake/handshake.h"

/* Delay from the first message in a session to its data; longer than schedule_snapshot() waits. */
#define SWITCH_MS 200
/* Grace time for data of the previous session in flight. */
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

	if (d->received || !d->rx)
		return;
	d->received = true;
	if (d->tx != d->rx)
		p->due[DUE_SWITCH] = mono_add_ms(now, overlay_stretch(o, SWITCH_MS));
	if (d->rx_before)
		p->due[DUE_DROP] = mono_add_ms(now, KEEP_MS);
}

void data_established(struct overlay *o, struct peer *p, bool renewed)
{
	struct data_keys *d = &p->data;
	struct seal *fresh = session_data(p->cur);

	if (!fresh)
		return;
	/* A session without a message of the peer may be unknown to it; then the previous session
	 * is still needed. */
	if (d->received || !d->rx_before || d->tx == d->rx)
		replace(&d->rx_before, d->rx);
	replace(&d->rx, fresh);
	/* A restarted peer has lost the previous session. */
	if (!d->tx || !renewed)
		replace(&d->tx, fresh);
	d->received = false;
	p->due[DUE_SWITCH] = p->due[DUE_DROP] = MONO_NEVER;
	schedule_snapshot(o);
}

void data_went_back(struct overlay *o, struct peer *p)
{
	struct data_keys *d = &p->data;
	struct seal *given_up = d->rx;

	/* The keys may belong to another session: two were replaced since, or one is not sealed. */
	if (!d->rx_before || d->rx_before != session_data(p->cur))
		return;
	d->rx = d->rx_before;
	d->rx_before = given_up;
	replace(&d->tx, d->rx);
	d->received = true;
	p->due[DUE_SWITCH] = MONO_NEVER;
	p->due[DUE_DROP] = mono_add_ms(overlay_now(o), KEEP_MS);
	schedule_snapshot(o);
}

void data_tick(struct overlay *o, struct peer *p, mono_t now)
{
	struct data_keys *d = &p->data;

	if (schedule_take(p, DUE_SWITCH, now)) {
		replace(&d->tx, d->rx);
		schedule_snapshot(o);
	}
	if (schedule_take(p, DUE_DROP, now)) {
		replace(&d->rx_before, NULL);
		schedule_snapshot(o);
	}
}

void data_end(struct overlay *o, struct peer *p)
{
	data_free(p);
	p->data = (struct data_keys){ 0 };
	p->due[DUE_SWITCH] = p->due[DUE_DROP] = MONO_NEVER;
	schedule_snapshot(o);
}

void data_free(struct peer *p)
{
	replace(&p->data.tx, NULL);
	replace(&p->data.rx, NULL);
	replace(&p->data.rx_before, NULL);
}
