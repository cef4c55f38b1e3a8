// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Queues of next hops, for a rate to each of them (shaper per-peer): what waits for one that is
 * used up does not hold up the others. A pool of HOPS queues of four tiers each; one is a hop's
 * while something waits for it, and costs no memory before it is used for the first time. What has
 * no single hop, or one without a rate, waits in the queue for all; so does what finds no queue
 * left. While nothing waits for a hop with a rate, this is that one queue. Pure but for the
 * accounts, which all workers share; worker-owned.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/shaper.h"
#include "fwd/tiers.h"

#define HOPS	 64 /* with something waiting, at a time; besides that of all */
#define HOP_NONE UINT16_MAX
/* Of a fast line: a flow that has not sent more since it was empty passes the others. */
#define HOPS_QUANTUM 16384

/* What is sent straight to a node. The rate is told by the control thread. */
struct hop_account {
	struct shaper shaper;
	_Atomic uint32_t kbits; /* 0: no limit */
};

struct hop {
	struct tiers tiers;
	uint16_t slot;
	bool made;
	uint32_t kbits; /* the rate it is made for */
	size_t room;	/* bytes that may be sent in this turn */
	size_t sent;
	int32_t credit; /* bytes until other hops have their turn */
};

struct hops {
	struct hop_account *account; /* by slot */
	uint32_t line_kbits;	     /* to all of them, 0: no limit */
	uint32_t n, bytes;	     /* of all */
	unsigned n_used;
	uint8_t place[HOPS]; /* of the hops: the first n_used are in use */
	unsigned turn;	     /* whose turn is next */
	struct hop common;
	struct hop *hop; /* HOPS of them */
	struct fq_chain dropped;
};

void hops_init(struct hops *h, struct hop_account *account);
void hops_fini(struct hops *h);
/* The rate to all of them, for what waits too. */
void hops_set_line(struct hops *h, uint32_t kbits);
/* Begins a turn at this time. */
void hops_begin(struct hops *h, mono_t now);
/* slot: of the next hop, HOP_NONE: several, or not known. */
void hops_put(struct hops *h, uint16_t slot, enum fwd_tier tier, struct fq_item *item,
	      uint32_t hash, mono_t now);
/* The next of those hops that may be sent to in this turn; NULL: none. */
struct fq_item *hops_next(struct hops *h, mono_t now);
struct fq_item *hops_dropped(struct hops *h);
/* As tiers_shed(), of the hop with the most. */
struct fq_item *hops_shed(struct hops *h);
/* Is a flow that has only begun to send next, to a hop that may be sent to? */
bool hops_have_fresh(const struct hops *h);
/* When one may be sent to, by its own account; MONO_NEVER: nothing waits. */
mono_t hops_due(const struct hops *h);
/* Items of the turn that has ended which the rate of their own hop holds back, and not the line. */
uint32_t hops_held(const struct hops *h);
/* What waits in this tier, for all hops. */
struct hops_backlog {
	uint32_t n, bytes;
};
struct hops_backlog hops_backlog(const struct hops *h, enum fwd_tier tier);
/* The i-th of n_used hops, for which something waits or was sent in the turn that has ended. */
const struct hop *hops_used(const struct hops *h, unsigned i);
/* So many bytes leave for this slot, as IP packets, by whichever way. */
static inline void hops_pay(struct hop_account *account, size_t bytes, mono_t now)
{
	uint32_t kbits = atomic_load_explicit(&account->kbits, memory_order_relaxed);

	if (kbits)
		shaper_pay(&account->shaper, kbits, bytes, now);
}
