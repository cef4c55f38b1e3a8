// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two nodes with one node-id: clones with one identity key, or a duplicate number. Both nodes, and
 * every node with sessions to both, report the duplicate node-id. A restart, datagrams that a NAT
 * returns, and replayed datagrams cause no report.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hostile.h"

#define MINUTE 60000

static bool has_duplicate(struct sim *s, unsigned at, struct overlay_duplicate *r)
{
	return overlay_duplicate(s->node[at].o, SLOT_SELF, r);
}

/* Node 0 sees nodes 1 and 2 with one node-id. Each of the two sees node 0 only. */
static struct sim *new_pair(uint64_t seed, bool same_identity, int64_t shift_us)
{
	struct sim *s = sim_new(3, seed);

	s->node[2].id = s->node[1].id;
	if (same_identity)
		s->node[2].identity = s->node[1].identity;
	s->node[2].wall_shift_us = shift_us;
	sim_seed_of(s, 1, 0);
	sim_seed_of(s, 2, 0);
	sim_boot(s, 0);
	sim_boot(s, 1);
	sim_run(s, 5000);
	assert_int_equal(sim_state(s, 0, 1), NODE_REACHABLE);
	sim_boot(s, 2);
	return s;
}

static bool all_know(struct sim *s, void *arg)
{
	struct overlay_duplicate r;

	(void)arg;
	return has_duplicate(s, 1, &r) && has_duplicate(s, 2, &r) &&
	       s->node[0].n_events[EV_DUPLICATE_ID];
}

static void expect_all_know(struct sim *s, bool same_identity)
{
	struct overlay_duplicate r;

	assert_true(sim_until(s, all_know, NULL, MINUTE) >= 0);
	for (unsigned i = 1; i < 3; i++) {
		assert_true(has_duplicate(s, i, &r));
		assert_int_equal(r.by, s->node[0].id);
		assert_int_equal(r.same_identity, same_identity);
		assert_true(endpoint_equal(&r.ep, &s->node[3 - i].ep));
		assert_true(s->node[i].n_events[EV_DUPLICATE_ID] >= 1);
	}
	assert_true(overlay_duplicate(s->node[0].o, sim_slot(s, 0, 1), &r));
	assert_int_equal(r.same_identity, same_identity);
	/* The rate is low enough for a log. */
	sim_run(s, 10 * MINUTE);
	for (unsigned i = 0; i < 3; i++)
		assert_true(s->node[i].n_events[EV_DUPLICATE_ID] <= 13);
	/* The report ends with its cause. */
	sim_kill(s, 2);
	sim_run(s, 3 * MINUTE);
	assert_false(has_duplicate(s, 1, &r));
	sim_free(s);
}

static void test_clone(void **state)
{
	(void)state;
	expect_all_know(new_pair(1, true, 7000000), true);
}

/* The clone's clock is behind. */
static void test_clone_with_another_clock(void **state)
{
	(void)state;
	expect_all_know(new_pair(2, true, -3600 * 1000000LL), true);
}

static void test_number_given_twice(void **state)
{
	(void)state;
	expect_all_know(new_pair(3, false, 7000000), false);
}

static void test_number_given_twice_and_another_clock(void **state)
{
	(void)state;
	expect_all_know(new_pair(4, false, -3600 * 1000000LL), false);
}

/* There is no third node: each is a configured peer of the other. */
static void test_clones_alone(void **state)
{
	struct overlay_duplicate r;

	(void)state;
	for (unsigned same = 0; same < 2; same++) {
		struct sim *s = sim_new(2, 5 + same);

		s->node[1].id = s->node[0].id;
		if (same)
			s->node[1].identity = s->node[0].identity;
		sim_seed_of(s, 1, 0);
		sim_boot(s, 0);
		sim_run(s, 1000);
		sim_boot(s, 1);
		sim_run(s, 20000);
		for (unsigned i = 0; i < 2; i++) {
			assert_true(has_duplicate(s, i, &r));
			assert_int_equal(r.by, NODE_ID_NONE);
			assert_int_equal(r.same_identity, same);
			assert_true(endpoint_equal(&r.ep, &s->node[1 - i].ep));
			assert_int_equal(s->node[i].n_events[EV_DUPLICATE_ID], 1);
		}
		sim_free(s);
	}
}

static void expect_nobody_else(struct sim *s)
{
	struct overlay_duplicate r;

	for (unsigned i = 0; i < s->n; i++) {
		assert_int_equal(s->node[i].n_events[EV_DUPLICATE_ID], 0);
		if (sim_is_up(s, i))
			assert_false(has_duplicate(s, i, &r));
	}
}

/* The NAT in front of a node returns datagrams to the node's own outer address. */
static bool hairpin(void *arg, unsigned from, const struct endpoint *to, const uint8_t *data,
		    size_t len)
{
	struct sim *s = arg;

	if (!endpoint_equal(to, &s->node[from].ep))
		return true;
	sim_inject(s, to, from, data, len);
	return false;
}

static bool no_hairpin(void *arg, unsigned from, const struct endpoint *to, const uint8_t *data,
		       size_t len)
{
	struct sim *s = arg;

	(void)data, (void)len;
	return !endpoint_equal(to, &s->node[from].ep);
}

/* An unknown own address, as behind a NAT that returns or drops datagrams. */
static void recognize_own_address(sim_tap_fn tap)
{
	struct sim *s = sim_new(2, 7);
	struct overlay_seed seed;

	s->tap = tap;
	s->tap_arg = s;
	sim_seed_of(s, 0, 0);
	sim_seed_of(s, 0, 1);
	sim_boot(s, 0);
	sim_boot(s, 1);
	/* The host does not have the address of the datagrams. */
	overlay_set_locators(s->node[0].o, NULL, 0);
	sim_run(s, 3 * MINUTE);
	assert_true(overlay_seed(s->node[0].o, 0, &seed));
	assert_int_equal(seed.address[0].diagnosis, SEED_SELF);
	assert_true(sim_converged(s, NULL));
	expect_nobody_else(s);
	sim_free(s);
}

static void test_reflection(void **state)
{
	(void)state;
	recognize_own_address(hairpin);
	recognize_own_address(no_hairpin);
}

static void restart_thrice(unsigned seed)
{
	struct sim *s = sim_new(3, seed);

	sim_boot_all(s);
	for (unsigned k = 0; k < 3; k++) {
		assert_true(sim_until(s, sim_converged, NULL, MINUTE) >= 0);
		sim_run(s, 2 * MINUTE);
		sim_kill(s, 1);
		if (k == 1)
			s->node[1].wall_shift_us = -3600 * 1000000LL;
		if (k == 2)
			sim_move(s, 1);
		sim_boot(s, 1);
	}
	assert_true(sim_until(s, sim_converged, NULL, MINUTE) >= 0);
	expect_nobody_else(s);
	sim_free(s);
}

/* Restarts, also with a clock set back and at another address, are not clones. Several seeds,
 * because the end of the old session before the fourth request is random. */
static void test_restarts(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 10; seed++)
		restart_thrice(seed);
}

/* Datagrams of an earlier run and of this run, replayed to all nodes from a stranger's address. */
static void test_recordings(void **state)
{
	struct wire w = { .recording = true };
	struct endpoint from = mallory(0);
	struct sim *s = sim_new(2, 9);

	(void)state;
	s->tap = watch;
	s->tap_arg = &w;
	sim_seed_of(s, 1, 0);
	sim_boot(s, 0);
	sim_boot(s, 1);
	sim_run(s, 5000);
	sim_kill(s, 1);
	sim_boot(s, 1);
	sim_run(s, 30000);
	w.recording = false;
	assert_true(sim_converged(s, NULL));
	for (unsigned round = 0; round < 8; round++) {
		for (size_t i = 0; i < w.n; i++) {
			sim_inject(s, &from, 0, w.rec[i].data, w.rec[i].len);
			sim_inject(s, &from, 1, w.rec[i].data, w.rec[i].len);
		}
		sim_run(s, 7000);
	}
	/* Replayed datagrams of node 1 do not count as a second node. */
	assert_int_equal(s->node[1].n_events[EV_DUPLICATE_ID], 0);
	assert_true(sim_converged(s, NULL));
	free(w.rec);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clone),
		cmocka_unit_test(test_clone_with_another_clock),
		cmocka_unit_test(test_number_given_twice),
		cmocka_unit_test(test_number_given_twice_and_another_clock),
		cmocka_unit_test(test_clones_alone),
		cmocka_unit_test(test_reflection),
		cmocka_unit_test(test_restarts),
		cmocka_unit_test(test_recordings),
	};

	cmocka_set_test_filter(getenv("SIM_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
