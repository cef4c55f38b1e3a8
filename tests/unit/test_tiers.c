// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The queue in four tiers: the tier of each DSCP, and priority of higher tiers within their share
 * without starvation. A single tier gets the full rate, and no item is lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/defs.h"
#include "base/mem.h"
#include "fwd/queue/fq.h"
#include "fwd/send/send_steps.h"

#define QUANTUM 1514
#define LEN	1000
#define N	4000
static const mono_t T0 = { 1000 * NS_PER_S };

struct thing {
	struct fq_item item;
	enum fwd_tier tier;
};

struct lab {
	struct tiers t;
	struct fq_chain dropped;
	struct thing thing[N];
	unsigned used;
};

static int setup(void **state)
{
	static const struct fq_params params = { FQ_TARGET_NS, FQ_INTERVAL_NS, QUANTUM };
	struct lab *l = x_calloc(1, sizeof(*l));

	tiers_init(&l->t, &params, &l->dropped);
	*state = l;
	return 0;
}
static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void put(struct lab *l, enum fwd_tier tier, uint32_t flow, uint32_t len, unsigned n)
{
	while (n--) {
		struct thing *x = &l->thing[l->used++ % N];

		*x = (struct thing){ .item = { .len = len }, .tier = tier };
		tiers_put(&l->t, tier, &x->item, flow, T0);
	}
}

static struct thing *next(struct lab *l, mono_t now)
{
	return (struct thing *)tiers_next(&l->t, now);
}

/* RFC 4594, RFC 8622. All other code points are best effort. */
static void code_points(void **state)
{
	static const uint8_t bulk[] = { 1, 8 },
			     video[] = { 16, 18, 20, 22, 24, 26, 28, 30, 34, 36, 38 },
			     voice[] = { 32, 40, 44, 46, 48, 56 };
	enum fwd_tier want[64];
	unsigned sum = 0;

	(void)state;
	for (unsigned i = 0; i < 64; i++)
		want[i] = TIER_BEST_EFFORT;
	for (unsigned i = 0; i < array_size(bulk); i++)
		want[bulk[i]] = TIER_BULK;
	for (unsigned i = 0; i < array_size(video); i++)
		want[video[i]] = TIER_VIDEO;
	for (unsigned i = 0; i < array_size(voice); i++)
		want[voice[i]] = TIER_VOICE;
	for (uint8_t i = 0; i < 64; i++)
		assert_int_equal(tier_of_dscp(i), want[i]);
	for (unsigned i = 0; i < FWD_TIERS; i++)
		sum += fwd_tier_percent((enum fwd_tier)i);
	assert_int_equal(sum, 100);
}

/* All four tiers have a permanent backlog. */
static void shares_are_kept(void **state)
{
	struct lab *l = *state;
	unsigned sent[FWD_TIERS] = { 0 };

	for (unsigned i = 0; i < FWD_TIERS; i++)
		put(l, (enum fwd_tier)i, i, LEN, 900);
	for (unsigned i = 0; i < 1600; i++)
		sent[next(l, T0)->tier]++;
	assert_in_range(sent[TIER_BULK], 90, 110);
	assert_in_range(sent[TIER_BEST_EFFORT], 590, 610);
	assert_in_range(sent[TIER_VIDEO], 490, 510);
	assert_in_range(sent[TIER_VOICE], 390, 410);
}

/* Items of very different sizes count by their bytes. */
static void shares_are_of_bytes(void **state)
{
	struct lab *l = *state;
	unsigned long sent[FWD_TIERS] = { 0 };

	put(l, TIER_VIDEO, 1, 64000, 100);
	put(l, TIER_BEST_EFFORT, 1, 100, 3800);
	for (unsigned i = 0; i < 3000; i++) {
		struct thing *x = next(l, T0);

		sent[x->tier] += x->item.len;
	}
	/* 5 to 6, with a deviation of one large item. */
	assert_in_range(sent[TIER_VIDEO], sent[TIER_BEST_EFFORT] * 5 / 6 - 64000,
			sent[TIER_BEST_EFFORT] * 5 / 6 + 64000);
}

static void voice_passes_and_cannot_starve(void **state)
{
	struct lab *l = *state;
	unsigned other = 0;

	put(l, TIER_BEST_EFFORT, 1, LEN, 500);
	put(l, TIER_BULK, 2, LEN, 500);
	for (unsigned i = 0; i < 50; i++)
		next(l, T0);
	/* A tier with rare items has priority each time. */
	for (unsigned i = 0; i < 100; i++) {
		put(l, TIER_VOICE, 3, 200, 1);
		assert_int_equal(next(l, T0)->tier, TIER_VOICE);
		next(l, T0);
	}
	/* A tier with a permanent backlog has no priority. */
	put(l, TIER_VOICE, 3, LEN, 300);
	for (unsigned i = 0; i < 200; i++)
		other += next(l, T0)->tier != TIER_VOICE;
	assert_in_range(other, 60, 130);
}

/* The share of an idle tier goes to the others. A tier owes nothing for unused rate. */
static void alone(void **state)
{
	struct lab *l = *state;

	put(l, TIER_BULK, 1, LEN, 1000);
	for (unsigned i = 0; i < 900; i++)
		assert_int_equal(next(l, T0)->tier, TIER_BULK);
	put(l, TIER_VOICE, 2, LEN, 1);
	assert_int_equal(next(l, T0)->tier, TIER_VOICE);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(next(l, T0)->tier, TIER_BULK);
	assert_null(next(l, T0));
	assert_false(tiers_have_fresh(&l->t));
	assert_int_equal(l->t.n, 0);
	assert_int_equal(l->t.bytes, 0);
}

/* A new flow in a lower tier has priority over the backlog of that tier, not over higher tiers. */
static void fresh_flows(void **state)
{
	struct lab *l = *state;

	put(l, TIER_VIDEO, 1, LEN, 100);
	for (unsigned i = 0; i < 3; i++)
		next(l, T0);
	put(l, TIER_BEST_EFFORT, 2, LEN, 20);
	assert_false(tiers_have_fresh(&l->t) && l->t.credit[TIER_VIDEO] > 0);
	put(l, TIER_VOICE, 3, LEN, 1);
	assert_true(tiers_have_fresh(&l->t));
	assert_int_equal(next(l, T0)->tier, TIER_VOICE);
}

/* CoDel drops in each tier. Every dropped item is returned once and counted. */
static void nothing_gets_lost(void **state)
{
	struct lab *l = *state;
	unsigned seen = 0, late = 0, shed = 0;
	struct fq_item *item;

	for (unsigned i = 0; i < FWD_TIERS; i++)
		put(l, (enum fwd_tier)i, i, LEN, 100);
	put(l, TIER_VIDEO, 7, 9 * LEN, 20);
	/* The flow with the largest backlog of all tiers. */
	for (; shed < 5; shed++) {
		struct thing *x = (struct thing *)tiers_shed(&l->t, FQ_LACK_LARGE);

		assert_int_equal(x->tier, TIER_VIDEO);
		assert_int_equal(x->item.len, 9 * LEN);
	}
	for (unsigned ms = 0; l->t.n; ms += 5) {
		seen += next(l, mono_add_ms(T0, ms)) != NULL;
		while ((item = fq_chain_take(&l->dropped)))
			late++;
	}
	assert_true(late > 10);
	assert_int_equal(seen + late + shed, 420);
	assert_int_equal(l->t.bytes, 0);
	assert_null(tiers_shed(&l->t, FQ_LACK_LARGE));
	assert_null(tiers_next(&l->t, T0));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_points),
		T(shares_are_kept),
		T(shares_are_of_bytes),
		T(voice_passes_and_cannot_starve),
		T(alone),
		T(fresh_flows),
		T(nothing_gets_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
