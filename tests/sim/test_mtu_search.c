// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The search for the path MTU continues after each loss of a test, also if the node forgot the test
 * in the meantime.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/view.h"
#include "sim.h"

#define LARGE  1472
#define SMALL  1300
#define SEEDS  20
#define ORIGIN 10000 /* us */

static void set(struct sim *s, int32_t delay_us, uint16_t mtu)
{
	for (unsigned i = 0; i < 2; i++) {
		sim_link(s, i, !i)->delay_us = delay_us;
		sim_link(s, i, !i)->mtu = mtu;
	}
}

static struct sim *settled(uint64_t seed)
{
	struct sim *s = sim_new(2, seed);

	set(s, ORIGIN, LARGE);
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_flow_start(s, 0, 1, 10000);
	sim_run(s, 30000);
	return s;
}

static uint16_t link_mtu(struct sim *s, unsigned at)
{
	struct overlay_link l;

	assert_true(overlay_link(s->node[at].o, sim_slot(s, at, !at), &l));
	assert_true(l.up);
	return l.mtu;
}

/* Each answer is late while the delay grows, so PINGs come quickly and replace a large one before
 * its timeout. */
static void a_forgotten_test_is_repeated(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct sim *s = settled(seed);

		assert_int_equal(link_mtu(s, 0), LARGE);
		for (int32_t i = 1; i <= 20; i++) {
			set(s, ORIGIN + 25000 * i, SMALL);
			sim_run(s, 100);
		}
		set(s, ORIGIN, LARGE);
		sim_run(s, 100000);
		set(s, ORIGIN, SMALL);
		sim_run(s, 15000);
		if (link_mtu(s, 0) > SMALL)
			print_error("seed %llu\n", (unsigned long long)seed);
		assert_true(link_mtu(s, 0) <= SMALL);
		sim_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_forgotten_test_is_repeated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
