// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Machines that read their input at long intervals, as a thread without CPU time does. All input of
 * an interval is processed at one instant: answers of all nodes, repeated answers, several records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/defs.h"
#include "../length.h"
#include "proto/core.h"
#include "proto/overlay_ops.h"
#include "proto/view.h"
#include "sim.h"
#include "state/tables/nodedb.h"

#define NODES 6

static void expect_calm(const struct sim *s)
{
	assert_int_equal(sim_events(s, EV_UNREACHABLE), 0);
	assert_int_equal(sim_events(s, EV_LINK_DOWN), 0);
}

static void live_through(int64_t turn_ms, uint64_t seed)
{
	struct sim *s = sim_new(NODES, seed);

	sim_set_rtt(s, 0, 1, 200000);
	s->turn_us = turn_ms * 1000;
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 60000) >= 0);
	for (unsigned i = 1; i < NODES; i++)
		sim_flow_start(s, 0, i, 10000);
	sim_run(s, 120000);
	expect_calm(s);
	sim_kill(s, 3);
	sim_run(s, 20000);
	assert_int_equal(sim_state(s, 0, 3), NODE_UNREACHABLE);
	sim_boot(s, 3);
	assert_true(sim_until(s, sim_converged, NULL, 60000) >= 0);
	sim_free(s);
}

/* Up to three times the messages of a second arrive at once. With more than a second, links may go
 * down. */
static void what_comes_at_once_is_taken(void **state)
{
	static const int64_t turns_ms[] = { 3, 20, 100, 250, 500 };

	(void)state;
	for (unsigned i = 0; i < array_size(turns_ms); i++)
		for (uint64_t seed = 1; seed <= LENGTH(4, 1); seed++)
			live_through(turns_ms[i], 900 + 10 * i + seed);
}

#define LOAD_MS 10000

struct load {
	uint64_t messages, path_runs;
};

static struct load load_in(struct sim *s, int64_t ms)
{
	struct load l = { 0 };

	for (unsigned i = 0; i < s->n; i++) {
		l.messages -= overlay_counters(s->node[i].o)->tx_msgs;
		l.path_runs -= overlay_counters(s->node[i].o)->path_runs;
	}
	sim_run(s, ms);
	for (unsigned i = 0; i < s->n; i++) {
		l.messages += overlay_counters(s->node[i].o)->tx_msgs;
		l.path_runs += overlay_counters(s->node[i].o)->path_runs;
	}
	printf("a node: %.1f messages and %.2f path computations a second\n",
	       (double)l.messages * 1000 / s->n / ms, (double)l.path_runs * 1000 / s->n / ms);
	return l;
}

/* A network or a machine that loses most messages because it is overloaded does not get many times
 * the load in return. */
static void loss_does_not_multiply_the_load(void **state)
{
	struct sim *s = sim_new(30, 31);
	struct load settled, loss;

	(void)state;
	for (unsigned a = 0; a < s->n; a++)
		for (unsigned b = a + 1; b < s->n; b++)
			sim_set_rtt(s, a, b, 20000 + 1000 * ((a * 7 + b * 13) % 80));
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 60000) >= 0);
	sim_run(s, 30000);
	settled = load_in(s, LOAD_MS);
	for (size_t i = 0; i < (size_t)s->n * s->n; i++)
		s->link[i].loss_pm = 600;
	loss = load_in(s, LOAD_MS);
	assert_in_range(loss.messages, 0, 12 * settled.messages);
	assert_in_range(loss.path_runs, 0, s->n * LOAD_MS / 50);
	sim_free(s);
}

/* A long series of failures somewhere among many nodes does not delay a path around a failure. */
static void failures_of_others_do_not_delay_for_seconds(void **state)
{
	struct sim *s = sim_new(3, 33);
	struct overlay *o;
	uint64_t before;

	(void)state;
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 60000) >= 0);
	o = s->node[0].o;
	for (unsigned i = 0; i < 500; i++) /* without a record they stay for 60 s */
		nodedb_add(overlay_nodes(o), 0x0b000001 + i, sim_now(s));
	for (unsigned i = 0; i < 100; i++) {
		schedule_paths_now(o);
		sim_run(s, 100);
	}
	before = overlay_counters(o)->path_runs;
	schedule_paths_now(o);
	sim_run(s, 200);
	assert_true(overlay_counters(o)->path_runs > before);
	sim_free(s);
}

static void a_series_of_failures_ends(void **state)
{
	struct sim *s = sim_new(3, 34);
	struct overlay *o;

	(void)state;
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 60000) >= 0);
	o = s->node[0].o;
	for (unsigned i = 0; i < 500; i++) {
		schedule_row(o, ROW_NOW);
		sim_run(s, 20);
	}
	sim_run(s, 60000);
	schedule_row(o, ROW_NOW);
	sim_run(s, 60);
	schedule_row(o, ROW_NOW);
	assert_in_range(mono_sub_ms(o->announce.at, sim_now(s)), 0, 100);
	sim_free(s);
}

/* Nodes without a direct link stay reachable, although the relay is away for two seconds. */
static void a_pause_of_the_relay_is_no_failure(void **state)
{
	struct sim *s = sim_new(3, 36);
	unsigned before;

	(void)state;
	sim_set_down(s, 1, 2, true);
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 60000) >= 0);
	sim_run(s, 30000);
	before = sim_events(s, EV_UNREACHABLE);
	for (unsigned i = 0; i < 60; i++) {
		sim_set_down(s, 0, 1, true);
		sim_set_down(s, 0, 2, true);
		sim_run(s, 2000);
		sim_set_down(s, 0, 1, false);
		sim_set_down(s, 0, 2, false);
		sim_run(s, 10000);
	}
	assert_int_equal(sim_events(s, EV_UNREACHABLE), before);
	sim_free(s);
}

/* A reload applies at one node. The last message of a node without a direct link is many of the new
 * intervals old. */
static void a_shorter_interval_is_no_failure(void **state)
{
	struct sim *s = sim_new(3, 36);
	struct conf quick;
	unsigned before;

	(void)state;
	for (unsigned i = 0; i < s->n; i++)
		s->node[i].conf->interval_ms = 20000;
	sim_set_down(s, 1, 2, true);
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 300000) >= 0);
	sim_run(s, 600000);
	before = sim_events(s, EV_UNREACHABLE);
	quick = *s->node[1].conf;
	quick.interval_ms = 1000;
	overlay_set_conf(s->node[1].o, &quick);
	sim_run(s, 120000);
	assert_int_equal(sim_events(s, EV_UNREACHABLE), before);
	/* A failure is noticed with the new interval. */
	sim_set_down(s, 0, 1, true);
	sim_run(s, 15000);
	assert_int_equal(s->node[1].n_events[EV_UNREACHABLE], 2);
	sim_free(s);
}

static bool is_linked(struct sim *s, void *arg)
{
	const struct peer *p = peer_find(s->node[1].o, s->node[2].id);

	(void)arg;
	return p && peer_is_alive(s->node[1].o, p);
}

/* The former time does not delay the HELLO to a node that is lost later. */
static void a_shorter_interval_delays_no_hello(void **state)
{
	struct sim *s = sim_new(3, 36);
	struct conf quick[3];

	(void)state;
	for (unsigned i = 0; i < s->n; i++)
		s->node[i].conf->interval_ms = 60000;
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 300000) >= 0);
	sim_run(s, 600000);
	for (unsigned i = 0; i < s->n; i++) {
		quick[i] = *s->node[i].conf;
		quick[i].interval_ms = 1000;
		overlay_set_conf(s->node[i].o, &quick[i]);
	}
	sim_run(s, 182000);
	sim_set_down(s, 0, 1, true);
	sim_set_down(s, 1, 2, true);
	sim_run(s, 20000);
	assert_false(is_linked(s, NULL));
	sim_set_down(s, 1, 2, false);
	assert_in_range(sim_until(s, is_linked, NULL, 300000), 0, 15000);
	sim_free(s);
}

/* PINGs that stayed unanswered before their path became direct count no more. */
static void a_former_outage_does_not_slow_down_pings(void **state)
{
	struct sim *s = sim_new(65, 36);
	unsigned before;

	(void)state;
	for (unsigned i = 2; i < s->n; i++)
		sim_set_down(s, 1, i, true);
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 60000) >= 0);
	sim_run(s, 30000);
	for (unsigned i = 3; i < s->n; i++)
		peer_find(s->node[2].o, s->node[i].id)->path_probe.n_unanswered = 2;
	before = s->node[2].n_events[EV_UNREACHABLE];
	for (unsigned i = 0; i < LENGTH(10, 2); i++) {
		sim_set_down(s, 0, 1, true);
		sim_run(s, 2200);
		sim_set_down(s, 0, 1, false);
		sim_run(s, 10000);
	}
	assert_int_equal(s->node[2].n_events[EV_UNREACHABLE], before);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_comes_at_once_is_taken),
		cmocka_unit_test(loss_does_not_multiply_the_load),
		cmocka_unit_test(failures_of_others_do_not_delay_for_seconds),
		cmocka_unit_test(a_series_of_failures_ends),
		cmocka_unit_test(a_pause_of_the_relay_is_no_failure),
		cmocka_unit_test(a_shorter_interval_is_no_failure),
		cmocka_unit_test(a_shorter_interval_delays_no_hello),
		cmocka_unit_test(a_former_outage_does_not_slow_down_pings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
