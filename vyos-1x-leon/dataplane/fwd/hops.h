// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Queues of next hops, for a rate to each of them (shaper per-peer): what waits for one that is
 * used up does not hold up the others. A pool of HOPS queues of four tiers each; one is a hop's
 * while something waits for it, and costs no memory before it is used for the first time. Where
 * all are taken, and for what has no single hop, there is one for all. Pure but for the accounts,
 * which all workers share; worker-owned.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/shaper.h"
#include "fwd/tiers.h"

#define HOPS	 32 /* with something waiting, at a time; besides that of all */
#define HOP_NONE UINT16_MAX

struct hop {
	struct tiers tiers;
	uint16_t slot;
	bool in_use, made;
	size_t room; /* bytes that may be sent in this turn */
	size_t sent;
	int32_t credit; /* bytes until other hops have their turn */
};

struct hops {
	struct fq_params params;
	uint32_t quantum;
	struct shaper *account; /* by slot */
	uint32_t kbits;		/* to each hop, 0: no limit */
	struct hop common;
	struct hop *hop;   /* HOPS of them */
	unsigned turn;	   /* whose turn is next */
	uint32_t n, bytes; /* of all */
	struct fq_chain dropped;
};

void hops_init(struct hops *h, const struct fq_params *params, struct shaper *account);
void hops_fini(struct hops *h);
/* Other rates, for what waits too. kbits: to each hop. */
void hops_set_rate(struct hops *h, const struct fq_params *params, uint32_t kbits);
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
