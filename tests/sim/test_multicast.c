// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Announcements of multicast groups between nodes: to all, within one way of the link, in spite of
 * loss, again after restarts, and void after them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/view.h"
#include "sim.h"
#include "state/tables/listeners.h"
#include "state/tables/nodedb.h"

#define N 4

static struct sim *four(uint64_t seed)
{
	struct sim *s = sim_new(N, seed);

	for (unsigned i = 0; i < N; i++)
		s->node[i].conf->multicast_snooping = true;
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 5000);
	return s;
}

/* Announces n entries, the last with this group. */
static void announce(struct sim *s, unsigned by, unsigned n, uint32_t greatest)
{
	static uint64_t entry[LISTENERS_MAX];

	for (unsigned i = 0; i < n; i++)
		entry[i] = listener_entry(10, 4, i);
	if (n)
		entry[n - 1] = listener_entry(10, 4, greatest);
	overlay_set_groups(s->node[by].o, entry, n);
}

struct wanted {
	unsigned of, n;
	uint32_t greatest;
};

static bool has(struct sim *s, unsigned at, const struct wanted *w)
{
	const struct sim_groups *g = &s->node[at].groups[w->of];

	return g->n == w->n && (!w->n || listener_group(g->greatest) == w->greatest);
}

static bool all_have(struct sim *s, void *arg)
{
	const struct wanted *w = arg;

	for (unsigned i = 0; i < N; i++)
		if (i != w->of && s->node[i].o && !has(s, i, w))
			return false;
	return true;
}

static void expect_all(struct sim *s, struct wanted w, int64_t within_ms)
{
	assert_true(sim_until(s, all_have, &w, within_ms) >= 0);
}

static void they_arrive_in_one_way(void **state)
{
	struct sim *s = four(1);

	(void)state;
	announce(s, 1, 2, 77); /* links have 10 ms */
	expect_all(s, (struct wanted){ 1, 2, 77 }, 20);
	/* Changes in quick succession are one announcement, 50 ms later at most. */
	for (unsigned i = 0; i < 40; i++) {
		announce(s, 1, 3 + i, 78);
		sim_run(s, 1);
	}
	expect_all(s, (struct wanted){ 1, 42, 78 }, 60);
	assert_true(s->node[2].groups[1].n_calls <= 4);
	/* Nothing is repeated after the acknowledgement. */
	sim_run(s, 60000);
	assert_true(s->node[2].groups[1].n_calls <= 4);
	announce(s, 1, 0, 0);
	expect_all(s, (struct wanted){ 1, 0, 0 }, 100);
	sim_free(s);
}

static void many_parts_with_loss(void **state)
{
	struct sim *s = four(2);

	(void)state;
	sim_set_all(s,
		    (struct sim_link){
			    .delay_us = 20000, .jitter_us = 20000, .loss_pm = 300, .dup_pm = 100 });
	announce(s, 2, LISTENERS_MAX, 5000);
	expect_all(s, (struct wanted){ 2, LISTENERS_MAX, 5000 }, 120000);
	announce(s, 2, 1, 6);
	expect_all(s, (struct wanted){ 2, 1, 6 }, 60000);
	sim_free(s);
}

/* In a large overlay, the messages of a long list leave over time. */
static void many_parts_to_many_nodes(void **state)
{
	struct sim *s = sim_new(40, 6);
	struct nodedb *db;
	uint64_t before, at_once, all;

	(void)state;
	for (unsigned i = 0; i < s->n; i++)
		s->node[i].conf->multicast_snooping = true;
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 5000);
	db = overlay_nodes(s->node[0].o);
	for (unsigned i = 0; i < 160; i++)
		assert_non_null(nodedb_add(db, 0x7f000000u + i, sim_now(s)));
	before = s->node[0].tx_msgs;
	announce(s, 0, LISTENERS_MAX, 5000);
	sim_run(s, 5);
	at_once = s->node[0].tx_msgs - before;
	sim_run(s, 55);
	all = s->node[0].tx_msgs - before;
	assert_true(all >= 39 * 8);
	assert_true(at_once < all / 3);
	sim_free(s);
}

static void a_new_run_receives_all(void **state)
{
	struct sim *s = four(3);

	(void)state;
	announce(s, 1, 2, 7);
	announce(s, 0, 2, 8);
	expect_all(s, (struct wanted){ 1, 2, 7 }, 1000);
	sim_kill(s, 1);
	sim_run(s, 1000);
	sim_boot(s, 1);
	expect_all(s, (struct wanted){ 1, 0, 0 }, 20000);
	/* The others announce theirs to the new run. */
	expect_all(s, (struct wanted){ 0, 2, 8 }, 20000);
	/* The first announcement of a run has number 1 again. */
	announce(s, 1, 2, 9);
	expect_all(s, (struct wanted){ 1, 2, 9 }, 5000);
	sim_leave(s, 1);
	sim_run(s, 1000);
	assert_true(has(s, 0, &(struct wanted){ 1, 0, 0 }));
	sim_free(s);
}

/* An announcement survives a partition and new keys, and changes during the partition arrive. */
static void after_a_partition(void **state)
{
	struct sim *s = four(4);

	(void)state;
	announce(s, 0, 2, 7);
	expect_all(s, (struct wanted){ 0, 2, 7 }, 1000);
	sim_partition(s, 2, true);
	sim_run(s, 20000);
	announce(s, 0, 2, 8);
	sim_run(s, 1000);
	assert_true(has(s, 1, &(struct wanted){ 0, 2, 8 }));
	assert_true(has(s, 3, &(struct wanted){ 0, 2, 7 }));
	sim_partition(s, 2, false);
	expect_all(s, (struct wanted){ 0, 2, 8 }, 60000);
	sim_run(s, 2 * 3600 * 1000);
	assert_true(all_have(s, &(struct wanted){ 0, 2, 8 }));
	sim_free(s);
}

static void configure(struct sim *s, unsigned i, bool snooping)
{
	/* The overlay compares two configurations. */
	struct conf old = *s->node[i].conf;

	overlay_set_conf(s->node[i].o, &old);
	s->node[i].conf->multicast_snooping = snooping;
	overlay_set_conf(s->node[i].o, s->node[i].conf);
}

static void only_to_nodes_that_snoop(void **state)
{
	struct sim *s = four(5);

	(void)state;
	configure(s, 3, false);
	sim_run(s, 2000);
	announce(s, 0, 2, 7);
	sim_run(s, 2000);
	assert_true(has(s, 1, &(struct wanted){ 0, 2, 7 }));
	assert_true(has(s, 3, &(struct wanted){ 0, 0, 0 }));
	configure(s, 3, true);
	expect_all(s, (struct wanted){ 0, 2, 7 }, 5000);
	/* A node that stops snooping forgets all, because the others announce no changes. */
	configure(s, 3, false);
	assert_true(has(s, 3, &(struct wanted){ 0, 0, 0 }));
	sim_run(s, 2000);
	configure(s, 3, true);
	expect_all(s, (struct wanted){ 0, 2, 7 }, 5000);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_arrive_in_one_way),
		cmocka_unit_test(many_parts_with_loss),
		cmocka_unit_test(many_parts_to_many_nodes),
		cmocka_unit_test(a_new_run_receives_all),
		cmocka_unit_test(after_a_partition),
		cmocka_unit_test(only_to_nodes_that_snoop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
