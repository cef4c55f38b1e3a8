// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The two paths of critical frames: chosen slowly, disjoint, replaced at once if one breaks. A much
 * slower path is not used. There is no second path either if the path in use is good enough, or if
 * a node does not support copies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "proto/view.h"
#include "sim.h"
#include "state/latency/choice.h"
#include "state/latency/pair.h"
#include "state/tables/snap.h"

#define MESH 5

/* All nodes have the policy. The direct link takes 40 ms, relays 2 and 3 are better, 4 is
 * distant. */
static struct sim *new_mesh(void)
{
	struct sim *s = sim_new(MESH, 11);

	sim_set_all(s, (struct sim_link){ .delay_us = 100000, .mtu = 1472 });
	sim_set_rtt(s, 0, 1, 40000);
	for (unsigned k = 2; k < 4; k++) {
		sim_set_rtt(s, 0, k, 10000 + 2000 * k);
		sim_set_rtt(s, k, 1, 10000 + 2000 * k);
	}
	for (unsigned i = 0; i < MESH; i++) {
		s->node[i].conf->policy =
			(struct policy){ .duplicate = true, .extra_delay_us = 30000 };
		if (i)
			sim_seed_of(s, i, 0);
		sim_boot(s, i);
	}
	sim_run(s, 60000);
	return s;
}

static const struct pairing *pair(struct sim *s)
{
	return overlay_pair(s->node[0].o, sim_slot(s, 0, 1));
}

static void expect_way(struct sim *s, const struct path *p, unsigned relay)
{
	if (!relay) {
		assert_int_equal(p->n_hops, 1);
		return;
	}
	assert_int_equal(p->n_hops, 2);
	assert_int_equal(p->hop[0], sim_slot(s, 0, relay));
}

static bool is_twice(struct sim *s, void *arg)
{
	(void)arg;
	return pair(s)->state == PAIR_TWICE;
}

/* The snapshot of node 0 for its workers. */
static struct snap *snapshot(struct sim *s)
{
	struct snap *snap = snap_new(nodedb_slots(overlay_nodes(s->node[0].o)));

	snap->self = s->node[0].id;
	snap_set_policy(snap, &s->node[0].conf->policy);
	overlay_fill_snap(s->node[0].o, snap);
	snap_finish(snap);
	return snap;
}

static void test_disjoint_and_slow(void **state)
{
	struct sim *s = new_mesh();
	struct snap *snap;
	uint64_t changes;

	(void)state;
	assert_true(is_twice(s, NULL));
	expect_way(s, &pair(s)->way.first, 0);
	expect_way(s, &pair(s)->way.path, 2);
	snap = snapshot(s);
	assert_true(snap->pair[sim_slot(s, 0, 1)].first.has_path);
	assert_int_equal(snap->pair[sim_slot(s, 0, 1)].first.n_hops, 1);
	assert_int_equal(snap->pair[sim_slot(s, 0, 1)].second.n_hops, 2);
	snap_free(snap);
	/* RTT variation, and a relay that is slightly better for some time. */
	changes = pair(s)->way.n_changes;
	sim_set_rtt(s, 0, 3, 14000);
	for (unsigned i = 0; i < MESH; i++)
		for (unsigned k = 0; k < MESH; k++)
			sim_link(s, i, k)->jitter_us = 4000;
	sim_run(s, 600000);
	assert_in_range(pair(s)->way.n_changes, changes, changes + 1);
	assert_true(is_twice(s, NULL));
	sim_free(s);
}

static void test_left_at_once(void **state)
{
	struct sim *s = new_mesh();

	(void)state;
	sim_kill(s, 2);
	assert_true(sim_until(s, is_twice, NULL, 1) >= 0);
	sim_run(s, 6000);
	assert_true(is_twice(s, NULL));
	expect_way(s, &pair(s)->way.first, 0);
	expect_way(s, &pair(s)->way.path, 3);
	sim_set_down(s, 0, 1, true);
	sim_run(s, 6000);
	/* Without the direct link only the relay remains near. */
	expect_way(s, &pair(s)->way.first, 3);
	assert_int_equal(pair(s)->state, PAIR_TOO_SLOW);
	sim_free(s);
}

static void test_slow_direct_link_makes_place(void **state)
{
	struct sim *s = new_mesh();

	(void)state;
	for (unsigned i = 0; i < MESH; i++)
		s->node[i].conf->long_term_s = 60;
	sim_set_rtt(s, 0, 1, 300000);
	sim_run(s, 600000);
	assert_true(is_twice(s, NULL));
	expect_way(s, &pair(s)->way.first, 2);
	expect_way(s, &pair(s)->way.path, 3);
	sim_set_rtt(s, 0, 1, 20000);
	sim_run(s, 20000000);
	expect_way(s, &pair(s)->way.first, 0);
	/* Either relay is valid, because the difference is small. */
	assert_int_equal(pair(s)->way.path.n_hops, 2);
	assert_true(is_twice(s, NULL));
	sim_free(s);
}

static void test_too_slow(void **state)
{
	struct sim *s = new_mesh();

	(void)state;
	s->node[0].conf->policy.extra_delay_us = 500;
	overlay_set_conf(s->node[0].o, s->node[0].conf);
	sim_run(s, 5000);
	/* Both relays without the direct link differ by 4 ms. */
	assert_int_equal(pair(s)->state, PAIR_TOO_SLOW);
	sim_free(s);
}

static void test_only_while_it_is_bad(void **state)
{
	struct sim *s = new_mesh();

	(void)state;
	s->node[0].conf->policy.loss_pm = 20;
	overlay_set_conf(s->node[0].o, s->node[0].conf);
	sim_run(s, 5000);
	assert_int_equal(pair(s)->state, PAIR_GOOD);
	/* Holds for any path in use. */
	for (unsigned i = 0; i < MESH; i++)
		for (unsigned k = 0; k < MESH; k++)
			sim_link(s, i, k)->loss_pm = 60;
	assert_true(sim_until(s, is_twice, NULL, 120000) >= 0);
	for (unsigned i = 0; i < MESH; i++)
		for (unsigned k = 0; k < MESH; k++)
			sim_link(s, i, k)->loss_pm = 0;
	sim_run(s, 600000);
	assert_int_equal(pair(s)->state, PAIR_GOOD);
	sim_free(s);
}

/* Parities need loss on the path in use. Frames stay on the path in use, and a node of an older
 * version gets none. */
static void test_parity(void **state)
{
	struct sim *s = new_mesh();
	const struct path *in_use;
	struct snap *snap;
	uint16_t slot = sim_slot(s, 0, 1);

	(void)state;
	s->node[0].conf->policy =
		(struct policy){ .parity = true, .extra_delay_us = 30000, .loss_pm = 10 };
	overlay_set_conf(s->node[0].o, s->node[0].conf);
	sim_run(s, 5000);
	assert_int_equal(pair(s)->state, PAIR_GOOD);
	snap = snapshot(s);
	assert_false(snap->pair[slot].second.has_path);
	snap_free(snap);
	for (unsigned i = 0; i < MESH; i++)
		for (unsigned k = 0; k < MESH; k++)
			sim_link(s, i, k)->loss_pm = 60;
	assert_true(sim_until(s, is_twice, NULL, 120000) >= 0);
	sim_run(s, 10000);
	assert_string_equal(pair_state_name(pair(s)->state, &s->node[0].conf->policy), "parity");
	in_use = &overlay_choice(s->node[0].o, slot)->path;
	snap = snapshot(s);
	if (path_same(in_use, &pair(s)->way.first) || path_same(in_use, &pair(s)->way.path)) {
		assert_int_equal(snap->pair[slot].first.n_hops, in_use->n_hops);
		assert_int_equal(snap->pair[slot].first.hop[0], in_use->hop[0]);
	}
	assert_true(snap->pair[slot].second.has_path);
	assert_int_not_equal(snap->pair[slot].first.hop[0], snap->pair[slot].second.hop[0]);
	snap_free(snap);
	nodedb_find(overlay_nodes(s->node[0].o), s->node[1].id)->rec.flags &=
		(uint16_t)~RECORD_TAKES_PARITY;
	sim_run(s, 5000);
	assert_int_equal(pair(s)->state, PAIR_UNKNOWN);
	sim_free(s);
}

/* Capability that the record of an older version does not announce. */
static void forget_ability(struct sim *s, unsigned of)
{
	nodedb_find(overlay_nodes(s->node[0].o), s->node[of].id)->rec.flags &=
		(uint16_t)~RECORD_TAKES_COPIES;
}

static void test_older_nodes(void **state)
{
	struct sim *s = new_mesh();
	struct snap *snap;

	(void)state;
	forget_ability(s, 2);
	sim_run(s, 5000);
	expect_way(s, &pair(s)->way.path, 3);
	assert_true(is_twice(s, NULL));
	forget_ability(s, 1);
	sim_run(s, 5000);
	assert_int_equal(pair(s)->state, PAIR_UNKNOWN);
	snap = snapshot(s);
	assert_false(snap->pair[sim_slot(s, 0, 1)].second.has_path);
	snap_free(snap);
	sim_free(s);
}

static void test_no_policy(void **state)
{
	struct sim *s = new_mesh();

	(void)state;
	s->node[0].conf->policy.duplicate = false;
	overlay_set_conf(s->node[0].o, s->node[0].conf);
	sim_run(s, 1000);
	assert_int_equal(pair(s)->state, PAIR_OFF);
	sim_free(s);
}

/* Three nodes at equal distances: each pair has the third node as its relay. */
static struct sim *new_triangle(void)
{
	struct sim *s = sim_new(3, 5);

	sim_set_all(s, (struct sim_link){ .delay_us = 5000, .mtu = 1472 });
	for (unsigned i = 0; i < 3; i++) {
		s->node[i].conf->policy =
			(struct policy){ .duplicate = true, .extra_delay_us = 30000 };
		if (i)
			sim_seed_of(s, i, 0);
		sim_boot(s, i);
	}
	sim_run(s, 60000);
	return s;
}

/* Loss does not increase the cost of a second path, because copies compensate loss. */
static void test_loss_makes_no_path_slow(void **state)
{
	static const unsigned lossy[][2] = { { 0, 1 }, { 2, 1 } };
	struct sim *s = new_triangle();

	(void)state;
	for (unsigned k = 0; k < array_size(lossy); k++) {
		sim_link(s, lossy[k][0], lossy[k][1])->loss_pm = 160;
		sim_link(s, lossy[k][1], lossy[k][0])->loss_pm = 160;
		for (unsigned i = 0; i < 600; i++) {
			sim_run(s, 500);
			assert_true(is_twice(s, NULL));
		}
		expect_way(s, &pair(s)->way.first, 0);
		expect_way(s, &pair(s)->way.path, 2);
		sim_link(s, lossy[k][0], lossy[k][1])->loss_pm = 0;
		sim_link(s, lossy[k][1], lossy[k][0])->loss_pm = 0;
		sim_run(s, 60000);
	}
	sim_free(s);
}

static bool relay_loses_data(struct sim *s, void *arg)
{
	struct lat_entry e =
		latdb_get(overlay_latdb(s->node[0].o), sim_slot(s, 0, 2), sim_slot(s, 0, 1));

	(void)arg;
	return e.silent && e.loss_pm;
}

/* A second path with high loss is better than none. */
static void test_better_a_bad_one_than_none(void **state)
{
	struct sim *s = new_triangle();

	(void)state;
	s->node[0].conf->policy.duplicate = false;
	overlay_set_conf(s->node[0].o, s->node[0].conf);
	sim_flow_start(s, 2, 1, 5000);
	sim_run(s, 5000);
	sim_link(s, 2, 1)->data_loss_pm = 300;
	assert_true(sim_until(s, relay_loses_data, NULL, 60000) >= 0);
	s->node[0].conf->policy.duplicate = true;
	overlay_set_conf(s->node[0].o, s->node[0].conf);
	sim_run(s, 5000);
	assert_true(relay_loses_data(s, NULL));
	assert_true(is_twice(s, NULL));
	sim_free(s);
}

static unsigned told(const struct sim *s, enum event_kind k)
{
	return s->node[0].n_events[k];
}

/* No event for the missing node, and none for a short time. */
static void test_people_are_notified(void **state)
{
	struct sim *s = new_triangle();

	(void)state;
	assert_true(is_twice(s, NULL));
	assert_int_equal(told(s, EV_CRITICAL_SINGLE_PATH), 0);
	sim_kill(s, 2);
	sim_run(s, 8000);
	assert_int_equal(told(s, EV_CRITICAL_SINGLE_PATH), 0);
	sim_run(s, 20000);
	assert_int_equal(told(s, EV_CRITICAL_SINGLE_PATH), 1);
	assert_int_equal(told(s, EV_CRITICAL_DUPLICATED), 0);
	sim_boot(s, 2);
	sim_run(s, 120000);
	assert_true(is_twice(s, NULL));
	assert_int_equal(told(s, EV_CRITICAL_SINGLE_PATH), 1);
	assert_int_equal(told(s, EV_CRITICAL_DUPLICATED), 1);
	sim_free(s);
}

/* A relay with changes every 30 s for 20 minutes causes at most one event per minute. */
static void test_people_are_not_notified_too_often(void **state)
{
	struct sim *s = new_triangle();

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		sim_set_down(s, 0, 2, i % 2 == 0);
		sim_set_down(s, 1, 2, i % 2 == 0);
		sim_run(s, 30000);
	}
	assert_in_range(told(s, EV_CRITICAL_SINGLE_PATH), 2, 11);
	assert_in_range(told(s, EV_CRITICAL_SINGLE_PATH) + told(s, EV_CRITICAL_DUPLICATED), 4, 21);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disjoint_and_slow),
		cmocka_unit_test(test_left_at_once),
		cmocka_unit_test(test_slow_direct_link_makes_place),
		cmocka_unit_test(test_too_slow),
		cmocka_unit_test(test_only_while_it_is_bad),
		cmocka_unit_test(test_parity),
		cmocka_unit_test(test_loss_makes_no_path_slow),
		cmocka_unit_test(test_better_a_bad_one_than_none),
		cmocka_unit_test(test_older_nodes),
		cmocka_unit_test(test_no_policy),
		cmocka_unit_test(test_people_are_notified),
		cmocka_unit_test(test_people_are_not_notified_too_often),
	};

	cmocka_set_test_filter(getenv("SIM_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
