// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A queue that knows flows: flow queueing (RFC 8290) with CoDel in each flow (RFC 8289). Flows
 * take turns by bytes (deficit round robin); one that begins to send passes those that stand, with
 * a quantum of bytes until it would have had its turn among them, at once or bit by bit, so that
 * what sends less than they do never waits behind them. A flow
 * whose items waited above `target` for an interval loses one at a time, ever faster, or has it
 * marked where it understands marks. Order within a flow is kept. Pure: no clock, no memory of its
 * own; items belong to the caller, who bounds the queue with fq_shed(). Worker-owned.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"

#define FQ_FLOWS 256 /* places; two flows on one share its turns */

struct fq_item {
	struct fq_item *next;
	mono_t since; /* of fq_put() */
	uint32_t len;
	bool takes_marks; /* the sender is told of congestion by a mark (ECN), without a loss */
	bool marked;	  /* of fq_next(): it is to be told with this item */
};

struct fq_chain {
	struct fq_item *head, *tail;
};

static inline void fq_chain_add(struct fq_chain *c, struct fq_item *item)
{
	item->next = NULL;
	if (c->tail)
		c->tail->next = item;
	else
		c->head = item;
	c->tail = item;
}
static inline void fq_chain_put_first(struct fq_chain *c, struct fq_item *item)
{
	item->next = c->head;
	c->head = item;
	if (!c->tail)
		c->tail = item;
}
/* The first, NULL: none. */
static inline struct fq_item *fq_chain_take(struct fq_chain *c)
{
	struct fq_item *item = c->head;

	if (!item)
		return NULL;
	c->head = item->next;
	if (!c->head)
		c->tail = NULL;
	item->next = NULL;
	return item;
}

/* State of RFC 8289's control law; its names. */
struct fq_codel {
	mono_t first_above_time, drop_next;
	uint32_t count, lastcount;
	bool dropping;
};

/* A flow that passes may have its place among those that stand too. */
enum fq_order { FQ_FRESH, FQ_STANDING, FQ_ORDERS };

struct fq_flow {
	struct fq_chain items;
	struct fq_flow *next[FQ_ORDERS];
	bool is_on[FQ_ORDERS];
	int32_t credit; /* bytes that it may send before others get their turn */
	struct fq_codel codel;
};

struct fq_list {
	struct fq_flow *head, *tail;
};

struct fq_params {
	int64_t target_ns, interval_ns;
	uint32_t quantum;
};

struct fq {
	struct fq_params params;
	struct fq_flow flow[FQ_FLOWS];
	uint32_t backlog[FQ_FLOWS]; /* bytes of each flow */
	struct fq_list list[FQ_ORDERS];
	struct fq_chain dropped;
	uint32_t n, bytes, largest; /* `largest`: item seen so far */
};

/* What RFC 8289 and 8290 recommend for the Internet. */
#define FQ_TARGET_NS   (5 * NS_PER_MS)
#define FQ_INTERVAL_NS (100 * NS_PER_MS)

void fq_init(struct fq *q, const struct fq_params *params);
/* Other parameters from now on; for what is in it too. */
void fq_set_params(struct fq *q, const struct fq_params *params);
/* Is a flow that has only begun to send next? */
static inline bool fq_has_fresh(const struct fq *q)
{
	const struct fq_flow *f = q->list[FQ_FRESH].head;

	return f && f->items.head;
}
/* Appends an item to its flow; `hash` says which. */
void fq_put(struct fq *q, struct fq_item *item, uint32_t hash, mono_t now);
/* The next in turn, NULL where the queue is empty. What CoDel dropped on the way is left for
 * fq_dropped(). */
struct fq_item *fq_next(struct fq *q, mono_t now);
/* One after the other, what fq_next() dropped. NULL: no more. */
struct fq_item *fq_dropped(struct fq *q);
/* Bytes of the flow with the most. */
uint32_t fq_most(const struct fq *q);
/* Takes the oldest item of the flow with the most bytes out, which is to be dropped because there
 * is no room. NULL where the queue is empty. */
struct fq_item *fq_shed(struct fq *q);
