// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Choice of the pair of lines (doc/decisions/080). A pair that fails is left at once. A better pair
 * is used after 10 s. A pair that lost data is avoided for 60 s.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/core.h"
#include "proto/overlay.h"
#include "proto/view.h"
#include "sim.h"

#define FIRST	  0
#define SECOND	  1
#define NO_PAIR	  99
#define BETTER_MS 10000
#define AVOID_MS  60000
#define SLACK_MS  2500 /* each second the choice is made; PINGs come each second */

struct use {
	unsigned at;  /* node */
	uint8_t line; /* of this node, or of the other one */
	bool standby; /* the other pair answers too */
};

static void set_rtt(struct sim *s, int32_t first_ms, int32_t second_ms)
{
	for (unsigned i = 0; i < 2; i++) {
		sim_link(s, i, !i)->delay_us = first_ms * 500;
		sim_second_link(s, i, !i)->delay_us = second_ms * 500;
	}
}

static void set_first(struct sim *s, bool down, uint16_t data_loss_pm)
{
	for (unsigned i = 0; i < 2; i++) {
		sim_link(s, i, !i)->down = down;
		sim_link(s, i, !i)->data_loss_pm = data_loss_pm;
	}
}

static bool view(struct sim *s, unsigned at, unsigned pair, struct overlay_pair_view *v)
{
	return overlay_line_pair(s->node[at].o, sim_slot(s, at, !at), pair, v);
}

/* Line of node 0 that `at` uses. */
static unsigned line_of(struct sim *s, unsigned at)
{
	struct overlay_pair_view v;

	for (unsigned i = 0; i < LINE_PAIRS; i++)
		if (view(s, at, i, &v) && v.in_use)
			return at ? v.theirs : v.ep.line;
	return NO_PAIR;
}

static bool has_standby(struct sim *s, unsigned at)
{
	struct overlay_pair_view v;

	for (unsigned i = 0; i < LINE_PAIRS; i++)
		if (view(s, at, i, &v) && !v.in_use && v.verified && !v.silent)
			return true;
	return false;
}

static bool uses(struct sim *s, void *arg)
{
	const struct use *u = arg;

	return line_of(s, u->at) == u->line && (!u->standby || has_standby(s, u->at));
}

static int64_t until(struct sim *s, struct use u, int64_t ms)
{
	return sim_until(s, uses, &u, ms);
}

/* Node 0 has two lines, and both nodes use the first one. */
static struct sim *two(uint64_t seed, int32_t first_ms, int32_t second_ms)
{
	struct sim *s = sim_new(2, seed);

	sim_give_second_line(s, 0);
	set_rtt(s, first_ms, second_ms);
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	for (unsigned i = 0; i < 2; i++)
		assert_true(until(s, (struct use){ i, FIRST, true }, 30000) >= 0);
	sim_run(s, 15000);
	return s;
}

static void the_better_pair_is_used(void **state)
{
	struct sim *s = two(1, 20, 35);
	struct overlay_pair_view v;

	(void)state;
	for (unsigned at = 0; at < 2; at++) {
		unsigned n = 0;

		for (unsigned i = 0; i < LINE_PAIRS; i++) {
			if (!view(s, at, i, &v))
				continue;
			n++;
			assert_in_range(v.filter.now_us, v.in_use ? 19900 : 34900,
					v.in_use ? 20500 : 35500);
			assert_true(mono_sub_ms(sim_now(s), v.answered) < 3000);
		}
		assert_int_equal(n, 2);
	}
	set_rtt(s, 50, 35);
	for (unsigned i = 0; i < 2; i++)
		assert_true(until(s, (struct use){ i, SECOND, false }, BETTER_MS + 10000) >= 0);
	sim_free(s);
}

/* Less than an eighth and 1 ms better. */
static void a_small_difference_changes_nothing(void **state)
{
	struct sim *s = two(2, 20, 35);
	unsigned before = sim_events(s, EV_LINK_LINE);

	(void)state;
	set_rtt(s, 20, 18);
	sim_run(s, 60000);
	assert_int_equal(sim_events(s, EV_LINK_LINE), before);
	assert_int_equal(line_of(s, 0), FIRST);
	sim_free(s);
}

/* `from`: time since which the first line was usable. */
static const struct overlay_pair_view *pair_of(struct sim *s, unsigned line,
					       struct overlay_pair_view *v)
{
	for (unsigned i = 0; i < LINE_PAIRS; i++)
		if (view(s, 0, i, v) && v->ep.line == line)
			return v;
	fail_msg("no pair of line %u", line);
	return NULL;
}

/* The queue of the own data is no property of the pair that the data leaves. */
static void own_load_leaves_with_the_data(void **state)
{
	struct sim *s = two(12, 20, 35);
	struct overlay *o = s->node[0].o;
	struct overlay_pair_view v;

	(void)state;
	set_rtt(s, 80, 35);
	for (unsigned i = 0; i < 3000 && line_of(s, 0) == FIRST; i++) {
		peer_at(o, sim_slot(s, 0, 1))->probe.filter.load_us = 30000;
		sim_run(s, 10);
	}
	assert_int_equal(line_of(s, 0), SECOND);
	sim_run(s, 30000);
	assert_int_equal(line_of(s, 0), SECOND);
	assert_in_range(pair_of(s, FIRST, &v)->filter.now_us, 79000, 81000);
	sim_free(s);
}

static void the_first_change_keeps_the_mtu(void **state)
{
	struct sim *s = two(10, 20, 35);
	struct overlay_link link;
	uint16_t mtu;

	(void)state;
	sim_run(s, 60000);
	assert_true(overlay_link(s->node[0].o, sim_slot(s, 0, 1), &link));
	mtu = link.mtu;
	assert_true(mtu > 1200);
	overlay_line_changed(s->node[0].o, FIRST, true);
	assert_int_equal(line_of(s, 0), SECOND);
	assert_true(overlay_link(s->node[0].o, sim_slot(s, 0, 1), &link));
	assert_int_equal(link.mtu, mtu);
	sim_free(s);
}

static void returns_after_ten_seconds(struct sim *s, mono_t from)
{
	for (unsigned i = 0; i < 2; i++)
		assert_true(until(s, (struct use){ i, FIRST, false }, BETTER_MS + 6000) >= 0);
	assert_in_range(mono_sub_ms(sim_now(s), from), BETTER_MS, BETTER_MS + 6000);
}

static void a_lost_line_is_left_at_once(void **state)
{
	struct sim *s = two(3, 20, 35);
	mono_t back;

	(void)state;
	overlay_line_changed(s->node[0].o, FIRST, true);
	assert_int_equal(line_of(s, 0), SECOND);
	/* Node 1 does not know, and its datagrams still arrive. */
	assert_int_equal(line_of(s, 1), FIRST);
	sim_run(s, 30000);
	assert_int_equal(line_of(s, 0), SECOND);
	back = sim_now(s);
	overlay_line_changed(s->node[0].o, FIRST, false);
	returns_after_ten_seconds(s, back);
	sim_free(s);
}

/* Each end chooses the pair of its direction, also while the keys change. */
static void new_keys_change_no_line(void **state)
{
	struct sim *s = two(8, 20, 35);
	unsigned before;

	(void)state;
	overlay_line_changed(s->node[0].o, FIRST, true);
	for (unsigned i = 0; i < 2; i++)
		s->node[i].conf->rekey_ms = 5000;
	before = sim_events(s, EV_ENDPOINT) + sim_events(s, EV_LINK_LINE);
	sim_run(s, 4000 * 1000);
	assert_int_equal(line_of(s, 0), SECOND);
	assert_int_equal(line_of(s, 1), FIRST);
	assert_int_equal(sim_events(s, EV_ENDPOINT) + sim_events(s, EV_LINK_LINE), before);
	sim_free(s);
}

static void a_dead_line_is_left_and_used_after_ten_seconds(void **state)
{
	struct sim *s = two(4, 20, 35);
	struct sim_flow *flow[2] = { sim_flow_start(s, 0, 1, 10000),
				     sim_flow_start(s, 1, 0, 10000) };
	int64_t left;
	mono_t back;

	(void)state;
	sim_run(s, 5000);
	for (unsigned i = 0; i < 2; i++)
		sim_flow_mark(flow[i]);
	set_first(s, true, 0);
	for (unsigned i = 0; i < 2; i++) {
		left = until(s, (struct use){ i, SECOND, false }, 1000);
		assert_in_range(left, 0, 400);
	}
	sim_run(s, 20000);
	for (unsigned i = 0; i < 2; i++)
		assert_in_range(sim_flow_gap_ms(flow[i]), 50, 400);
	assert_int_equal(sim_events(s, EV_LINK_DOWN), 0);
	back = sim_now(s);
	set_first(s, false, 0);
	returns_after_ten_seconds(s, back);
	sim_free(s);
}

static void a_line_that_lost_data_is_avoided(void **state)
{
	struct sim *s = two(5, 20, 35);
	int64_t avoided;

	(void)state;
	sim_flow_start(s, 0, 1, 10000);
	sim_run(s, 5000);
	set_first(s, false, 300);
	assert_true(until(s, (struct use){ 0, SECOND, false }, 20000) >= 0);
	set_first(s, false, 0);
	avoided = until(s, (struct use){ 0, FIRST, false }, AVOID_MS + BETTER_MS + SLACK_MS);
	assert_in_range(avoided, AVOID_MS, AVOID_MS + BETTER_MS + SLACK_MS);
	sim_free(s);
}

static bool lacks_standby(struct sim *s, void *arg)
{
	(void)arg;
	return !has_standby(s, 0) && !has_standby(s, 1);
}

/* A second line with late answers has a long timeout, and its PINGs come as quickly as those of the
 * line in use. */
static void a_slow_second_line_dies(void **state)
{
	struct sim *s = sim_new(2, 7);

	(void)state;
	sim_give_second_line(s, 0);
	set_rtt(s, 20, 500);
	for (unsigned i = 0; i < 2; i++) {
		sim_second_link(s, i, !i)->jitter_us = 250000;
		s->node[i].conf->interval_ms = s->node[i].conf->fast_interval_ms;
	}
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 60000);
	assert_true(has_standby(s, 0) && has_standby(s, 1));
	for (unsigned i = 0; i < 2; i++)
		sim_second_link(s, i, !i)->down = true;
	assert_true(sim_until(s, lacks_standby, NULL, 5000) >= 0);
	sim_run(s, 20000);
	assert_true(lacks_standby(s, NULL));
	sim_free(s);
}

/* Both nodes have an active link, not over the two first lines. */
static bool is_up_again(struct sim *s, void *arg)
{
	struct overlay_pair_view v;
	struct overlay_link l;

	(void)arg;
	for (unsigned at = 0; at < 2; at++)
		if (!overlay_link(s->node[at].o, sim_slot(s, at, !at), &l) || !l.up ||
		    (view(s, at, 0, &v) && v.in_use))
			return false;
	return true;
}

/* Four pairs of lines fail, and three of them return at a moment around the end of the link. */
static unsigned changes_after_return(int64_t ms, uint64_t seed)
{
	struct sim *s = sim_new(2, seed);
	unsigned before, changes;

	sim_give_second_line(s, 0);
	sim_give_second_line(s, 1);
	set_rtt(s, 20, 35);
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 15000);
	set_first(s, true, 0);
	for (unsigned i = 0; i < 2; i++)
		sim_second_link(s, i, !i)->down = true;
	sim_run(s, ms);
	before = sim_events(s, EV_LINK_LINE);
	for (unsigned i = 0; i < 2; i++)
		sim_second_link(s, i, !i)->down = false;
	assert_true(sim_until(s, is_up_again, NULL, 20000) >= 0);
	sim_run(s, 20000);
	changes = sim_events(s, EV_LINK_LINE) - before;
	sim_free(s);
	return changes;
}

static void dead_pairs_do_not_alternate(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 15; seed++)
		for (int64_t ms = 2500; ms < 6700; ms += 100)
			assert_in_range(changes_after_return(ms, seed), 0, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_better_pair_is_used),
		cmocka_unit_test(a_small_difference_changes_nothing),
		cmocka_unit_test(own_load_leaves_with_the_data),
		cmocka_unit_test(the_first_change_keeps_the_mtu),
		cmocka_unit_test(a_lost_line_is_left_at_once),
		cmocka_unit_test(new_keys_change_no_line),
		cmocka_unit_test(a_dead_line_is_left_and_used_after_ten_seconds),
		cmocka_unit_test(a_line_that_lost_data_is_avoided),
		cmocka_unit_test(a_slow_second_line_dies),
		cmocka_unit_test(dead_pairs_do_not_alternate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
