// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Queues of next hops, see hops.h. Worker.
 */
#include "fwd/queue/hops.h"

#include <stdlib.h>

#include "base/defs.h"
#include "base/mem.h"

#define FRAME_BYTES 1514

/* --- rates --- */

static uint32_t lower_of(uint32_t a, uint32_t b)
{
	return a && b ? min_of(a, b) : max_of(a, b);
}

/* Transmission time of a frame at the rate, a tolerable delay. */
static struct fq_params params_for(uint32_t kbits)
{
	int64_t frame_ns = FRAME_BYTES * 8 * (NS_PER_S / 1000) / max_of(kbits, 1u);
	struct fq_params p = { FQ_TARGET_NS, FQ_INTERVAL_NS, HOPS_QUANTUM };

	if (!kbits)
		return p;
	p.target_ns = max_of(p.target_ns, 2 * frame_ns);
	p.interval_ns = max_of(p.interval_ns, 4 * p.target_ns);
	p.quantum = kbits < FWD_SUPER_KBITS ? FRAME_BYTES : HOPS_QUANTUM;
	return p;
}

static void set_rate(const struct hops *h, struct hop *hop, uint32_t kbits)
{
	struct fq_params p = params_for(lower_of(h->bottleneck_kbits, kbits));

	hop->kbits = kbits;
	tiers_set_params(&hop->tiers, &p);
}

static uint32_t rate_to(const struct hops *h, uint16_t slot)
{
	return load_relaxed(&h->account[slot].kbits);
}

static void make(struct hops *h, struct hop *hop)
{
	struct fq_params p = params_for(h->bottleneck_kbits);

	tiers_init(&hop->tiers, &p, &h->dropped);
	hop->made = true;
}

void hops_init(struct hops *h, struct hop_account *account)
{
	*h = (struct hops){ .account = account };
	h->hop = x_calloc(HOPS, sizeof(h->hop[0]));
	for (unsigned i = 0; i < HOPS; i++)
		h->place[i] = (uint8_t)i;
	h->common.slot = HOP_NONE;
	h->common.room = SIZE_MAX;
	make(h, &h->common);
}

void hops_fini(struct hops *h)
{
	free(h->hop);
}

/* Returns the i-th hop in use; behind them the common queue. */
static struct hop *hop_at(struct hops *h, unsigned i)
{
	return i < h->n_used ? &h->hop[h->place[i]] : &h->common;
}

void hops_set_bottleneck(struct hops *h, uint32_t kbits)
{
	h->bottleneck_kbits = kbits;
	for (unsigned i = 0; i <= h->n_used; i++)
		set_rate(h, hop_at(h, i), hop_at(h, i)->kbits);
}

/* --- assignment of queues --- */

static size_t room_for(const struct hops *h, const struct hop *hop, mono_t now)
{
	if (!hop->kbits)
		return SIZE_MAX;
	return shaper_room(&h->account[hop->slot].shaper, hop->kbits, tiers_have_fresh(&hop->tiers),
			   now);
}

static struct hop *take(struct hops *h, uint16_t slot, uint32_t kbits)
{
	struct hop *hop = &h->hop[h->place[h->n_used++]];

	if (!hop->made)
		make(h, hop);
	set_rate(h, hop, kbits);
	hop->slot = slot;
	hop->credit = FRAME_BYTES;
	hop->room = hop->sent = 0;
	return hop;
}

static void leave(struct hops *h, unsigned i)
{
	uint8_t place = h->place[i];

	h->place[i] = h->place[--h->n_used];
	h->place[h->n_used] = place;
}

static struct hop *hop_of(struct hops *h, uint16_t slot)
{
	uint32_t kbits;

	if (likely(slot == HOP_NONE))
		return &h->common;
	for (unsigned i = 0; i < h->n_used; i++)
		if (hop_at(h, i)->slot == slot)
			return hop_at(h, i);
	kbits = rate_to(h, slot);
	return kbits && h->n_used < HOPS ? take(h, slot, kbits) : &h->common;
}

void hops_begin(struct hops *h, mono_t now)
{
	h->common.sent = 0;
	for (unsigned i = h->n_used; i-- > 0;) {
		struct hop *hop = hop_at(h, i);
		uint32_t kbits = rate_to(h, hop->slot);

		/* The transmissions of the hop have been charged by now. */
		if (!hop->tiers.n) {
			leave(h, i);
			continue;
		}
		if (kbits != hop->kbits)
			set_rate(h, hop, kbits);
		hop->room = room_for(h, hop, now);
		hop->sent = 0;
	}
}

/* --- enqueue and dequeue --- */

void hops_put(struct hops *h, uint16_t slot, enum fwd_tier tier, struct fq_item *item,
	      uint32_t hash, mono_t now)
{
	struct hop *hop = hop_of(h, slot);
	bool first = !hop->tiers.n;

	tiers_put(&hop->tiers, tier, item, hash, now);
	/* The queue may have been vacant at the start of the turn. */
	if (first && !hop->sent)
		hop->room = room_for(h, hop, now);
	h->n++;
	h->bytes += item->len;
}

static bool may_send(const struct hop *hop)
{
	return hop->tiers.n && hop->sent < hop->room;
}

/* Returns a hop with a sparse flow next and unused share; NULL: none. *any: at least one hop may be
 * sent to. */
static struct hop *with_fresh(struct hops *h, bool *any)
{
	*any = false;
	for (unsigned i = 0; i <= h->n_used; i++) {
		struct hop *hop = hop_at(h, i);

		if (!may_send(hop))
			continue;
		*any = true;
		if (hop->credit > 0 && tiers_have_fresh(&hop->tiers))
			return hop;
	}
	return NULL;
}

/* Selects among hops in use. NULL: no hop may send. */
static struct hop *whose_turn(struct hops *h)
{
	bool any;
	struct hop *hop = with_fresh(h, &any);

	while (!hop && any) {
		struct hop *next = hop_at(h, h->turn %= h->n_used + 1);

		if (may_send(next) && next->credit > 0)
			hop = next;
		else if (may_send(next))
			next->credit += FRAME_BYTES;
		h->turn += !hop;
	}
	return hop;
}

static struct fq_item *next_of(struct hops *h, struct hop *hop, mono_t now)
{
	struct tiers *t = &hop->tiers;
	uint32_t n = t->n, bytes = t->bytes;
	struct fq_item *item = tiers_next(t, now);

	h->n -= n - t->n;
	h->bytes -= bytes - t->bytes;
	return item;
}

struct fq_item *hops_next(struct hops *h, mono_t now)
{
	struct fq_item *item = NULL;
	struct hop *hop;

	if (likely(!h->n_used))
		return next_of(h, &h->common, now);
	while (!item && (hop = whose_turn(h))) {
		item = next_of(h, hop, now);
		if (!item)
			continue;
		hop->sent += item->len;
		hop->credit -= (int32_t)item->len;
		if (hop->kbits)
			shaper_served(&h->account[hop->slot].shaper, hop->kbits, item->len, now);
	}
	return item;
}

static uint32_t use_of(const struct tiers *t, enum fq_lack lack)
{
	uint32_t use = 0;

	if (lack == FQ_LACK_BYTES)
		return t->bytes;
	for (unsigned i = 0; i < FWD_TIERS; i++)
		use += lack == FQ_LACK_SMALL ? t->fq[i].n_small : t->fq[i].large_bytes;
	return use;
}

struct fq_item *hops_shed(struct hops *h, enum fq_lack lack)
{
	struct hop *most = &h->common;
	struct fq_item *item;

	for (unsigned i = 0; i < h->n_used; i++)
		if (use_of(&hop_at(h, i)->tiers, lack) > use_of(&most->tiers, lack))
			most = hop_at(h, i);
	item = tiers_shed(&most->tiers, lack);
	h->n -= item != NULL;
	h->bytes -= item ? item->len : 0;
	return item;
}

/* --- timing --- */

const struct hop *hops_used(const struct hops *h, unsigned i)
{
	return &h->hop[h->place[i]];
}

bool hops_have_fresh(const struct hops *h)
{
	bool fresh = tiers_have_fresh(&h->common.tiers);

	for (unsigned i = 0; !fresh && i < h->n_used; i++)
		fresh = may_send(hops_used(h, i)) && tiers_have_fresh(&hops_used(h, i)->tiers);
	return fresh;
}

mono_t hops_due(const struct hops *h)
{
	mono_t due = h->common.tiers.n ? (mono_t){ 1 } : MONO_NEVER;

	for (unsigned i = 0; i < h->n_used; i++) {
		const struct hop *hop = hops_used(h, i);
		mono_t one = { 1 };

		if (!hop->tiers.n)
			continue;
		if (hop->kbits)
			one = shaper_due(&h->account[hop->slot].shaper,
					 tiers_have_fresh(&hop->tiers));
		/* An account without any charge. */
		one.ns = max_of(one.ns, INT64_C(1));
		due = mono_earlier(due, one);
	}
	return due;
}

uint32_t hops_held(const struct hops *h)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < h->n_used; i++)
		n += may_send(hops_used(h, i)) ? 0 : hops_used(h, i)->tiers.n;
	return n;
}

struct hops_backlog hops_backlog(const struct hops *h, enum fwd_tier tier)
{
	struct hops_backlog b = { h->common.tiers.fq[tier].n, h->common.tiers.fq[tier].bytes };

	for (unsigned i = 0; i < h->n_used; i++) {
		b.n += hops_used(h, i)->tiers.fq[tier].n;
		b.bytes += hops_used(h, i)->tiers.fq[tier].bytes;
	}
	return b;
}
