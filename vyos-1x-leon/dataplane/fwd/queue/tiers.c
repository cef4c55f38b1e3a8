// SPDX-License-Identifier: GPL-2.0-or-later
/* A queue in four tiers by DSCP. Worker. */
#include "fwd/queue/fq.h"

#include "base/defs.h"

/* Length of a round: short, because best effort may wait for the higher tiers in it. */
static const uint8_t shares[FWD_TIERS] = {
	[TIER_BULK] = 1, [TIER_BEST_EFFORT] = 6, [TIER_VIDEO] = 5, [TIER_VOICE] = 4
};
#define SHARES	    16
#define SHARE_BYTES 2 /* a share of a round is the quantum divided by this */

unsigned fwd_tier_percent(enum fwd_tier tier)
{
	return (shares[tier] * 100u + SHARES / 2) / SHARES;
}

static int32_t round_of(const struct tiers *t, unsigned tier)
{
	return (int32_t)(shares[tier] * t->fq[tier].params.quantum / SHARE_BYTES);
}

void tiers_init(struct tiers *t, const struct fq_params *params, struct fq_chain *dropped)
{
	t->n = t->bytes = 0;
	for (unsigned i = 0; i < FWD_TIERS; i++) {
		fq_init(&t->fq[i], params, dropped);
		t->credit[i] = round_of(t, i);
	}
}

void tiers_set_params(struct tiers *t, const struct fq_params *params)
{
	for (unsigned i = 0; i < FWD_TIERS; i++) {
		fq_set_params(&t->fq[i], params);
		t->credit[i] = round_of(t, i);
	}
}

/* Returns true if no other tier has items. */
static bool is_alone(const struct tiers *t, unsigned tier)
{
	return t->fq[tier].n == t->n;
}

/* Returns the highest tier with items and credit, or FWD_TIERS. */
static unsigned with_credit(const struct tiers *t)
{
	for (unsigned i = FWD_TIERS; i-- > 0;)
		if (t->fq[i].n && (t->credit[i] > 0 || is_alone(t, i)))
			return i;
	return FWD_TIERS;
}

/* Returns true if there is a backlog. */
static unsigned whose_turn(struct tiers *t)
{
	unsigned tier;

	/* A new round: unused credit is discarded. */
	while ((tier = with_credit(t)) == FWD_TIERS)
		for (unsigned i = 0; i < FWD_TIERS; i++)
			t->credit[i] = min_of(t->credit[i], 0) + round_of(t, i);
	return tier;
}

bool tiers_have_fresh(const struct tiers *t)
{
	unsigned tier = with_credit(t);

	/* Between two rounds the first round applies. */
	for (unsigned i = FWD_TIERS; tier == FWD_TIERS && i-- > 0;)
		if (t->fq[i].n)
			tier = i;
	return tier < FWD_TIERS && fq_has_fresh(&t->fq[tier]);
}

void tiers_put(struct tiers *t, enum fwd_tier tier, struct fq_item *item, uint32_t hash, mono_t now)
{
	fq_put(&t->fq[tier], item, hash, now);
	t->n++;
	t->bytes += item->len;
}

struct fq_item *tiers_next(struct tiers *t, mono_t now)
{
	struct fq_item *item = NULL;

	while (!item && t->n) {
		unsigned tier = whose_turn(t);
		struct fq *q = &t->fq[tier];
		bool alone = is_alone(t, tier);
		uint32_t n = q->n, bytes = q->bytes;

		item = fq_next(q, now);
		t->n -= n - q->n;
		t->bytes -= bytes - q->bytes;
		/* No other tier had to wait. */
		if (item && !alone)
			t->credit[tier] -= (int32_t)item->len;
	}
	return item;
}

struct fq_item *tiers_shed(struct tiers *t, enum fq_lack lack)
{
	struct fq *fattest = NULL;
	struct fq_item *item;
	uint32_t most = 0;

	for (unsigned i = 0; i < FWD_TIERS; i++) {
		uint32_t use = t->fq[i].n ? fq_most(&t->fq[i], lack) : 0;

		if (use > most) {
			most = use;
			fattest = &t->fq[i];
		}
	}
	item = fattest ? fq_shed(fattest, lack) : NULL;
	t->n -= item != NULL;
	t->bytes -= item ? item->len : 0;
	return item;
}
