// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Per-next-hop queues for per-hop rates (shaper per-peer): a hop above its rate does not block the
 * others. A pool of HOPS queues with four tiers each. A hop with a backlog owns a queue; a queue
 * uses no memory before the first use.
 *
 * Frames without a single next hop, frames to hops without a rate, and frames without a free queue
 * use the common queue. Without a backlog for a hop with a rate, only the common queue is in use.
 * Pure except for the accounts, which all workers share; worker-owned.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/queue/fq.h"
#include "fwd/send/send_state.h"

#define HOPS	 64 /* hops with a backlog at one time, in addition to the common queue */
#define HOP_NONE UINT16_MAX
/* Bytes up to which a flow counts as sparse on a fast line. */
#define HOPS_QUANTUM 16384

/* Account of traffic sent directly to a node. The control thread sets the rate. */
struct hop_account {
	struct shaper shaper;
	_Atomic uint32_t kbits; /* 0: no limit */
};

struct hop {
	struct tiers tiers;
	uint16_t slot;
	bool made;
	uint32_t kbits; /* configured for this rate */
	size_t room;	/* bytes to send in this turn */
	size_t sent;
	int32_t credit; /* deficit in bytes until other hops take their turn */
};

struct hops {
	struct hop_account *account; /* indexed by slot */
	uint32_t bottleneck_kbits;   /* rate of all hops together; 0: no limit */
	uint32_t n, bytes;	     /* backlog of all queues */
	unsigned n_used;
	uint8_t place[HOPS]; /* queue indexes; the first n_used are in use */
	unsigned turn;	     /* hop with the next turn */
	struct hop common;
	struct hop *hop;	 /* array of HOPS */
	struct fq_chain dropped; /* by CoDel; the caller takes the items */
};

void hops_init(struct hops *h, struct hop_account *account);
void hops_fini(struct hops *h);
/* Sets the rate of all hops together, also for the backlog. */
void hops_set_bottleneck(struct hops *h, uint32_t kbits);
/* Begins a turn at `now`. */
void hops_begin(struct hops *h, mono_t now);
/* slot: of the next hop; HOP_NONE: several or unknown. */
void hops_put(struct hops *h, uint16_t slot, enum fwd_tier tier, struct fq_item *item,
	      uint32_t hash, mono_t now);
/* Returns the next item of the hops that may send in this turn, or NULL. */
struct fq_item *hops_next(struct hops *h, mono_t now);
/* Like tiers_shed(), for the hop that occupies most. */
struct fq_item *hops_shed(struct hops *h, enum fq_lack lack);
/* Returns true if a sparse flow is next at a hop that may send. */
bool hops_have_fresh(const struct hops *h);
/* Time at which a hop may send by its own account; MONO_NEVER: no backlog. */
mono_t hops_due(const struct hops *h);
/* Items of the last turn limited by the rate of their own hop, not by the line. */
uint32_t hops_held(const struct hops *h);
/* Backlog of the tier over all hops. */
struct hops_backlog {
	uint32_t n, bytes;
};
struct hops_backlog hops_backlog(const struct hops *h, enum fwd_tier tier);
/* The i-th of n_used hops with a backlog or with transmissions in the last turn. */
const struct hop *hops_used(const struct hops *h, unsigned i);
/* Charges bytes (IP packets) that leave for the slot, from any source. */
static inline void hops_pay(struct hop_account *account, size_t bytes, mono_t now)
{
	uint32_t kbits = load_relaxed(&account->kbits);

	if (kbits)
		shaper_pay(&account->shaper, kbits, bytes, now);
}
