// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Path choice: the lowest-cost paths on measured latencies, without flapping. Traffic during the
 * failure of a relay or a link. MTU. Nodes that are connected through relays only. See design.md
 * section 3, point 3, and section 4, metric, failure, MTU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/defs.h"
#include "base/mem.h"
#include "../length.h"
#include "proto/overlay_ops.h"
#include "proto/view.h"
#include "sim.h"

#define RUNS LENGTH(20, 2)

static void expect_converged(struct sim *s, int64_t within_ms)
{
	int64_t took = sim_until(s, sim_converged, NULL, within_ms);

	if (took < 0)
		print_error("not converged within %lld ms, seed %llu\n", (long long)within_ms,
			    (unsigned long long)s->seed);
	assert_true(took >= 0);
}

/* --- an independent computation of the best path: relaxation instead of Dijkstra --- */

static int64_t true_rtt(struct sim *s, unsigned a, unsigned b)
{
	return sim_link(s, a, b)->delay_us + sim_link(s, b, a)->delay_us;
}

static void best_costs(struct sim *s, unsigned from, int64_t *best)
{
	const struct conf *c = s->node[from].conf;
	int64_t next[SIM_NODES_MAX];

	for (unsigned i = 0; i < s->n; i++)
		best[i] = true_rtt(s, from, i);
	for (unsigned round = 0; round < c->maximum_relays; round++) {
		for (unsigned i = 0; i < s->n; i++) {
			next[i] = best[i];
			for (unsigned k = 0; k < s->n; k++)
				if (k != from && k != i)
					next[i] = min_of(next[i], best[k] + c->relay_cost_us +
									  true_rtt(s, k, i));
		}
		for (unsigned i = 0; i < s->n; i++)
			best[i] = next[i];
	}
}

static int64_t cost_in_use(struct sim *s, unsigned a, unsigned b, unsigned *n_hops)
{
	unsigned hop[LEON_HOPS_MAX], at = a;
	int64_t cost = 0;

	*n_hops = sim_path(s, a, b, hop);
	for (unsigned i = 0; i < *n_hops; i++) {
		cost += true_rtt(s, at, hop[i]) + (i ? s->node[a].conf->relay_cost_us : 0);
		at = hop[i];
	}
	return *n_hops ? cost : INT64_MAX;
}

/* No other path is better than the path in use by both threshold percent and minimum. The database
 * may deviate by changes that are not announced: 5 % or 300 us of RTT and of variation, for each of
 * four links. */
static bool is_good_enough(const struct conf *c, int64_t used, int64_t best)
{
	int64_t slack = used / 10 + 4 * 600;
	int64_t to_beat = min_of(used - used * c->threshold_percent / 100,
				 used - (int64_t)c->threshold_min_us);

	return best + slack >= to_beat;
}

static void check_paths(struct sim *s)
{
	int64_t *best = x_calloc(s->n, sizeof(*best));
	unsigned n_relayed = 0, n_hops;

	for (unsigned a = 0; a < s->n; a++) {
		best_costs(s, a, best);
		for (unsigned b = 0; b < s->n; b++) {
			int64_t used;

			if (a == b)
				continue;
			used = cost_in_use(s, a, b, &n_hops);
			n_relayed += n_hops > 1;
			if (!is_good_enough(s->node[a].conf, used, best[b]))
				print_error("n%u -> n%u costs %lld us, best %lld us, seed %llu\n",
					    a, b, (long long)used, (long long)best[b],
					    (unsigned long long)s->seed);
			assert_true(is_good_enough(s->node[a].conf, used, best[b]));
		}
	}
	printf("# %u of %u paths are relayed\n", n_relayed, s->n * (s->n - 1));
	free(best);
}

static void load_planetlab(struct sim *s, const char *file)
{
	int64_t *rtt = x_calloc((size_t)s->n * s->n, sizeof(*rtt));
	uint64_t rng = s->seed;

	matrix_planetlab(file, s->n, &rng, rtt);
	for (unsigned a = 0; a < s->n; a++)
		for (unsigned b = a + 1; b < s->n; b++)
			sim_set_rtt(s, a, b, rtt[a * s->n + b]);
	free(rtt);
}

static void planetlab(unsigned n, uint64_t seed)
{
	struct sim *s = sim_new(n, seed);

	load_planetlab(s, "planetlab_1.txt");
	sim_boot_all(s);
	expect_converged(s, 30000);
	/* Variations decay and hold-downs end. */
	sim_run(s, 600000);
	check_paths(s);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(s->node[i].n_fast_flaps, 0);
	/* Constant latencies cause no change. */
	{
		unsigned before = sim_events(s, EV_PATH);

		sim_run(s, 60000);
		assert_int_equal(sim_events(s, EV_PATH), before);
	}
	sim_free(s);
}

static void test_planetlab_paths(void **state)
{
	(void)state;
	planetlab(12, 1);
	if (LENGTH(true, false)) {
		planetlab(12, 2);
		planetlab(24, 3);
	}
}

/* RTT variation: an additional third of the delay, and rare loss of probes. Paths must not change
 * within hold-time of a change, and must change rarely. */
static void test_noise_does_not_flap(void **state)
{
	struct sim *s = sim_new(12, 4);
	const int64_t ms = LENGTH(1800000, 600000);
	unsigned before;
	double per_pair_h;

	(void)state;
	load_planetlab(s, "planetlab_9.txt");
	for (size_t i = 0; i < (size_t)s->n * s->n; i++) {
		s->link[i].jitter_us = s->link[i].delay_us / 3;
		s->link[i].loss_pm = 5;
	}
	sim_boot_all(s);
	expect_converged(s, 30000);
	sim_run(s, 60000);
	before = sim_events(s, EV_PATH);
	sim_run(s, ms);
	for (unsigned i = 0; i < s->n; i++)
		assert_int_equal(s->node[i].n_fast_flaps, 0);
	per_pair_h = (sim_events(s, EV_PATH) - before) * 3.6e6 / (double)ms / (s->n * (s->n - 1));
	printf("# %.2f path changes a pair and hour\n", per_pair_h);
	/* The paper's rule gives 52, facts section 3. */
	assert_true(per_pair_h < 10);
	sim_free(s);
}

/* --- failures under traffic --- */

/* Source 0, destination 1. The best path is over 2, the next one over 3, the direct link is
 * slow. */
static struct sim *new_diamond(uint64_t seed, int64_t leg_us)
{
	struct sim *s = sim_new(5, seed);

	sim_set_all(s, (struct sim_link){ .delay_us = 150000, .mtu = 1472 });
	sim_set_rtt(s, 0, 1, 4 * leg_us + 60000);
	sim_set_rtt(s, 0, 2, leg_us);
	sim_set_rtt(s, 2, 1, leg_us);
	/* Slow enough that the threshold distinguishes the two. */
	sim_set_rtt(s, 0, 3, leg_us + 8000 + leg_us / 8);
	sim_set_rtt(s, 3, 1, leg_us + 8000 + leg_us / 8);
	sim_set_rtt(s, 2, 3, leg_us);
	for (size_t i = 0; i < 25; i++)
		s->link[i].jitter_us = s->link[i].delay_us / 20;
	sim_boot_all(s);
	expect_converged(s, 30000);
	sim_run(s, 30000);
	return s;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t print_distribution(const char *what, const char *of, int64_t *ms)
{
	qsort(ms, RUNS, sizeof(*ms), by_value);
	printf("# %s, %s: min %lld, median %lld, p90 %lld, max %lld ms of %d runs\n", what, of,
	       (long long)ms[0], (long long)ms[RUNS / 2], (long long)ms[RUNS * 9 / 10],
	       (long long)ms[RUNS - 1], RUNS);
	return ms[RUNS - 1];
}

static void expect_via(struct sim *s, unsigned a, unsigned b, unsigned relay)
{
	unsigned hop[LEON_HOPS_MAX], n = sim_path(s, a, b, hop);

	if (n != 2 || hop[0] != relay)
		print_error("n%u -> n%u has %u hops, first n%u\n", a, b, n, n ? hop[0] : 0);
	assert_int_equal(n, 2);
	assert_int_equal(hop[0], relay);
}

enum failure { RELAY_DIES, FIRST_LINK_FAILS, SECOND_LINK_FAILS, SECOND_LINK_HALF_FAILS };

/* Time until the source uses another path, and the gap at the receiver, which also includes the
 * delay of a frame. */
struct interruption {
	int64_t switched_ms, gap_ms;
};

static struct interruption interrupt(uint64_t seed, int64_t leg_us, enum failure what)
{
	struct sim *s = new_diamond(seed, leg_us);
	struct sim_flow *f = sim_flow_start(s, 0, 1, 5000);
	struct overlay_link l;
	struct interruption i;
	mono_t failed;

	expect_via(s, 0, 1, 2);
	sim_run(s, 3000 + (int64_t)(sim_random(s) % 1000));
	sim_flow_mark(f);
	failed = sim_now(s);
	switch (what) {
	case RELAY_DIES:
		sim_kill(s, 2);
		break;
	case FIRST_LINK_FAILS:
		sim_set_down(s, 0, 2, true);
		break;
	case SECOND_LINK_FAILS:
		sim_set_down(s, 2, 1, true);
		break;
	case SECOND_LINK_HALF_FAILS:
		sim_link(s, 2, 1)->down = true;
		break;
	}
	sim_run(s, 3000);
	i.gap_ms = sim_flow_gap_ms(f);
	i.switched_ms = mono_sub_ms(s->node[0].path_since[1], failed);
	expect_via(s, 0, 1, 3);
	assert_true(f->received > 0 && i.switched_ms > 0);
	assert_true(overlay_link(s->node[0].o, sim_slot(s, 0, 2), &l));
	assert_true(what == SECOND_LINK_FAILS || what == SECOND_LINK_HALF_FAILS || l.silences);
	sim_free(s);
	return i;
}

/* The longest of RUNS runs. */
static struct interruption longest(const char *what, int64_t leg_us, enum failure kind)
{
	int64_t switched[RUNS], gap[RUNS];
	struct interruption max;

	for (unsigned i = 0; i < RUNS; i++) {
		struct interruption one = interrupt(100 + i, leg_us, kind);

		switched[i] = one.switched_ms;
		gap[i] = one.gap_ms;
	}
	max.switched_ms = print_distribution(what, "switched", switched);
	max.gap_ms = print_distribution(what, "gap", gap);
	return max;
}

static void test_relay_death(void **state)
{
	(void)state;
	assert_true(longest("relay dies, legs of 10 ms", 10000, RELAY_DIES).gap_ms < 500);
	assert_true(longest("relay dies, legs of 80 ms", 80000, RELAY_DIES).gap_ms < 500);
	assert_true(longest("relay dies, legs of 200 ms", 200000, RELAY_DIES).switched_ms < 500);
}

static void test_silent_link_failure(void **state)
{
	(void)state;
	assert_true(longest("first link, legs of 10 ms", 10000, FIRST_LINK_FAILS).gap_ms < 1000);
	assert_true(longest("second link, legs of 10 ms", 10000, SECOND_LINK_FAILS).gap_ms < 1000);
	assert_true(longest("one way of it only", 10000, SECOND_LINK_HALF_FAILS).gap_ms < 1000);
	assert_true(longest("first link, legs of 200 ms", 200000, FIRST_LINK_FAILS).gap_ms < 1000);
	assert_true(longest("second link, legs of 200 ms", 200000, SECOND_LINK_FAILS).gap_ms <
		    1000);
}

/* The longest intervals and the largest dead-multiplier. */
static void test_silence_has_a_bound(void **state)
{
	struct sim *s = sim_new(2, 22);

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		s->node[i].conf->interval_ms = s->node[i].conf->fast_interval_ms = 60000;
		s->node[i].conf->dead_multiplier = 20;
	}
	sim_boot_all(s);
	expect_converged(s, 300000);
	sim_run(s, 120000);
	sim_set_down(s, 0, 1, true);
	sim_run(s, 130000);
	assert_int_equal(s->node[0].n_events[EV_LINK_DOWN], 1);
	sim_free(s);
}

/* A relay that cannot forward sends a NOTICE, and the source changes the path at once, without a
 * new row. If the link stays good in the relay's rows, the source uses the path again after some
 * time. */
static void test_notice_of_relay(void **state)
{
	struct sim *s = new_diamond(5, 10000);
	uint64_t requested;

	(void)state;
	expect_via(s, 0, 1, 2);
	sim_flow_start(s, 0, 1, 5000);
	sim_run(s, 1000);
	overlay_cannot_forward(s->node[2].o, s->node[0].id, s->node[1].id, s->node[1].id);
	sim_run(s, 10);
	assert_int_equal(s->node[0].n_events[EV_NOTICE], 1);
	expect_via(s, 0, 1, 3);
	sim_run(s, 20000);
	expect_via(s, 0, 1, 2);
	sim_free(s);
	/* The relay's part: without another path the relay uses an unresponsive link until the link
	 * is down. Frames in flight at that time cause a NOTICE. */
	s = new_diamond(5, 80000);
	expect_via(s, 0, 1, 2);
	sim_kill(s, 3);
	sim_kill(s, 4);
	sim_set_down(s, 0, 1, true);
	sim_flow_start(s, 0, 1, 5000);
	sim_run(s, 8000);
	requested = s->node[2].n_notices_asked;
	sim_set_down(s, 2, 1, true);
	sim_run(s, 2000);
	expect_via(s, 0, 1, 2);
	assert_int_equal(s->node[2].n_notices_asked, requested);
	sim_run(s, 3000);
	assert_true(s->node[2].n_notices_asked > requested);
	assert_in_range(overlay_counters(s->node[0].o)->rx_by_type[MSG_NOTICE], 1, 4);
	assert_int_equal(sim_state(s, 0, 1), NODE_UNREACHABLE);
	sim_free(s);
}

/* After the failure the better path is used again, but only after a probation of the link. */
static void test_fail_back(void **state)
{
	struct sim *s = new_diamond(6, 10000);
	struct sim_flow *f = sim_flow_start(s, 0, 1, 5000);

	(void)state;
	sim_run(s, 1000);
	sim_set_down(s, 0, 2, true);
	sim_run(s, 5000);
	expect_via(s, 0, 1, 3);
	sim_set_down(s, 0, 2, false);
	sim_flow_mark(f);
	/* An outage does not count as loss, which decays slowly: hold-time and the time of the link
	 * up. */
	sim_run(s, 20000);
	expect_via(s, 0, 1, 2);
	assert_true(sim_flow_gap_ms(f) < 100);
	sim_free(s);
}

/* A jump of the round-trip time from 20 to 180 ms is not a failure for long. */
static void test_latency_step_is_no_outage(void **state)
{
	struct sim *s = sim_new(3, 7);
	struct sim_flow *f;

	(void)state;
	sim_boot_all(s);
	expect_converged(s, 10000);
	f = sim_flow_start(s, 1, 2, 5000);
	sim_run(s, 3000);
	sim_set_rtt(s, 0, 1, 180000);
	sim_set_rtt(s, 0, 2, 180000);
	sim_set_rtt(s, 1, 2, 180000);
	sim_flow_mark(f);
	sim_run(s, 20000);
	assert_int_equal(sim_events(s, EV_LINK_DOWN), 0);
	assert_true(sim_flow_gap_ms(f) < 200);
	sim_free(s);
}

/* Sums the effects on all nodes while the RTT of the link between 1 and 2 jumps, with traffic or
 * idle. */
static void one_jump(int64_t from_us, int64_t to_us, bool traffic, unsigned seed)
{
	struct sim *s = sim_new(4, seed);
	unsigned paths;
	struct overlay_link l;

	sim_set_all(s, (struct sim_link){ .delay_us = 2000000, .mtu = 1472 });
	sim_set_rtt(s, 0, 1, from_us);
	sim_set_rtt(s, 0, 2, from_us);
	sim_set_rtt(s, 1, 2, from_us);
	sim_boot_all(s);
	expect_converged(s, 60000);
	if (traffic)
		sim_flow_start(s, 1, 2, 5000);
	sim_run(s, 60000 + (int64_t)(sim_random(s) % 1000));
	paths = sim_events(s, EV_PATH);
	sim_set_rtt(s, 1, 2, to_us);
	/* The filter follows a jump below three missing answers within seconds. */
	sim_run(s, (to_us < 300000 ? 2500 : 600) + (traffic ? 0 : 1400));
	/* Much slower: the end with traffic changes to the path over 0 as fast as after a failure
	 * of the link. The other end follows soon. */
	if (to_us > 3 * from_us) {
		expect_via(s, 1, 2, 0);
		sim_run(s, 2000);
		expect_via(s, 2, 1, 0);
	}
	sim_run(s, 30000);
	/* No node reported a link down, no node was lost, and few paths changed. */
	assert_int_equal(sim_events(s, EV_LINK_DOWN), 0);
	assert_int_equal(sim_events(s, EV_UNREACHABLE), 0);
	assert_in_range(sim_events(s, EV_PATH) - paths, 0, 4);
	/* The values of the late answers are known by now, because late answers are not lost. */
	assert_true(overlay_link(s->node[1].o, sim_slot(s, 1, 2), &l));
	assert_true(l.up);
	assert_in_range(l.filter.srtt_us, to_us * 95 / 100, to_us * 105 / 100);
	assert_in_range(l.filter.loss_pm, 0, 5);
	sim_free(s);
}

static void test_jump_makes_a_link_dear_not_dead(void **state)
{
	(void)state;
	for (unsigned i = 0; i < LENGTH(5, 1); i++) {
		for (int traffic = 0; traffic < 2; traffic++) {
			one_jump(100000, 400000, traffic, 700 + i);
			one_jump(20000, 180000, traffic, 710 + i);
			one_jump(100000, 2000000, traffic, 720 + i);
		}
	}
}

/* Without another path, frames continue on the link. */
static void test_only_link_jumps(void **state)
{
	struct sim *s = sim_new(2, 14);
	struct sim_flow *f;

	(void)state;
	sim_set_rtt(s, 0, 1, 100000);
	sim_boot_all(s);
	expect_converged(s, 10000);
	f = sim_flow_start(s, 0, 1, 5000);
	sim_run(s, 30000);
	sim_set_rtt(s, 0, 1, 2000000);
	sim_flow_mark(f);
	sim_run(s, 20000);
	assert_int_equal(sim_events(s, EV_LINK_DOWN), 0);
	assert_int_equal(sim_events(s, EV_UNREACHABLE), 0);
	/* The increase of the propagation delay, and nothing more. */
	assert_in_range(sim_flow_gap_ms(f), 900, 1000);
	sim_free(s);
}

/* A slow link with an RTT that varies around some seconds stays up. */
static void test_slow_link_does_not_flap(void **state)
{
	static const int64_t other_us[] = { 2500000, 1000000, 100000 };

	(void)state;
	for (size_t k = 0; k < array_size(other_us); k++) {
		struct sim *s = sim_new(3, 15);

		sim_boot_all(s);
		expect_converged(s, 10000);
		sim_run(s, 30000);
		for (unsigned i = 0; i < 600; i += 20) {
			sim_set_rtt(s, 1, 2, i / 20 % 2 ? other_us[k] : 3500000);
			sim_run(s, 20000);
		}
		printf("# 3.5 s and %.1f s: %u link downs in 10 minutes\n",
		       (double)other_us[k] / 1e6, sim_events(s, EV_LINK_DOWN));
		/* The first increase may appear as a failure, once at each end. */
		assert_in_range(sim_events(s, EV_LINK_DOWN), 0, 2);
		sim_free(s);
	}
}

/* A link without any answer is down after the longer silence. */
static void test_silence_ends_in_down(void **state)
{
	struct sim *s = sim_new(3, 16);

	(void)state;
	sim_boot_all(s);
	expect_converged(s, 10000);
	sim_run(s, 30000);
	sim_set_down(s, 1, 2, true);
	sim_run(s, 2000);
	expect_via(s, 1, 2, 0);
	assert_int_equal(sim_events(s, EV_LINK_DOWN), 0);
	sim_run(s, 4000);
	assert_int_equal(sim_events(s, EV_LINK_DOWN), 2);
	assert_int_equal(sim_events(s, EV_UNREACHABLE), 0);
	sim_kill(s, 2);
	sim_run(s, 6000);
	assert_int_equal(sim_state(s, 0, 2), NODE_UNREACHABLE);
	assert_int_equal(sim_state(s, 1, 2), NODE_UNREACHABLE);
	sim_free(s);
}

/* --- links that never worked --- */

static void test_reached_through_relay_only(void **state)
{
	struct sim *s = sim_new(4, 8);
	unsigned hop[LEON_HOPS_MAX], n;
	struct overlay_link l;

	(void)state;
	/* The direct links 1 - 2 and 2 - 3 never work. */
	sim_set_down(s, 1, 2, true);
	sim_set_down(s, 2, 3, true);
	sim_boot_all(s);
	expect_converged(s, 20000);
	sim_run(s, 10000);
	assert_int_equal(sim_path(s, 1, 2, hop), 2);
	assert_int_equal(hop[0], 0);
	/* The nodes have sessions end to end nevertheless, and each other's rows. */
	assert_true(overlay_link(s->node[1].o, sim_slot(s, 1, 2), &l));
	assert_true(l.session);
	assert_false(l.up);
	assert_true(latdb_row_seq(overlay_latdb(s->node[1].o), sim_slot(s, 1, 2)) > 0);
	/* A change in its row still arrives. */
	sim_set_rtt(s, 0, 2, 90000);
	sim_run(s, 30000);
	assert_in_range(
		latdb_get(overlay_latdb(s->node[1].o), sim_slot(s, 1, 2), sim_slot(s, 1, 0)).rtt_us,
		85000, 95000);
	/* With constant latencies for a long time the nodes remain reachable to each other. */
	n = sim_events(s, EV_UNREACHABLE);
	sim_run(s, 600000);
	assert_int_equal(sim_events(s, EV_UNREACHABLE), n);
	/* The relay loses one of the nodes for longer than the lifetime of a row. */
	sim_set_down(s, 0, 2, true);
	sim_run(s, 30000);
	assert_int_equal(sim_state(s, 1, 2), NODE_UNREACHABLE);
	sim_set_down(s, 0, 2, false);
	expect_converged(s, 15000);
	/* The link begins to work. */
	sim_set_down(s, 1, 2, false);
	sim_run(s, 30000);
	assert_true(overlay_link(s->node[1].o, sim_slot(s, 1, 2), &l));
	assert_true(l.up);
	sim_free(s);
}

/* Each node reaches its neighbors only. The rows of the neighbors supply the other paths. */
static void test_line(void **state)
{
	struct sim *s = sim_new(5, 18);
	unsigned hop[LEON_HOPS_MAX];

	(void)state;
	for (unsigned a = 0; a < s->n; a++)
		for (unsigned b = a + 2; b < s->n; b++)
			sim_set_down(s, a, b, true);
	for (unsigned i = 0; i < s->n; i++) {
		if (i)
			sim_seed_of(s, i, i - 1);
		sim_boot(s, i);
	}
	expect_converged(s, 60000);
	assert_int_equal(sim_path(s, 0, 4, hop), 4);
	sim_run(s, 60000);
	sim_set_down(s, 1, 2, true);
	sim_run(s, 60000);
	assert_int_equal(sim_state(s, 0, 4), NODE_UNREACHABLE);
	sim_set_down(s, 1, 2, false);
	expect_converged(s, 60000);
	sim_free(s);
}

static void test_transit_disable(void **state)
{
	struct sim *s = sim_new(4, 9);
	unsigned hop[LEON_HOPS_MAX];

	(void)state;
	sim_set_rtt(s, 1, 2, 200000);
	s->node[0].conf->transit_disable = true;
	sim_set_rtt(s, 1, 3, 40000);
	sim_boot_all(s);
	expect_converged(s, 10000);
	sim_run(s, 30000);
	assert_int_equal(sim_path(s, 1, 2, hop), 2);
	assert_int_equal(hop[0], 3);
	sim_free(s);
}

static void test_maximum_relays_zero_is_direct(void **state)
{
	struct sim *s = sim_new(3, 10);
	unsigned hop[LEON_HOPS_MAX];

	(void)state;
	s->node[1].conf->maximum_relays = 0;
	sim_set_rtt(s, 1, 2, 200000);
	sim_boot_all(s);
	expect_converged(s, 10000);
	sim_run(s, 30000);
	assert_int_equal(sim_path(s, 1, 2, hop), 1);
	assert_int_equal(sim_path(s, 2, 1, hop), 2);
	sim_free(s);
}

/* --- MTU --- */

static uint16_t link_mtu(struct sim *s, unsigned a, unsigned b)
{
	struct overlay_link l;

	assert_true(overlay_link(s->node[a].o, sim_slot(s, a, b), &l));
	return l.mtu;
}

static void test_path_mtu(void **state)
{
	static const uint16_t limits[] = { 1232, 1372, 1400, 1452, 1472, 8972, 5000, 1201 };
	struct sim *s = sim_new(9, 11);

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		sim_link(s, 0, i + 1)->mtu = limits[i];
		sim_link(s, i + 1, 0)->mtu = limits[i];
	}
	sim_boot_all(s);
	expect_converged(s, 10000);
	sim_run(s, 60000);
	for (unsigned i = 0; i < 8; i++) {
		printf("# %u bytes pass, found %u\n", limits[i], link_mtu(s, 0, i + 1));
		assert_true(link_mtu(s, 0, i + 1) <= limits[i]);
		assert_true(link_mtu(s, 0, i + 1) + (limits[i] <= 1472 ? 16 : limits[i] / 8) >=
			    limits[i]);
	}
	/* Common sizes are found exactly. */
	assert_int_equal(link_mtu(s, 0, 1), 1232);
	assert_int_equal(link_mtu(s, 0, 2), 1372);
	assert_int_equal(link_mtu(s, 0, 4), 1452);
	assert_int_equal(link_mtu(s, 0, 5), 1472);
	assert_int_equal(link_mtu(s, 0, 6), 8972);
	/* All nodes know the MTU, and a path has the smallest MTU of its links. */
	assert_int_equal(
		latdb_get(overlay_latdb(s->node[3].o), sim_slot(s, 3, 0), sim_slot(s, 3, 1)).mtu,
		1232);
	/* A black hole appears under traffic. Both nodes detect the black hole within seconds,
	 * while the link stays up. */
	sim_flow_start(s, 0, 6, 10000);
	sim_run(s, 5000);
	sim_link(s, 0, 6)->mtu = 1300;
	sim_run(s, 12000);
	assert_true(link_mtu(s, 0, 6) <= 1300);
	sim_run(s, 18000);
	assert_in_range(link_mtu(s, 0, 6), 1280, 1300);
	/* The black hole disappears again. */
	sim_link(s, 0, 6)->mtu = 0;
	sim_run(s, 700000);
	assert_int_equal(link_mtu(s, 0, 6), 8972);
	assert_int_equal(s->node[0].n_events[EV_LINK_DOWN], 0);
	sim_free(s);
}

/* A black hole that appears during the upward MTU search of a new link with traffic. */
static void test_black_hole_during_search(void **state)
{
	struct sim *s = sim_new(2, 13);

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		sim_link(s, i, !i)->mtu = 1472;
	sim_boot_all(s);
	expect_converged(s, 10000);
	sim_flow_start(s, 0, 1, 10000);
	sim_run(s, 2000);
	assert_int_equal(link_mtu(s, 0, 1), 1472);
	sim_link(s, 0, 1)->mtu = 1380;
	sim_run(s, 15000);
	assert_true(link_mtu(s, 0, 1) <= 1380);
	sim_free(s);
}

/* Large PINGs were lost while the node restarted, faster than its link counts as down. The search
 * begins again with the return of the node, not after ten minutes. */
static void test_restart_during_search(void **state)
{
	struct sim *s = sim_new(2, 14);

	(void)state;
	sim_link(s, 0, 1)->mtu = 1300;
	sim_boot_all(s);
	expect_converged(s, 10000);
	sim_run(s, 30000);
	assert_true(link_mtu(s, 0, 1) <= 1300);
	sim_kill(s, 1);
	sim_link(s, 0, 1)->mtu = 0;
	sim_boot(s, 1);
	sim_run(s, 60000);
	assert_true(link_mtu(s, 0, 1) > 1300);
	sim_free(s);
}

/* Less than every size that is assumed to pass. */
static void test_tiny_mtu(void **state)
{
	struct sim *s = sim_new(2, 12);

	(void)state;
	sim_link(s, 0, 1)->mtu = 900;
	sim_boot_all(s);
	expect_converged(s, 10000);
	sim_flow_start(s, 0, 1, 10000);
	sim_run(s, 60000);
	assert_in_range(link_mtu(s, 0, 1), 880, 900);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_planetlab_paths),
		cmocka_unit_test(test_noise_does_not_flap),
		cmocka_unit_test(test_relay_death),
		cmocka_unit_test(test_silent_link_failure),
		cmocka_unit_test(test_silence_has_a_bound),
		cmocka_unit_test(test_notice_of_relay),
		cmocka_unit_test(test_fail_back),
		cmocka_unit_test(test_latency_step_is_no_outage),
		cmocka_unit_test(test_jump_makes_a_link_dear_not_dead),
		cmocka_unit_test(test_only_link_jumps),
		cmocka_unit_test(test_slow_link_does_not_flap),
		cmocka_unit_test(test_silence_ends_in_down),
		cmocka_unit_test(test_reached_through_relay_only),
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_transit_disable),
		cmocka_unit_test(test_maximum_relays_zero_is_direct),
		cmocka_unit_test(test_path_mtu),
		cmocka_unit_test(test_black_hole_during_search),
		cmocka_unit_test(test_restart_during_search),
		cmocka_unit_test(test_tiny_mtu),
	};

	cmocka_set_test_filter(getenv("SIM_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
