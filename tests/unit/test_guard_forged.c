// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Forged and replayed loop-guard frames. A host of the LAN makes them up, or replays recorded ones.
 * No forged frame makes a node refuse the genuine guards of another node, and no replayed frame
 * blocks a VLAN for longer than some intervals.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/host/loop_guard.h"

#define INTERVAL_MS 1000
#define TICK_MS	    (INTERVAL_MS / GUARD_TICKS)
#define SELF	    0x0a000005u
#define OTHER	    0x0a000001u
#define ELSEWHERE   0x0b000001u /* reached through the overlay */
#define BOTH	    (GUARD_READY | GUARD_FORWARDS)

static struct guard g;
static int64_t now_ms;

static mono_t now(void)
{
	return (mono_t){ NS_PER_S + now_ms * NS_PER_MS };
}

static void pass(int64_t ms)
{
	for (int64_t end = now_ms + ms; now_ms < end;) {
		now_ms += TICK_MS;
		guard_tick(&g, now());
	}
}

static unsigned hear(uint64_t sequence, uint8_t flags)
{
	struct guard_frame f = {
		.node = OTHER, .flags = flags, .incarnation = 1, .sequence = sequence
	};

	return guard_heard(&g, &f, now());
}

static int setup(void **state)
{
	const struct guard_conf conf = { .enabled = true,
					 .preference = 128,
					 .interval_ms = INTERVAL_MS };
	const node_id_t elsewhere = ELSEWHERE;

	(void)state;
	now_ms = 0;
	guard_init(&g, SELF, &conf, now());
	guard_reach(&g, &elsewhere, 1, now());
	guard_lan(&g, true, now());
	pass(2 * INTERVAL_MS);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	guard_free(&g);
	return 0;
}

/* The alarm ends a loop without end. */
static void the_last_sequence_takes_no_longer_than_another(void **state)
{
	(void)state;
	hear(UINT64_MAX - GUARD_WINDOW, 0);
	alarm(5);
	assert_false(hear(UINT64_MAX, BOTH) & GUARD_REPLAYED);
	alarm(0);
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(the_last_sequence_takes_no_longer_than_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
