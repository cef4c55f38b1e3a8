// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a node asks others to keep below (shaper ingress), as it travels in PONGs: it arrives, it
 * changes, it ends when it is taken back, and when nobody repeats it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/core.h"
#include "sim.h"

#define KBITS 20000
/* A PING of an idle link is a second and its answer away. */
#define TOLD_MS 1500
/* Four such, or five seconds; the link is down by then, and upkeep looks each second. */
#define ENDS_MS 7000

static struct sim *three(uint64_t seed)
{
	struct sim *s = sim_new(3, seed);

	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 5000);
	return s;
}

static uint32_t asked(struct sim *s, unsigned at, unsigned by)
{
	return overlay_asked(s->node[at].o, sim_slot(s, at, by));
}

static void ask(struct sim *s, unsigned by, unsigned whom, uint32_t kbits)
{
	overlay_set_share(s->node[by].o, sim_slot(s, by, whom), kbits);
	assert_int_equal(overlay_share(s->node[by].o, sim_slot(s, by, whom)), kbits);
}

static void it_is_told_and_taken_back(void **state)
{
	struct sim *s = three(1);

	(void)state;
	assert_int_equal(asked(s, 1, 0), 0);
	ask(s, 0, 1, KBITS);
	sim_run(s, TOLD_MS);
	assert_int_equal(asked(s, 1, 0), KBITS);
	/* Nobody else is meant, and nothing is said the other way. */
	assert_int_equal(asked(s, 2, 0), 0);
	assert_int_equal(asked(s, 0, 1), 0);
	assert_int_equal(s->node[1].n_asked, 1);
	/* It lasts as long as it is said, and who is told is told of changes alone. */
	sim_run(s, 60000);
	assert_int_equal(asked(s, 1, 0), KBITS);
	assert_int_equal(s->node[1].n_asked, 1);
	ask(s, 0, 1, KBITS / 2);
	sim_run(s, TOLD_MS);
	assert_int_equal(asked(s, 1, 0), KBITS / 2);
	ask(s, 0, 1, 0);
	sim_run(s, TOLD_MS);
	assert_int_equal(asked(s, 1, 0), 0);
	assert_int_equal(s->node[1].n_asked, 3);
	sim_free(s);
}

/* It dies, or cannot be heard on the direct link: what it asked must not hold anybody for ever. */
static void it_ends_where_nobody_repeats_it(void **state)
{
	struct sim *s = three(2);

	(void)state;
	ask(s, 0, 1, KBITS);
	ask(s, 0, 2, KBITS);
	sim_run(s, TOLD_MS);
	sim_set_down(s, 0, 1, true);
	sim_run(s, 2000);
	assert_int_equal(asked(s, 1, 0), KBITS);
	sim_run(s, ENDS_MS - 2000);
	assert_int_equal(asked(s, 1, 0), 0);
	assert_int_equal(s->node[1].n_asked, 2);
	assert_int_equal(asked(s, 2, 0), KBITS);
	sim_set_down(s, 0, 1, false);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 5000);
	assert_int_equal(asked(s, 1, 0), KBITS);
	sim_kill(s, 0);
	sim_run(s, ENDS_MS);
	assert_int_equal(asked(s, 1, 0), 0);
	assert_int_equal(asked(s, 2, 0), 0);
	sim_free(s);
}

/* Another run of it asks nothing. */
static void it_ends_with_a_restart(void **state)
{
	struct sim *s = three(3);

	(void)state;
	ask(s, 0, 1, KBITS);
	sim_run(s, TOLD_MS);
	sim_kill(s, 0);
	sim_boot(s, 0);
	assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
	sim_run(s, TOLD_MS);
	assert_int_equal(asked(s, 1, 0), 0);
	sim_leave(s, 0);
	sim_run(s, 1000);
	assert_int_equal(asked(s, 1, 0), 0);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_told_and_taken_back),
		cmocka_unit_test(it_ends_where_nobody_repeats_it),
		cmocka_unit_test(it_ends_with_a_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
