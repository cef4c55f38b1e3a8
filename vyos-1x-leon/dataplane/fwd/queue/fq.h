// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * FQ-CoDel: flow queueing (RFC 8290) with CoDel in each flow (RFC 8289). Flows take turns by bytes
 * (deficit round robin). A new flow precedes the others with up to a quantum until the regular
 * turn, at once or in parts. Therefore a flow below its fair share never waits behind the others.
 *
 * A flow with items that waited longer than `target` for an interval loses single items at
 * increasing frequency. Items that take marks are marked instead. The order within a flow is kept.
 * A flow takes one of FQ_WAYS places by its hash (the 8-way set-associative hash of CAKE,
 * Hoiland-Jorgensen et al. 2018), so sharing needs eight active flows in one set.
 *
 * Pure: no clock, no own memory. Items belong to the caller, which bounds the queue with fq_shed().
 * Worker-owned.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"
#include "fwd/fwd.h"

#define FQ_FLOWS 256 /* places of flows */
#define FQ_WAYS	 8   /* places that a flow may take; flows share turns if all are taken */

struct fq_item {
	struct fq_item *next;
	mono_t since; /* time of fq_put() */
	uint32_t len;
	bool small;	  /* occupies a small buffer of the caller */
	bool takes_marks; /* the item can signal congestion and stay */
	bool marked;	  /* set by the queue: the item must signal congestion */
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
/* Returns the first item, or NULL. */
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

/* State of the control law, with the names of RFC 8289. */
struct fq_codel {
	mono_t first_above_time, drop_next;
	uint32_t count, lastcount;
	bool dropping;
};

/* A new flow may also have a place among the old flows. */
enum fq_order { FQ_FRESH, FQ_STANDING, FQ_ORDERS };

struct fq_flow {
	struct fq_chain items;
	struct fq_flow *next[FQ_ORDERS];
	bool is_on[FQ_ORDERS];
	int32_t credit; /* deficit: bytes to send in this turn */
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
	uint32_t large[FQ_FLOWS];   /* bytes of each flow in items that are not small */
	uint32_t small[FQ_FLOWS];   /* small items of each flow */
	uint32_t tag[FQ_FLOWS];	    /* hash of the flow that took the place */
	bool shared[FQ_FLOWS];	    /* items of other flows are behind those of the flow */
	struct fq_list list[FQ_ORDERS];
	struct fq_chain *dropped;
	uint32_t n, bytes, large_bytes, n_small, largest; /* `largest`: largest item so far */
};

/* Parameters of RFC 8289 and RFC 8290 for the Internet. */
#define FQ_TARGET_NS   (5 * NS_PER_MS)
#define FQ_INTERVAL_NS (100 * NS_PER_MS)

/* dropped: CoDel appends the items that it drops in fq_next(). */
void fq_init(struct fq *q, const struct fq_params *params, struct fq_chain *dropped);
/* Changes the parameters, also for queued items. */
void fq_set_params(struct fq *q, const struct fq_params *params);
/* Returns true if a new (sparse) flow is next. */
static inline bool fq_has_fresh(const struct fq *q)
{
	const struct fq_flow *f = q->list[FQ_FRESH].head;

	return f && f->items.head;
}
/* Appends an item to the flow that `hash` selects. */
void fq_put(struct fq *q, struct fq_item *item, uint32_t hash, mono_t now);
/* Returns the next item, or NULL if the queue is empty. */
struct fq_item *fq_next(struct fq *q, mono_t now);
/* The resource that the caller lacks determines the largest flow. */
enum fq_lack {
	FQ_LACK_BYTES, /* by bytes; an item that takes marks is marked and stays */
	FQ_LACK_LARGE, /* by bytes in items that are not small */
	FQ_LACK_SMALL, /* by small items */
};

/* Bytes or small items of the largest flow. */
uint32_t fq_most(const struct fq *q, enum fq_lack lack);
/* Removes the oldest item of the largest flow; the caller drops it to make room. NULL if no flow
 * occupies the resource, and if an item is marked instead. */
struct fq_item *fq_shed(struct fq *q, enum fq_lack lack);

/* --- tiers.c ---
 * A queue in four tiers by DSCP, each with flow queueing (fq.h). A higher tier within its share is
 * next, so voice does not wait for bulk. Beyond their shares tiers take turns by share: no tier
 * starves, and other tiers may use unused capacity. Traffic without a DSCP is best effort; without
 * marked traffic the queue is one fq. Pure, as fq.h. Worker-owned.
 */

struct tiers {
	struct fq fq[FWD_TIERS];
	int32_t credit[FWD_TIERS]; /* bytes until other tiers take their turn */
	uint32_t n, bytes;
};

void tiers_init(struct tiers *t, const struct fq_params *params, struct fq_chain *dropped);
void tiers_set_params(struct tiers *t, const struct fq_params *params);
/* Returns true if a sparse flow is next. */
bool tiers_have_fresh(const struct tiers *t);
void tiers_put(struct tiers *t, enum fwd_tier tier, struct fq_item *item, uint32_t hash,
	       mono_t now);
/* Like fq_next() and fq_shed(), over all tiers. */
struct fq_item *tiers_next(struct tiers *t, mono_t now);
struct fq_item *tiers_shed(struct tiers *t, enum fq_lack lack);
