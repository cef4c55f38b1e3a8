// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rate limits of ingress shaping in PONGs. daemon/ computes and enforces the limits;
 * this module transports and expires limits. Called by probe.c, and by daemon/ through overlay.h,
 * on the control thread.
 */
#include "proto/measure/measure.h"

#include "proto/overlay.h"
#include "proto/core.h"
#include "proto/view.h"

/* Lifetime of a received limit, in time and in PINGs of a link without data. */
#define VALID_MS    5000
#define VALID_PINGS 4

void overlay_set_share(struct overlay *o, uint16_t slot, uint32_t kbits)
{
	struct peer *p = peer_at(o, slot);

	if (p)
		p->ingress.share_kbits = kbits;
}

uint32_t overlay_share(const struct overlay *o, uint16_t slot)
{
	const struct peer *p = peer_at(o, slot);

	return p ? p->ingress.share_kbits : 0;
}

uint32_t overlay_requested_kbits(const struct overlay *o, uint16_t slot)
{
	const struct peer *p = peer_at(o, slot);

	return p ? p->ingress.requested.kbits : 0;
}

static void notify(struct overlay *o, const struct peer *p)
{
	if (o->ops.requested && p->slot != SLOT_NONE)
		o->ops.requested(o->arg, p->slot);
}

void ingress_fill(const struct peer *p, struct msg_pong *m)
{
	m->limit_kbits = p->ingress.share_kbits;
}

void ingress_answer(struct overlay *o, struct peer *p, const struct msg_pong *m)
{
	int64_t ms = VALID_PINGS * lazy_idle_ms(o, p);
	mono_t until = mono_add_ms(overlay_now(o), max_of(ms, (int64_t)VALID_MS));

	if (share_receive(&p->ingress.requested, m->limit_kbits, until))
		notify(o, p);
}

void ingress_expire(struct overlay *o, struct peer *p)
{
	if (share_expire(&p->ingress.requested, overlay_now(o)))
		notify(o, p);
}

void ingress_end(struct overlay *o, struct peer *p)
{
	if (share_receive(&p->ingress.requested, 0, MONO_NEVER))
		notify(o, p);
}
