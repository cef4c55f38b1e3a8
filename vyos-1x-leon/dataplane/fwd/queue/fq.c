// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Flow queueing with CoDel (FQ-CoDel), see fq.h. Worker.
 */
#include "fwd/queue/fq.h"

#include "base/defs.h"

/* Intervals after which a flow outside the dropping state starts afresh (RFC 8289 section 5.5). */
#define RECENT_INTERVALS 16

/* --- lists of flows --- */

static void list_add(struct fq *q, enum fq_order order, struct fq_flow *f)
{
	struct fq_list *l = &q->list[order];

	if (f->is_on[order])
		return;
	f->next[order] = NULL;
	f->is_on[order] = true;
	if (l->tail)
		l->tail->next[order] = f;
	else
		l->head = f;
	l->tail = f;
}

static void list_take(struct fq *q, enum fq_order order)
{
	struct fq_list *l = &q->list[order];
	struct fq_flow *f = l->head;

	l->head = f->next[order];
	if (!l->head)
		l->tail = NULL;
	f->next[order] = NULL;
	f->is_on[order] = false;
}

static uint32_t large_bytes(const struct fq_item *item)
{
	return item->small ? 0 : item->len;
}

static struct fq_item *flow_take(struct fq *q, struct fq_flow *f)
{
	struct fq_item *item = fq_chain_take(&f->items);

	if (!item)
		return NULL;
	q->backlog[f - q->flow] -= item->len;
	q->large[f - q->flow] -= large_bytes(item);
	q->small[f - q->flow] -= item->small;
	q->bytes -= item->len;
	q->large_bytes -= large_bytes(item);
	q->n_small -= item->small;
	q->n--;
	return item;
}

/* --- CoDel --- */

static uint32_t square_root(uint64_t n)
{
	uint64_t root = 0;

	for (uint64_t bit = 1ull << 62; bit; bit >>= 2) {
		bool fits = n >= root + bit;

		if (fits)
			n -= root + bit;
		root = (root >> 1) + (fits ? bit : 0);
	}
	return (uint32_t)root;
}

/* Control law: the interval over the square root of the number of drops. */
static mono_t control_law(const struct fq *q, mono_t t, uint32_t count)
{
	return mono_add_ns(t, (q->params.interval_ns << 16) /
				      square_root((uint64_t)max_of(count, 1u) << 32));
}

struct taken {
	struct fq_item *item;
	bool ok_to_drop;
};

/* dodequeue() of RFC 8289. */
static struct taken take(struct fq *q, struct fq_flow *f, mono_t now)
{
	struct taken t = { flow_take(q, f), false };
	struct fq_codel *c = &f->codel;

	if (!t.item || mono_sub_ns(now, t.item->since) < q->params.target_ns ||
	    q->backlog[f - q->flow] <= q->largest)
		c->first_above_time = MONO_NEVER;
	else if (mono_is_never(c->first_above_time))
		c->first_above_time = mono_add_ns(now, q->params.interval_ns);
	else
		t.ok_to_drop = !mono_before(now, c->first_above_time);
	return t;
}

/* Signals congestion. Returns true if the item is marked and stays, false if it is dropped. */
static bool mark_or_drop(struct fq *q, struct fq_item *item)
{
	item->marked = item->takes_marks;
	if (!item->marked)
		fq_chain_add(q->dropped, item);
	return item->marked;
}

static struct fq_item *drop_on(struct fq *q, struct fq_flow *f, struct taken t, mono_t now)
{
	struct fq_codel *c = &f->codel;

	c->dropping = t.ok_to_drop;
	while (c->dropping && !mono_before(now, c->drop_next)) {
		bool stays = mark_or_drop(q, t.item);

		c->count++;
		if (!stays)
			t = take(q, f, now);
		c->dropping = t.ok_to_drop;
		if (c->dropping)
			c->drop_next = control_law(q, c->drop_next, c->count);
		if (stays)
			break;
	}
	return t.item;
}

static struct fq_item *begin_to_drop(struct fq *q, struct fq_flow *f, struct taken t, mono_t now)
{
	struct fq_codel *c = &f->codel;
	uint32_t delta = c->count - c->lastcount;
	bool recent = mono_sub_ns(now, c->drop_next) < RECENT_INTERVALS * q->params.interval_ns;

	c->dropping = true;
	c->count = delta > 1 && recent ? delta : 1;
	c->lastcount = c->count;
	c->drop_next = control_law(q, now, c->count);
	return mark_or_drop(q, t.item) ? t.item : take(q, f, now).item;
}

/* dequeue() of RFC 8289. */
static struct fq_item *codel(struct fq *q, struct fq_flow *f, mono_t now)
{
	struct taken t = take(q, f, now);

	if (f->codel.dropping)
		return drop_on(q, f, t, now);
	return t.ok_to_drop ? begin_to_drop(q, f, t, now) : t.item;
}

/* --- the queue --- */

void fq_init(struct fq *q, const struct fq_params *params, struct fq_chain *dropped)
{
	*q = (struct fq){ .params = *params, .dropped = dropped };
}

void fq_set_params(struct fq *q, const struct fq_params *params)
{
	q->params = *params;
	q->largest = 0;
}

/* Returns an empty place of the set, or `direct`. A place in a list has the deficit of another
 * flow, so others are preferred. */
static uint32_t empty_place(const struct fq *q, uint32_t set, uint32_t direct)
{
	uint32_t found = direct;

	for (uint32_t i = set; i < set + FQ_WAYS; i++) {
		const struct fq_flow *f = &q->flow[i];

		if (f->items.head)
			continue;
		if (!f->is_on[FQ_FRESH] && !f->is_on[FQ_STANDING])
			return i;
		found = i;
	}
	return found;
}

/* Returns the place of a flow. A flow in a shared place keeps it, or its order would change. */
static uint32_t place_of(struct fq *q, uint32_t hash)
{
	uint32_t direct = hash % FQ_FLOWS, set = direct - direct % FQ_WAYS, place = direct;

	if (likely(q->tag[direct] == hash))
		return direct;
	for (uint32_t i = set; i < set + FQ_WAYS; i++)
		if (q->tag[i] == hash)
			return i;
	if (q->flow[direct].items.head) {
		if (q->shared[direct])
			return direct;
		place = empty_place(q, set, direct);
	}
	if (q->flow[place].items.head) {
		q->shared[place] = true;
	} else {
		q->tag[place] = hash;
		q->flow[place].codel = (struct fq_codel){ 0 };
	}
	return place;
}

void fq_put(struct fq *q, struct fq_item *item, uint32_t hash, mono_t now)
{
	uint32_t place = place_of(q, hash);
	struct fq_flow *f = &q->flow[place];
	bool begins = !f->items.head;

	if (begins)
		q->shared[place] = false;
	item->since = now;
	item->marked = false;
	fq_chain_add(&f->items, item);
	q->backlog[place] += item->len;
	q->large[place] += large_bytes(item);
	q->small[place] += item->small;
	q->bytes += item->len;
	q->large_bytes += large_bytes(item);
	q->n_small += item->small;
	q->n++;
	q->largest = max_of(q->largest, item->len);
	/* An empty flow still in a list continues as a new flow with the remaining credit. */
	if (f->is_on[FQ_STANDING] && begins && f->credit >= (int64_t)item->len)
		list_add(q, FQ_FRESH, f);
	if (f->is_on[FQ_FRESH] || f->is_on[FQ_STANDING])
		return;
	f->credit = (int32_t)q->params.quantum;
	list_add(q, FQ_FRESH, f);
}

/* Returns the list whose first flow is next; flows without credit move to the end. FQ_ORDERS: no
 * list. */
static enum fq_order whose_turn(struct fq *q)
{
	while (q->list[FQ_FRESH].head || q->list[FQ_STANDING].head) {
		enum fq_order order = q->list[FQ_FRESH].head ? FQ_FRESH : FQ_STANDING;
		struct fq_flow *f = q->list[order].head;

		if (f->credit > 0)
			return order;
		list_take(q, order);
		/* A flow in the list gets credit at the next turn. */
		if (f->is_on[FQ_STANDING])
			continue;
		f->credit += (int32_t)q->params.quantum;
		list_add(q, FQ_STANDING, f);
	}
	return FQ_ORDERS;
}

struct fq_item *fq_next(struct fq *q, mono_t now)
{
	enum fq_order order;

	while ((order = whose_turn(q)) != FQ_ORDERS) {
		struct fq_flow *f = q->list[order].head;
		struct fq_item *item = codel(q, f, now);

		if (item) {
			f->credit -= (int32_t)item->len;
			return item;
		}
		/* A new flow that preceded the others may use at most one quantum before its
		 * regular turn. */
		list_take(q, order);
		if (order == FQ_FRESH && q->list[FQ_STANDING].head)
			list_add(q, FQ_STANDING, f);
	}
	return NULL;
}

static const uint32_t *use_of(const struct fq *q, enum fq_lack lack)
{
	if (lack == FQ_LACK_BYTES)
		return q->backlog;
	return lack == FQ_LACK_SMALL ? q->small : q->large;
}

static uint32_t largest_flow(const uint32_t use[FQ_FLOWS])
{
	uint32_t fattest = 0;

	for (uint32_t i = 1; i < FQ_FLOWS; i++)
		if (use[i] > use[fattest])
			fattest = i;
	return fattest;
}

uint32_t fq_most(const struct fq *q, enum fq_lack lack)
{
	const uint32_t *use = use_of(q, lack);

	return use[largest_flow(use)];
}

struct fq_item *fq_shed(struct fq *q, enum fq_lack lack)
{
	const uint32_t *use = use_of(q, lack);
	uint32_t fattest = largest_flow(use);
	struct fq_item *oldest = q->flow[fattest].items.head;

	if (!use[fattest])
		return NULL;
	if (lack == FQ_LACK_BYTES && oldest->takes_marks) {
		oldest->marked = true;
		return NULL;
	}
	/* CoDel continues from here if more items arrive. */
	q->flow[fattest].codel.count++;
	return flow_take(q, &q->flow[fattest]);
}
