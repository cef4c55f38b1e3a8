// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lazy links: links without data in an overlay of more than 64 members, which have few PINGs.
 * Failures of such links with and without traffic, loss of data, and a cut. Protocol 6.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

#include "proto/overlay_ops.h"
#include "proto/view.h"

#define FEW	64
#define MANY	66
#define HALF	(MANY / 2)
#define LAZY_MS 20000 /* no other interval is as long */

static uint32_t interval_ms(struct sim *s, unsigned a, unsigned b)
{
	return overlay_probe_ms(s->node[a].o, sim_slot(s, a, b));
}

static bool is_up(struct sim *s, unsigned a, unsigned b)
{
	struct overlay_link l;

	return overlay_link(s->node[a].o, sim_slot(s, a, b), &l) && l.up && !l.silent;
}

/* No relayed path is shorter than the direct link. */
static struct sim *new_settled(unsigned n)
{
	struct sim *s = sim_new(n, 11);

	for (unsigned a = 0; a < n; a++)
		for (unsigned b = a + 1; b < n; b++)
			sim_set_rtt(s, a, b, 20000 + (int64_t)(sim_random(s) % 19000));
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
	sim_run(s, 30000);
	return s;
}

static struct sim *many; /* all tests use it, and leave the links up */

/* Returns the first node whose link with node 0 is lazy at both ends. */
static unsigned lazy_neighbor(struct sim *s)
{
	for (unsigned i = 1; i < s->n; i++)
		if (interval_ms(s, 0, i) >= LAZY_MS && interval_ms(s, i, 0) >= LAZY_MS)
			return i;
	fail_msg("no link is lazy");
	return 0;
}

static unsigned count_lazy(struct sim *s)
{
	unsigned n = 0;

	for (unsigned a = 0; a < s->n; a++)
		for (unsigned b = 0; b < s->n; b++)
			n += a != b && sim_is_up(s, a) && sim_is_up(s, b) &&
			     interval_ms(s, a, b) >= LAZY_MS;
	return n;
}

/* The answers to the next n PINGs of node 0 to node b are lost. */
static void lose_answers(struct sim *s, unsigned b, unsigned n)
{
	struct overlay_link before, l;

	for (unsigned i = 0; i < n; i++) {
		assert_true(overlay_link(s->node[0].o, sim_slot(s, 0, b), &before));
		do {
			sim_run(s, 2);
			assert_true(overlay_link(s->node[0].o, sim_slot(s, 0, b), &l));
		} while (l.probes_tx == before.probes_tx);
		sim_link(s, b, 0)->down = true;
		sim_run(s, 35); /* less than the least timeout of a PING */
		sim_link(s, b, 0)->down = false;
	}
	sim_run(s, 5000);
}

/* The loss that the row of node 0 states for the link to b, at another node. */
static uint16_t stated_loss(struct sim *s, unsigned b)
{
	unsigned at = b == 1 ? 2 : 1;

	return latdb_get(overlay_latdb(s->node[at].o), sim_slot(s, at, 0), sim_slot(s, at, b))
		.loss_pm;
}

/* One unanswered PING of a link without data is no news, unlike two in a row. */
static void test_one_lost_answer_is_no_news(void **state)
{
	struct sim *s = many;
	unsigned b = lazy_neighbor(s);
	struct overlay_link l;

	(void)state;
	lose_answers(s, b, 1);
	assert_true(overlay_link(s->node[0].o, sim_slot(s, 0, b), &l));
	assert_true(l.filter.loss_pm > 0 && l.up && !l.silent);
	assert_int_equal(stated_loss(s, b), 0);
	sim_run(s, 60000);
	lose_answers(s, b, 2);
	assert_true(stated_loss(s, b) > 0);
	sim_run(s, 60000);
}

/* Each node sends a broadcast in each tenth of a second. */
static void flood(struct sim *s, int64_t ms)
{
	for (int64_t at = 0; at < ms; at += 100) {
		for (unsigned a = 0; a < s->n; a++)
			for (unsigned b = 0; b < s->n; b++)
				if (a != b)
					overlay_link_floods(s->node[a].o, sim_slot(s, a, b));
		sim_run(s, 100);
	}
}

/* Broadcasts keep a link neither fast nor eager. Its failure is found after the interval of a lazy
 * link with jitter, and the silence of any other link. */
static void test_floods_alone_are_no_use(void **state)
{
	struct sim *s = many;
	unsigned lazy = count_lazy(s), b;

	(void)state;
	flood(s, 10000);
	assert_true(count_lazy(s) > lazy * 9 / 10);
	b = lazy_neighbor(s);
	sim_set_down(s, 0, b, true);
	flood(s, 32000);
	assert_false(is_up(s, 0, b));
	assert_int_equal(sim_state(s, 0, b), NODE_REACHABLE);
	sim_set_down(s, 0, b, false);
	s = new_settled(3);
	flood(s, 1000);
	assert_int_equal(interval_ms(s, 0, 1), s->node[0].conf->fast_interval_ms);
	sim_free(s);
}

/* The link, or the node at its far end, failed before the traffic starts. */
static void test_traffic_starts_on_a_dead_lazy_link(void **state)
{
	struct sim *s = many;
	unsigned b = lazy_neighbor(s);
	struct sim_flow *f;

	(void)state;
	sim_set_down(s, 0, b, true);
	f = sim_flow_start(s, 0, b, 5000);
	sim_flow_mark(f);
	sim_run(s, 10000);
	printf("# dead lazy link: gap of %lld ms\n", (long long)sim_flow_gap_ms(f));
	assert_true(f->received > 0);
	assert_in_range(sim_flow_gap_ms(f), 0, 400);
	assert_int_equal(sim_state(s, 0, b), NODE_REACHABLE);
	sim_set_down(s, 0, b, false);
}

/* A cut link without traffic is noticed late, and returns as soon as any other link. */
static void test_a_lazy_link_returns(void **state)
{
	struct sim *s = many;
	unsigned b = lazy_neighbor(s);
	int64_t took = -1;

	(void)state;
	sim_set_down(s, 0, b, true);
	sim_run(s, 40000);
	assert_false(is_up(s, 0, b));
	assert_int_equal(sim_state(s, 0, b), NODE_REACHABLE);
	sim_set_down(s, 0, b, false);
	for (int64_t ms = 0; ms < 60000 && took < 0; ms += 100) {
		sim_run(s, 100);
		took = is_up(s, 0, b) ? ms + 100 : -1;
	}
	printf("# a cut lazy link is up after %lld ms\n", (long long)took);
	assert_in_range(took, 0, 15000);
}

/* PINGs pass and data does not: record 021 finds it as on any link. */
static void test_data_loss_on_a_lazy_link(void **state)
{
	struct sim *s = many;
	unsigned b = lazy_neighbor(s), hop[LEON_HOPS_MAX];

	(void)state;
	sim_link(s, 0, b)->data_down = true;
	sim_flow_start(s, 0, b, 5000);
	sim_run(s, 3000);
	assert_true(sim_path(s, 0, b, hop) > 1);
	assert_true(s->node[0].n_events[EV_DATA_LOSS] > 0);
	sim_link(s, 0, b)->data_down = false;
}

struct lazy_links {
	uint64_t n, pings;
};

/* Counts the links that are lazy at the first call, inside the halves of `many`. */
static struct lazy_links lazy_in_halves(struct sim *s)
{
	static bool lazy[MANY][MANY], chosen;
	struct lazy_links sum = { 0 };
	struct overlay_link l;

	for (unsigned a = 0; a < MANY; a++)
		for (unsigned b = 0; b < MANY; b++) {
			if (!chosen)
				lazy[a][b] = a != b && a / HALF == b / HALF &&
					     interval_ms(s, a, b) >= LAZY_MS;
			if (!lazy[a][b] || !overlay_link(s->node[a].o, sim_slot(s, a, b), &l))
				continue;
			sum.n++;
			sum.pings += l.probes_tx;
		}
	chosen = true;
	return sum;
}

static uint64_t count_fetches(const struct sim *s)
{
	uint64_t sum = 0;

	for (unsigned a = 0; a < s->n; a++)
		sum += overlay_counters(s->node[a].o)->tx_by_type[MSG_FETCH];
	return sum;
}

/* Each node sends its row once to each node of the other half, without a request. Rows of the other
 * half repeat failures of the outage, which are no reason for PINGs. */
static void test_merging_halves_send_few_messages(void **state)
{
	struct sim *s = many;
	struct lazy_links before, after;
	uint64_t fetches;
	int64_t took;

	(void)state;
	sim_partition(s, HALF, true);
	sim_run(s, 40000);
	before = lazy_in_halves(s);
	fetches = count_fetches(s);
	sim_partition(s, HALF, false);
	took = sim_until(s, sim_converged, NULL, 5000);
	assert_true(took >= 0);
	sim_run(s, 5000 - took);
	after = lazy_in_halves(s);
	fetches = count_fetches(s) - fetches;
	printf("# merged after %lld ms; %llu lazy links, %llu PINGs on them, %llu FETCHes\n",
	       (long long)took, (unsigned long long)after.n,
	       (unsigned long long)(after.pings - before.pings), (unsigned long long)fetches);
	assert_true(before.n > MANY * HALF / 8);
	assert_in_range(after.pings - before.pings, 0, before.n * 2 / 5);
	assert_in_range(fetches, 0, MANY * HALF / 8);
	sim_run(s, 30000); /* the links are lazy again */
}

/* All links are eager once two nodes have left. The last test. */
static void test_only_large_overlays_have_lazy_links(void **state)
{
	struct sim *s = many;

	(void)state;
	printf("# %u of %u links are lazy\n", count_lazy(s), MANY * (MANY - 1));
	assert_true(count_lazy(s) > MANY * (MANY - 1) / 2);
	for (unsigned i = FEW; i < MANY; i++)
		sim_leave(s, i);
	sim_run(s, 5000);
	assert_int_equal(count_lazy(s), 0);
}

static int setup(void **state)
{
	(void)state;
	many = new_settled(MANY);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sim_free(many);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_lost_answer_is_no_news),
		cmocka_unit_test(test_floods_alone_are_no_use),
		cmocka_unit_test(test_traffic_starts_on_a_dead_lazy_link),
		cmocka_unit_test(test_a_lazy_link_returns),
		cmocka_unit_test(test_data_loss_on_a_lazy_link),
		cmocka_unit_test(test_merging_halves_send_few_messages),
		cmocka_unit_test(test_only_large_overlays_have_lazy_links),
	};

	cmocka_set_test_filter(getenv("SIM_FILTER"));
	return cmocka_run_group_tests(tests, setup, teardown);
}
