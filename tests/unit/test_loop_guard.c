// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The loop guard's state machine: who blocks, for how long, and what is reported.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/host/loop_guard.h"

#define INTERVAL_MS 1000
#define SELF	    0x0a000005u
#define LOWER	    0x0a000001u
#define HIGHER	    0x0a000009u

static mono_t at_ms(int64_t ms)
{
	return (mono_t){ NS_PER_S + ms * NS_PER_MS };
}

static struct guard fresh(void)
{
	struct guard g;

	guard_init(&g, SELF, true, INTERVAL_MS, at_ms(0));
	return g;
}

static void higher_id_blocks(void **state)
{
	struct guard g = fresh();
	unsigned news = guard_heard(&g, LOWER, at_ms(10));
	(void)state;

	assert_int_equal(news, GUARD_STATE_CHANGED | GUARD_NEWCOMER);
	assert_int_equal(g.state, GUARD_BLOCKED);
	assert_int_equal(guard_other(&g), LOWER);
	assert_int_equal(g.n_blocked, 1);
}

static void lower_id_forwards(void **state)
{
	struct guard g = fresh();
	(void)state;

	assert_true(guard_heard(&g, HIGHER, at_ms(10)) & GUARD_STATE_CHANGED);
	assert_int_equal(g.state, GUARD_SHARED);
	assert_int_equal(guard_other(&g), HIGHER);
}

/* Both sides of one LAN run the same machine: never two that forward, never two that block. */
static void two_nodes_agree(void **state)
{
	struct guard a, b;
	(void)state;

	guard_init(&a, LOWER, true, INTERVAL_MS, at_ms(0));
	guard_init(&b, HIGHER, true, INTERVAL_MS, at_ms(0));
	for (int64_t ms = 0; ms < 10000; ms += 500) {
		guard_heard(&a, HIGHER, at_ms(ms));
		guard_heard(&b, LOWER, at_ms(ms));
		guard_tick(&a, at_ms(ms));
		guard_tick(&b, at_ms(ms));
		assert_int_equal(a.state, GUARD_SHARED);
		assert_int_equal(b.state, GUARD_BLOCKED);
	}
}

static void silence_unblocks(void **state)
{
	struct guard g = fresh();
	int64_t last = 10, limit = last + GUARD_SILENT_INTERVALS * INTERVAL_MS;
	(void)state;

	guard_heard(&g, LOWER, at_ms(last));
	assert_int_equal(guard_tick(&g, at_ms(limit)), GUARD_NO_NEWS);
	assert_int_equal(g.state, GUARD_BLOCKED);
	assert_int_equal(guard_tick(&g, at_ms(limit + 1)), GUARD_STATE_CHANGED);
	assert_int_equal(g.state, GUARD_CLEAR);
	assert_int_equal(guard_other(&g), NODE_ID_NONE);
}

/* The lower one goes, a higher one stays: this node takes over. */
static void blocked_to_shared(void **state)
{
	struct guard g = fresh();
	(void)state;

	guard_heard(&g, LOWER, at_ms(0));
	for (int64_t ms = 0; ms <= 4000; ms += INTERVAL_MS) {
		guard_heard(&g, HIGHER, at_ms(ms));
		guard_tick(&g, at_ms(ms));
	}
	assert_int_equal(g.state, GUARD_SHARED);
	assert_int_equal(guard_other(&g), HIGHER);
}

static void own_frame_is_a_loop(void **state)
{
	struct guard g = fresh();
	(void)state;

	assert_int_equal(guard_heard(&g, SELF, at_ms(5)), GUARD_LOOP_BEGINS);
	assert_true(g.local_loop);
	assert_int_equal(guard_heard(&g, SELF, at_ms(1005)), GUARD_NO_NEWS);
	assert_int_equal(g.state, GUARD_CLEAR);
	assert_int_equal(guard_tick(&g, at_ms(1005 + 3000)), GUARD_NO_NEWS);
	assert_int_equal(guard_tick(&g, at_ms(1005 + 3001)), GUARD_LOOP_ENDS);
	assert_false(g.local_loop);
}

/* Three on one LAN alternate in being heard; greeting each change would be a storm. */
static void greets_at_most_once_an_interval(void **state)
{
	struct guard g = fresh();
	unsigned greetings = 0;
	(void)state;

	for (int64_t ms = 0; ms < 5000; ms += 10) {
		node_id_t node = ms % 20 ? HIGHER : HIGHER + 1;

		greetings += guard_heard(&g, node, at_ms(ms)) & GUARD_NEWCOMER ? 1 : 0;
	}
	assert_in_range(greetings, 1, 5);
}

static void switched_off(void **state)
{
	struct guard g = fresh();
	(void)state;

	guard_heard(&g, LOWER, at_ms(0));
	guard_heard(&g, SELF, at_ms(0));
	assert_int_equal(guard_configure(&g, false, INTERVAL_MS, at_ms(10)),
			 GUARD_STATE_CHANGED | GUARD_LOOP_ENDS);
	assert_int_equal(g.state, GUARD_OFF);
	assert_int_equal(guard_heard(&g, LOWER, at_ms(20)), GUARD_NO_NEWS);
	assert_int_equal(guard_tick(&g, at_ms(20)), GUARD_NO_NEWS);

	/* On again: what was heard before is forgotten. */
	assert_int_equal(guard_configure(&g, true, INTERVAL_MS, at_ms(30)), GUARD_STATE_CHANGED);
	assert_int_equal(g.state, GUARD_CLEAR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(higher_id_blocks),
		cmocka_unit_test(lower_id_forwards),
		cmocka_unit_test(two_nodes_agree),
		cmocka_unit_test(silence_unblocks),
		cmocka_unit_test(blocked_to_shared),
		cmocka_unit_test(own_frame_is_a_loop),
		cmocka_unit_test(greets_at_most_once_an_interval),
		cmocka_unit_test(switched_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
