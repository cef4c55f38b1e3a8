// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Many nodes: a hundred joins at one instant, and a hundred nodes of which some fail and return.
 * The tests bound the control traffic of each node. tests/bench has 490 nodes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/defs.h"
#include "proto/overlay_ops.h"
#include "proto/view.h"
#include "sim.h"

/* AddressSanitizer makes each of the N * N messages a second several times as expensive. */
#ifdef __SANITIZE_ADDRESS__
#define JOINERS 40
#define MANY	40
#else
#define JOINERS 100
#define MANY	100
#endif
#define SETTLED 50

static double rate(struct sim *s, unsigned n_up, int64_t ms)
{
	uint64_t before = sim_tx_bytes(s);

	sim_run(s, ms);
	return (double)(sim_tx_bytes(s) - before) * 1000.0 / (double)ms / n_up;
}

static void random_delays(struct sim *s)
{
	for (unsigned a = 0; a < s->n; a++)
		for (unsigned b = a + 1; b < s->n; b++)
			sim_set_rtt(s, a, b, 5000 + (int64_t)(sim_random(s) % 200000));
}

/* PINGs that a peer could not answer yet are no loss of a link. */
static void assert_no_loss(struct sim *s)
{
	struct overlay_link l;

	for (unsigned i = 0; i < s->n; i++)
		for (unsigned k = 0; k < s->n; k++)
			if (i != k && overlay_link(s->node[i].o, sim_slot(s, i, k), &l))
				assert_int_equal(l.filter.loss_pm, 0);
}

static void test_many_join_at_once(void **state)
{
	struct sim *s = sim_new(JOINERS, 1);
	int64_t took;
	uint64_t max = 0;

	(void)state;
	random_delays(s);
	for (unsigned i = 0; i < s->n; i++) {
		if (i)
			sim_seed_of(s, i, i < 3 ? 0 : i % 3);
		sim_boot(s, i);
	}
	took = sim_until(s, sim_converged, NULL, 30000);
	for (unsigned i = 0; i < s->n; i++)
		max = max_of(max, s->node[i].tx_bytes);
	printf("# converged after %lld ms; %.0f KB sent by a node on average, %.0f KB at most\n",
	       (long long)took, (double)sim_tx_bytes(s) / 1000 / s->n, (double)max / 1000);
	assert_true(took >= 0);
	assert_true(sim_tx_bytes(s) / s->n < 3000000);
	sim_run(s, 2000);
	assert_no_loss(s);
	sim_free(s);
}

/* A node joins a settled overlay. Each of its links moves one row in each direction, and one change
 * that follows. */
static void test_a_join_moves_each_row_once(void **state)
{
	struct sim *s = sim_new(SETTLED + 1, 3);
	const struct overlay_counters *c;
	uint64_t rx, tx;

	(void)state;
	random_delays(s);
	for (unsigned i = 0; i < SETTLED; i++) {
		if (i)
			sim_seed_of(s, i, 0);
		sim_boot(s, i);
	}
	assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
	sim_run(s, 20000);
	sim_seed_of(s, SETTLED, 0);
	sim_boot(s, SETTLED);
	assert_true(sim_until(s, sim_converged, NULL, 10000) >= 0);
	sim_run(s, 1000);
	c = overlay_counters(s->node[SETTLED].o);
	rx = c->rx_by_type[MSG_ROW] + c->rx_by_type[MSG_SHORT_ROW];
	tx = c->tx_by_type[MSG_ROW] + c->tx_by_type[MSG_SHORT_ROW];
	printf("# %u members: %llu messages with rows sent, %llu received\n", SETTLED,
	       (unsigned long long)tx, (unsigned long long)rx);
	assert_in_range(rx, SETTLED, SETTLED * 5 / 2);
	assert_in_range(tx, SETTLED, SETTLED * 5 / 2);
	assert_in_range(c->tx_by_type[MSG_ROW], 0, SETTLED / 10);
	sim_free(s);
}

/* Both halves lose the other half within a moment. The daemon walks tables in each call of purge().
 */
static void test_a_partition_purges_in_few_calls(void **state)
{
	struct sim *s = sim_new(20, 4);

	(void)state;
	for (unsigned i = 0; i < s->n; i++) {
		s->node[i].conf->forget_ms = 30000;
		if (i)
			sim_seed_of(s, i, 0);
		sim_boot(s, i);
	}
	assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
	sim_run(s, 10000);
	sim_partition(s, 10, true);
	sim_run(s, 10000);
	for (unsigned i = 0; i < s->n; i++) {
		assert_int_equal(s->node[i].n_purges, 10);
		assert_in_range(s->node[i].n_purge_calls, 1, 4);
	}
	/* The nodes are purged again when they are forgotten. */
	sim_run(s, 40000);
	for (unsigned i = 0; i < s->n; i++) {
		assert_int_equal(s->node[i].n_events[EV_FORGOTTEN], 10);
		assert_int_equal(s->node[i].n_purges, 20);
		assert_in_range(s->node[i].n_purge_calls, 2, 9);
	}
	sim_free(s);
}

static void test_many_nodes(void **state)
{
	const char *env = getenv("SIM_MANY");
	struct sim *s = sim_new(env ? (unsigned)strtoul(env, NULL, 10) : MANY, 2);
	unsigned n_dead = 0;
	double settled;
	int64_t took;

	(void)state;
	random_delays(s);
	for (unsigned i = 0; i < s->n; i++) {
		if (i)
			sim_seed_of(s, i, i < 5 ? 0 : i % 5);
		sim_boot(s, i);
		if (i % 10 == 0)
			sim_run(s, 100);
	}
	took = sim_until(s, sim_converged, NULL, 60000);
	printf("# converged after %lld ms\n", (long long)took);
	assert_true(took >= 0);
	sim_run(s, 25000);
	settled = rate(s, s->n, 5000);
	printf("# settled: %.1f KB/s a node\n", settled / 1000);
	assert_true(settled < 20000);
	/* A tenth of the nodes fails at once, including seeds. */
	for (unsigned i = 0; i < s->n; i += 10) {
		sim_kill(s, i);
		n_dead++;
	}
	printf("# %u died: %.1f KB/s a node\n", n_dead, rate(s, s->n - n_dead, 10000) / 1000);
	for (unsigned i = 1; i < s->n; i += 10)
		for (unsigned k = 0; k < s->n; k++)
			if (k != i)
				assert_int_equal(sim_state(s, i, k),
						 k % 10 ? NODE_REACHABLE : NODE_UNREACHABLE);
	for (unsigned i = 0; i < s->n; i += 10)
		sim_boot(s, i);
	took = sim_until(s, sim_converged, NULL, 60000);
	printf("# back after %lld ms\n", (long long)took);
	assert_true(took >= 0);
	for (unsigned i = 0; i < s->n; i++)
		assert_int_equal(s->node[i].n_fast_flaps, 0);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_join_at_once),
		cmocka_unit_test(test_a_join_moves_each_row_once),
		cmocka_unit_test(test_a_partition_purges_in_few_calls),
		cmocka_unit_test(test_many_nodes),
	};

	cmocka_set_test_filter(getenv("SIM_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
