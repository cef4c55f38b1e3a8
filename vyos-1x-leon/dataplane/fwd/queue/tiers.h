// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A queue in four tiers by DSCP, each with flow queueing (fq.h). A higher tier within its share is
 * next, so voice does not wait for bulk. Beyond their shares tiers take turns by share: no tier
 * starves, and other tiers may use unused capacity. Traffic without a DSCP is best effort; without
 * marked traffic the queue is one fq. Pure, as fq.h. Worker-owned.
 */
#pragma once

#include "fwd/fwd.h"
#include "fwd/queue/fq.h"

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
