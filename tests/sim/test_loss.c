// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loss of data while PINGs pass (decision 021). Middle boxes on a link or relays with forged
 * counters drop data. Some tests have no loss and expect no alarm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "proto/core.h"
#include "../length.h"
#include "proto/view.h"
#include "sim.h"

#define MOVES_MS  3000 /* limit from the first loss to a working path */
#define BROKEN_MS LENGTH(3600000, 600000)

static void boot_and_settle(struct sim *s)
{
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 30000);
}

/* 0 and 1 are far from each other. The path over 2 is the best, then over 3, then over 4. */
static void set_diamond(struct sim *s)
{
	sim_set_rtt(s, 0, 1, 200000);
	for (unsigned r = 2; r < 5; r++) {
		sim_set_rtt(s, 0, r, 10000 * r);
		sim_set_rtt(s, r, 1, 10000 * r);
	}
}

static struct sim *new_diamond(uint64_t seed)
{
	struct sim *s = sim_new(5, seed);

	set_diamond(s);
	boot_and_settle(s);
	return s;
}

static unsigned via(struct sim *s, unsigned a, unsigned b)
{
	unsigned hop[LEON_HOPS_MAX] = { 0 };

	return sim_path(s, a, b, hop) ? hop[0] : SIM_NODES_MAX;
}

static uint16_t said_loss(struct sim *s, unsigned at, unsigned from, unsigned to)
{
	return latdb_get(overlay_latdb(s->node[at].o), sim_slot(s, at, from), sim_slot(s, at, to))
		.loss_pm;
}

/* From now on this is the largest gap between two arrivals. */
static void expect_gap(struct sim *s, struct sim_flow *f, int64_t run_ms, int64_t most_ms)
{
	sim_flow_mark(f);
	sim_run(s, run_ms);
	if (sim_flow_gap_ms(f) > most_ms)
		print_error("gap of %lld ms\n", (long long)sim_flow_gap_ms(f));
	assert_true(sim_flow_gap_ms(f) <= most_ms);
}

static void a_link_that_drops_data_is_left(void **state)
{
	struct sim *s = sim_new(3, 101);
	struct sim_flow *there, *back;

	(void)state;
	boot_and_settle(s);
	there = sim_flow_start(s, 0, 1, 10000);
	back = sim_flow_start(s, 1, 0, 10000);
	sim_run(s, 5000);
	assert_int_equal(via(s, 0, 1), 1);
	sim_link(s, 0, 1)->data_down = true;
	expect_gap(s, there, 20000, MOVES_MS);
	assert_true(sim_flow_gap_ms(back) < 100);
	assert_int_equal(via(s, 0, 1), 2);
	assert_int_equal(via(s, 1, 0), 0);
	assert_int_equal(s->node[0].n_events[EV_DATA_LOSS], 1);
	assert_int_equal(sim_events(s, EV_DATA_LOSS), 1);
	assert_int_equal(sim_events(s, EV_LINK_DOWN), 0);
	/* All nodes know the loss of this direction, and of no other link. */
	for (unsigned i = 0; i < 3; i++) {
		assert_true(said_loss(s, i, 0, 1) >= 100);
		assert_int_equal(said_loss(s, i, 1, 0), 0);
		assert_int_equal(said_loss(s, i, 0, 2), 0);
	}
	sim_free(s);
}

/* The honest relay detects the loss of its own link, and no node avoids the relay. */
static void the_link_behind_a_relay_is_blamed(void **state)
{
	struct sim *s = new_diamond(102);
	struct sim_flow *f = sim_flow_start(s, 0, 1, 10000);

	(void)state;
	sim_run(s, 5000);
	assert_int_equal(via(s, 0, 1), 2);
	sim_link(s, 2, 1)->data_down = true;
	expect_gap(s, f, 20000, MOVES_MS);
	assert_int_equal(via(s, 0, 1), 3);
	assert_int_equal(s->node[2].n_events[EV_DATA_LOSS], 1);
	assert_int_equal(sim_events(s, EV_DATA_LOSS), 1);
	assert_true(said_loss(s, 0, 2, 1) >= 100);
	sim_free(s);
}

static void the_link_in_front_of_a_relay_is_blamed(void **state)
{
	struct sim *s = new_diamond(103);
	struct sim_flow *f = sim_flow_start(s, 0, 1, 10000);

	(void)state;
	sim_run(s, 5000);
	sim_link(s, 0, 2)->data_down = true;
	expect_gap(s, f, 20000, MOVES_MS);
	assert_int_equal(via(s, 0, 1), 3);
	assert_int_equal(s->node[0].n_events[EV_DATA_LOSS], 1);
	assert_int_equal(sim_events(s, EV_DATA_LOSS), 1);
	assert_true(said_loss(s, 0, 0, 2) >= 100);
	sim_free(s);
}

/* The relay and its links report no loss. Only the two ends can detect the loss. */
static void a_relay_that_swallows_is_left(void **state)
{
	struct sim *s;
	struct sim_flow *f;
	uint64_t tx, lost;
	const uint16_t *relay;

	for (enum sim_liar how = SIM_SWALLOWS_DATA; how <= SIM_SWALLOWS_ALL; how++) {
		s = new_diamond(104);
		f = sim_flow_start(s, 0, 1, 10000);
		(void)state;
		sim_run(s, 5000);
		s->node[2].liar = how;
		expect_gap(s, f, 20000, MOVES_MS);
		assert_int_equal(via(s, 0, 1), 3);
		assert_int_equal(s->node[0].n_events[EV_DATA_LOSS], 1);
		/* No link gets a loss value, because a relay may forge its counters. */
		assert_int_equal(sim_events(s, EV_DATA_LOSS), 1);
		for (unsigned i = 0; i < 5; i++)
			assert_true(said_loss(s, i, 2, 1) < 50 && said_loss(s, i, 0, 2) < 50);
		assert_int_equal(
			overlay_path_data(s->node[0].o, sim_slot(s, 0, 1), &tx, &lost, &relay), 1);
		assert_int_equal(relay[0], sim_slot(s, 0, 2));
		/* The next relay drops data too. */
		s->node[3].liar = how;
		expect_gap(s, f, 20000, MOVES_MS);
		assert_int_equal(via(s, 0, 1), 4);
		sim_run(s, 120000);
		assert_true(s->node[0].n_events[EV_DATA_LOSS_OVER] > 0);
		assert_int_not_equal(s->node[0].last_other[EV_DATA_LOSS_OVER], NODE_ID_NONE);
		sim_free(s);
	}
}

/* Node 1 reports zero received datagrams. The report affects only data to 1, and no other node is
 * blamed. */
static void who_forges_counters_harms_itself(void **state)
{
	struct sim *s = new_diamond(105);

	(void)state;
	sim_set_rtt(s, 0, 3, 200000);
	sim_run(s, 60000);
	assert_int_equal(via(s, 0, 3), 2);
	sim_flow_start(s, 0, 1, 10000);
	sim_flow_start(s, 0, 3, 10000);
	sim_flow_start(s, 4, 1, 10000);
	s->node[1].forges_counters = true;
	sim_run(s, 30000);
	assert_int_equal(via(s, 0, 3), 2);
	assert_int_equal(sim_state(s, 0, 1), NODE_REACHABLE);
	for (unsigned i = 0; i < 5; i++)
		for (unsigned a = 0; a < 5; a++)
			for (unsigned b = 0; b < 5; b++)
				if (a != b && b != 1 && a != 1)
					assert_int_equal(said_loss(s, i, a, b), 0);
	sim_free(s);
}

/* Without another path, data continues on the lossy one, and the node stays reachable. A recovery
 * is detected within seconds. */
static void the_last_way_is_kept(void **state)
{
	struct sim *s = sim_new(2, 106);

	(void)state;
	boot_and_settle(s);
	sim_flow_start(s, 0, 1, 10000);
	sim_run(s, 2000);
	sim_link(s, 0, 1)->data_down = true;
	sim_run(s, 300000);
	assert_int_equal(via(s, 0, 1), 1);
	assert_int_equal(sim_state(s, 0, 1), NODE_REACHABLE);
	assert_int_equal(sim_events(s, EV_UNREACHABLE), 0);
	assert_int_equal(s->node[0].n_events[EV_DATA_LOSS], 1);
	sim_link(s, 0, 1)->data_down = false;
	sim_run(s, 10000);
	assert_int_equal(s->node[0].n_events[EV_DATA_LOSS_OVER], 1);
	assert_int_equal(said_loss(s, 1, 0, 1), 0);
	sim_free(s);
}

/* A path that stays broken is tried ever less often, and a repaired path is used again. */
static void it_is_tried_again_but_seldom(void **state)
{
	struct sim *s = new_diamond(107);
	struct sim_flow *f = sim_flow_start(s, 0, 1, 20000);

	(void)state;
	sim_run(s, 5000);
	s->node[2].liar = SIM_SWALLOWS_DATA;
	expect_gap(s, f, BROKEN_MS, MOVES_MS);
	assert_in_range(s->node[0].n_events[EV_DATA_LOSS], LENGTH(4, 2), LENGTH(7, 5));
	s->node[2].liar = SIM_HONEST;
	sim_run(s, BROKEN_MS);
	assert_int_equal(via(s, 0, 1), 2);
	sim_free(s);
	s = new_diamond(108);
	f = sim_flow_start(s, 0, 1, 20000);
	sim_run(s, 5000);
	sim_link(s, 2, 1)->data_down = true;
	expect_gap(s, f, BROKEN_MS, MOVES_MS);
	assert_in_range(s->node[2].n_events[EV_DATA_LOSS], LENGTH(4, 2), LENGTH(7, 5));
	sim_link(s, 2, 1)->data_down = false;
	sim_run(s, BROKEN_MS);
	assert_int_equal(via(s, 0, 1), 2);
	sim_free(s);
}

/* Partial loss with little traffic is detected as well. */
static void half_of_it_and_a_slow_flow(void **state)
{
	struct sim *s = new_diamond(109);
	struct sim_flow *slow;

	(void)state;
	sim_flow_start(s, 0, 1, 5000);
	sim_run(s, 5000);
	sim_link(s, 2, 1)->data_loss_pm = 300;
	sim_run(s, 3000);
	assert_int_equal(via(s, 0, 1), 3);
	assert_int_equal(s->node[2].n_events[EV_DATA_LOSS], 1);
	sim_free(s);
	s = new_diamond(110);
	slow = sim_flow_start(s, 0, 1, 1000000);
	sim_run(s, 5000);
	s->node[2].liar = SIM_SWALLOWS_DATA;
	expect_gap(s, slow, 40000, 15000);
	sim_free(s);
}

/* No false alarm by loss of PINGs, jitter, steps of the round-trip time, bursts, restarts and
 * changes of path. */
static void no_false_alarm(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= LENGTH(12, 2); seed++) {
		struct sim *s = new_diamond(200 + seed);
		struct sim_link bad = {
			.mtu = 1472, .delay_us = 20000, .jitter_us = 60000, .dup_pm = 20
		};

		sim_flow_start(s, 0, 1, 1000);
		sim_flow_start(s, 1, 0, 30000);
		sim_flow_start(s, 0, 3, 700000);
		sim_flow_start(s, 2, 4, 7000);
		for (unsigned round = 0; round < 20; round++) {
			unsigned a = (unsigned)(sim_random(s) % 5), b = (a + 1 + round % 4) % 5;

			sim_set_rtt(s, a, b, (int64_t)(5000 + sim_random(s) % 400000));
			if (round % 5 == 4)
				*sim_link(s, a, b) = bad;
			if (round % 7 == 3) {
				sim_kill(s, 4);
				sim_run(s, 300);
				sim_boot(s, 4);
			}
			sim_set_down(s, 1, 2, round % 6 == 1);
			sim_run(s, (int64_t)(500 + sim_random(s) % 20000));
		}
		if (sim_events(s, EV_DATA_LOSS))
			print_error("seed %llu\n", (unsigned long long)s->seed);
		assert_int_equal(sim_events(s, EV_DATA_LOSS), 0);
		sim_free(s);
	}
}

static uint64_t pings(struct sim *s)
{
	return overlay_counters(s->node[0].o)->tx_by_type[MSG_PING];
}

/* Without data there are no extra PINGs. With data there are four PINGs a second to a node behind
 * relays. */
static void it_costs_little(void **state)
{
	struct sim *s = new_diamond(111);
	uint64_t before = pings(s), idle;

	(void)state;
	sim_run(s, 60000);
	idle = pings(s) - before;
	assert_in_range(idle, 4 * 55, 4 * 65);
	sim_flow_start(s, 0, 1, 1000);
	before = pings(s);
	sim_run(s, 60000);
	/* One link is in use and probed ten times a second. */
	assert_in_range(pings(s) - before - idle, 60 * 9 + 60 * 3, 60 * 11 + 60 * 6);
	sim_free(s);
}

/* The kernel refused data to other nodes over the first link while the path was idle. */
static void refused_data_of_others_hides_no_data(void **state)
{
	struct sim *s = new_diamond(112);
	struct sim_flow *f;

	(void)state;
	s->node[0].traffic[2].refused += 100000;
	sim_run(s, 2000);
	s->node[2].liar = SIM_SWALLOWS_DATA;
	f = sim_flow_start(s, 0, 1, 10000);
	expect_gap(s, f, 20000, MOVES_MS);
	assert_int_equal(via(s, 0, 1), 3);
	sim_free(s);
}

/* The first PING of a new path is answered, and data begins long before the next one. */
static void data_on_a_new_path_is_watched(void **state)
{
	struct sim *s = sim_new(5, 113);
	struct sim_flow *f;

	(void)state;
	set_diamond(s);
	for (unsigned i = 0; i < s->n; i++)
		s->node[i].conf->interval_ms = 20000;
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 120000) >= 0);
	sim_run(s, 120000);
	sim_kill(s, 2);
	for (unsigned i = 0; i < 1200 && via(s, 0, 1) != 3; i++)
		sim_run(s, 100);
	assert_int_equal(via(s, 0, 1), 3);
	sim_run(s, 500);
	s->node[3].liar = SIM_SWALLOWS_DATA;
	f = sim_flow_start(s, 0, 1, 10000);
	expect_gap(s, f, 15000, MOVES_MS);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_that_drops_data_is_left),
		cmocka_unit_test(the_link_behind_a_relay_is_blamed),
		cmocka_unit_test(the_link_in_front_of_a_relay_is_blamed),
		cmocka_unit_test(a_relay_that_swallows_is_left),
		cmocka_unit_test(who_forges_counters_harms_itself),
		cmocka_unit_test(the_last_way_is_kept),
		cmocka_unit_test(it_is_tried_again_but_seldom),
		cmocka_unit_test(half_of_it_and_a_slow_flow),
		cmocka_unit_test(no_false_alarm),
		cmocka_unit_test(it_costs_little),
		cmocka_unit_test(refused_data_of_others_hides_no_data),
		cmocka_unit_test(data_on_a_new_path_is_watched),
	};

	cmocka_set_test_filter(getenv("SIM_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
