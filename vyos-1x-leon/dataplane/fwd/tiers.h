// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A queue in four tiers, by the DSCP of what waits: each a queue that knows flows (fq.h). The
 * higher tier is next while it keeps within its share, so that voice does not wait for bulk; beyond
 * it, tiers take turns by their shares, so that none starves and what one leaves the others have.
 * What has no DSCP is best effort: where nothing is marked, this is one fq. Pure, as fq.h.
 * Worker-owned.
 */
#pragma once

#include "fwd/fq.h"
#include "fwd/fwd.h"

struct tiers {
	struct fq fq[FWD_TIERS];
	int32_t credit[FWD_TIERS]; /* bytes until the others have their turn */
	uint32_t n, bytes;
	struct fq_chain dropped;
};

enum fwd_tier tier_of_dscp(uint8_t dscp);
/* In hundredths of what is sent, where all tiers have something to send. */
unsigned tier_share_percent(enum fwd_tier tier);

void tiers_init(struct tiers *t, const struct fq_params *params);
void tiers_set_params(struct tiers *t, const struct fq_params *params);
/* Is a flow that has only begun to send next? */
bool tiers_have_fresh(const struct tiers *t);
void tiers_put(struct tiers *t, enum fwd_tier tier, struct fq_item *item, uint32_t hash,
	       mono_t now);
/* As fq_next(), fq_dropped() and fq_shed(), of all tiers. */
struct fq_item *tiers_next(struct tiers *t, mono_t now);
struct fq_item *tiers_dropped(struct tiers *t);
struct fq_item *tiers_shed(struct tiers *t);
