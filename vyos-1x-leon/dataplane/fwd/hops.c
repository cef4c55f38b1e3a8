// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Queues of next hops, see hops.h. Worker.
 */
#include "fwd/hops.h"

#include <stdlib.h>

#include "base/mem.h"

void hops_init(struct hops *h, const struct fq_params *params, struct shaper *account)
{
	*h = (struct hops){ .params = *params, .account = account };
	h->hop = x_calloc(HOPS, sizeof(h->hop[0]));
	tiers_init(&h->common.tiers, params);
	h->common.slot = HOP_NONE;
	h->common.made = true;
}

void hops_fini(struct hops *h)
{
	free(h->hop);
}

void hops_set_rate(struct hops *h, const struct fq_params *params, uint32_t kbits)
{
	h->params = *params;
	h->kbits = kbits;
	tiers_set_params(&h->common.tiers, params);
	for (unsigned i = 0; i < HOPS; i++)
		if (h->hop[i].made)
			tiers_set_params(&h->hop[i].tiers, params);
}

/* --- whose queue --- */

static struct hop *make(struct hops *h, struct hop *hop, uint16_t slot)
{
	if (!hop->made)
		tiers_init(&hop->tiers, &h->params);
	hop->made = hop->in_use = true;
	hop->slot = slot;
	hop->credit = (int32_t)h->params.quantum;
	hop->room = hop->sent = 0;
	return hop;
}

static struct hop *hop_of(struct hops *h, uint16_t slot)
{
	struct hop *vacant = NULL;

	if (!h->kbits || slot == HOP_NONE)
		return &h->common;
	for (unsigned i = 0; i < HOPS; i++) {
		if (h->hop[i].in_use && h->hop[i].slot == slot)
			return &h->hop[i];
		if (!h->hop[i].in_use && !vacant)
			vacant = &h->hop[i];
	}
	return vacant ? make(h, vacant, slot) : &h->common;
}

static size_t room_for(const struct hops *h, const struct hop *hop, mono_t now)
{
	if (hop->slot == HOP_NONE || !h->kbits)
		return SIZE_MAX;
	return shaper_room(&h->account[hop->slot], h->kbits, tiers_have_fresh(&hop->tiers), now);
}

void hops_begin(struct hops *h, mono_t now)
{
	h->common.room = SIZE_MAX;
	h->common.sent = 0;
	for (unsigned i = 0; i < HOPS; i++) {
		struct hop *hop = &h->hop[i];

		if (!hop->in_use)
			continue;
		/* What it sent is charged to its account by now. */
		hop->in_use = hop->tiers.n;
		hop->room = room_for(h, hop, now);
		hop->sent = 0;
	}
}

/* --- in and out --- */

void hops_put(struct hops *h, uint16_t slot, enum fwd_tier tier, struct fq_item *item,
	      uint32_t hash, mono_t now)
{
	struct hop *hop = hop_of(h, slot);
	bool first = !hop->tiers.n;

	tiers_put(&hop->tiers, tier, item, hash, now);
	/* It may have been vacant when the turn began. */
	if (first && !hop->sent)
		hop->room = room_for(h, hop, now);
	h->n++;
	h->bytes += item->len;
}

static struct hop *hop_at(struct hops *h, unsigned i)
{
	return i < HOPS ? &h->hop[i] : &h->common;
}

static bool may_send(const struct hop *hop)
{
	return hop->made && hop->tiers.n && hop->sent < hop->room;
}

/* A hop whose next flow has only begun, else the one whose turn it is. NULL: none may send. */
static struct hop *whose_turn(struct hops *h)
{
	bool any = false;

	for (unsigned i = 0; i <= HOPS; i++) {
		struct hop *hop = hop_at(h, i);

		any |= may_send(hop);
		if (may_send(hop) && hop->credit > 0 && tiers_have_fresh(&hop->tiers))
			return hop;
	}
	while (any) {
		struct hop *hop = hop_at(h, h->turn);

		if (may_send(hop) && hop->credit > 0)
			return hop;
		if (may_send(hop))
			hop->credit += (int32_t)h->params.quantum;
		h->turn = (h->turn + 1) % (HOPS + 1);
	}
	return NULL;
}

static struct fq_item *gone(struct hops *h, struct fq_item *item)
{
	if (!item)
		return NULL;
	h->n--;
	h->bytes -= item->len;
	return item;
}

struct fq_item *hops_next(struct hops *h, mono_t now)
{
	struct fq_item *item = NULL, *lost;
	struct hop *hop;

	while (!item && (hop = whose_turn(h))) {
		item = gone(h, tiers_next(&hop->tiers, now));
		while ((lost = tiers_dropped(&hop->tiers)))
			fq_chain_add(&h->dropped, gone(h, lost));
		if (!item)
			continue;
		hop->sent += item->len;
		hop->credit -= (int32_t)item->len;
	}
	return item;
}

struct fq_item *hops_dropped(struct hops *h)
{
	return fq_chain_take(&h->dropped);
}

struct fq_item *hops_shed(struct hops *h)
{
	struct hop *most = NULL;

	for (unsigned i = 0; i <= HOPS; i++) {
		struct hop *hop = hop_at(h, i);

		if (hop->made && hop->tiers.n && (!most || hop->tiers.bytes > most->tiers.bytes))
			most = hop;
	}
	return most ? gone(h, tiers_shed(&most->tiers)) : NULL;
}

bool hops_have_fresh(const struct hops *h)
{
	bool fresh = may_send(&h->common) && tiers_have_fresh(&h->common.tiers);

	for (unsigned i = 0; !fresh && i < HOPS; i++)
		fresh = may_send(&h->hop[i]) && tiers_have_fresh(&h->hop[i].tiers);
	return fresh;
}

mono_t hops_due(const struct hops *h)
{
	mono_t due = h->common.tiers.n ? (mono_t){ 1 } : MONO_NEVER;

	for (unsigned i = 0; i < HOPS; i++) {
		const struct hop *hop = &h->hop[i];
		mono_t one;

		if (!hop->made || !hop->tiers.n)
			continue;
		one = shaper_due(&h->account[hop->slot], tiers_have_fresh(&hop->tiers));
		if (mono_is_never(due) || mono_before(one, due))
			due = one;
	}
	return due;
}
