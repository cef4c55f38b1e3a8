// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rate limits of ingress shaping in PONGs, see inward.h. daemon/ computes and enforces the limits;
 * this module transports and expires them. Called by probe.c, and by daemon/ through overlay.h, on
 * the control thread.
 */
#include "proto/measure/inward.h"

#include "proto/core.h"
#include "proto/overlay.h"
#include "proto/peer.h"
#include "proto/service.h"

/* Lifetime of a received limit, in time and in PINGs of a link without data. */
#define VALID_MS    5000
#define VALID_PINGS 4

void overlay_set_share(struct overlay *o, uint16_t slot, uint32_t kbits)
{
	struct peer *p = peer_at(o, slot);

	if (p)
		p->inward.share_kbits = kbits;
}

uint32_t overlay_share(const struct overlay *o, uint16_t slot)
{
	const struct peer *p = peer_at(o, slot);

	return p ? p->inward.share_kbits : 0;
}

uint32_t overlay_asked(const struct overlay *o, uint16_t slot)
{
	const struct peer *p = peer_at(o, slot);

	return p ? p->inward.asked.kbits : 0;
}

static void tell(struct overlay *o, const struct peer *p)
{
	if (o->ops.asked && p->slot != SLOT_NONE)
		o->ops.asked(o->arg, p->slot);
}

void inward_fill(const struct peer *p, struct msg_pong *m)
{
	m->limit_kbits = p->inward.share_kbits;
}

void inward_answer(struct overlay *o, struct peer *p, const struct msg_pong *m)
{
	int64_t ms = VALID_PINGS * overlay_stretch(o, o->conf->interval_ms);
	mono_t until = mono_add_ms(overlay_now(o), max_of(ms, (int64_t)VALID_MS));

	if (share_hear(&p->inward.asked, m->limit_kbits, until))
		tell(o, p);
}

void inward_expire(struct overlay *o, struct peer *p)
{
	if (share_expire(&p->inward.asked, overlay_now(o)))
		tell(o, p);
}

void inward_end(struct overlay *o, struct peer *p)
{
	if (share_hear(&p->inward.asked, 0, MONO_NEVER))
		tell(o, p);
}
