// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Limits that a node requests from its senders (shaper ingress), carried in PONGs. A limit arrives,
 * changes, ends if the node withdraws it, and expires without renewal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/core.h"
#include "proto/view.h"
#include "sim.h"

#define KBITS 20000
/* An idle link sends a PING each second, and the answer follows. */
#define NOTIFIED_MS 1500
/* Four such intervals, or five seconds. The link is down by then, and the periodic maintenance runs
 * each second. */
#define ENDS_MS 7000

static struct sim *three(uint64_t seed)
{
	struct sim *s = sim_new(3, seed);

	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 5000);
	return s;
}

static uint32_t requested(struct sim *s, unsigned at, unsigned by)
{
	return overlay_requested_kbits(s->node[at].o, sim_slot(s, at, by));
}

static void ask(struct sim *s, unsigned by, unsigned whom, uint32_t kbits)
{
	overlay_set_share(s->node[by].o, sim_slot(s, by, whom), kbits);
	assert_int_equal(overlay_share(s->node[by].o, sim_slot(s, by, whom)), kbits);
}

static void it_is_notified_and_taken_back(void **state)
{
	struct sim *s = three(1);

	(void)state;
	assert_int_equal(requested(s, 1, 0), 0);
	ask(s, 0, 1, KBITS);
	sim_run(s, NOTIFIED_MS);
	assert_int_equal(requested(s, 1, 0), KBITS);
	/* No other node is limited, and no limit is sent in the return direction. */
	assert_int_equal(requested(s, 2, 0), 0);
	assert_int_equal(requested(s, 0, 1), 0);
	assert_int_equal(s->node[1].n_asked, 1);
	/* The limit lasts while it is renewed, and only changes are reported. */
	sim_run(s, 60000);
	assert_int_equal(requested(s, 1, 0), KBITS);
	assert_int_equal(s->node[1].n_asked, 1);
	ask(s, 0, 1, KBITS / 2);
	sim_run(s, NOTIFIED_MS);
	assert_int_equal(requested(s, 1, 0), KBITS / 2);
	ask(s, 0, 1, 0);
	sim_run(s, NOTIFIED_MS);
	assert_int_equal(requested(s, 1, 0), 0);
	assert_int_equal(s->node[1].n_asked, 3);
	sim_free(s);
}

/* The node dies, or its direct link fails. The requested limit must expire. */
static void it_ends_where_nobody_repeats_it(void **state)
{
	struct sim *s = three(2);

	(void)state;
	ask(s, 0, 1, KBITS);
	ask(s, 0, 2, KBITS);
	sim_run(s, NOTIFIED_MS);
	sim_set_down(s, 0, 1, true);
	sim_run(s, 2000);
	assert_int_equal(requested(s, 1, 0), KBITS);
	sim_run(s, ENDS_MS - 2000);
	assert_int_equal(requested(s, 1, 0), 0);
	assert_int_equal(s->node[1].n_asked, 2);
	assert_int_equal(requested(s, 2, 0), KBITS);
	sim_set_down(s, 0, 1, false);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 5000);
	assert_int_equal(requested(s, 1, 0), KBITS);
	sim_kill(s, 0);
	sim_run(s, ENDS_MS);
	assert_int_equal(requested(s, 1, 0), 0);
	assert_int_equal(requested(s, 2, 0), 0);
	sim_free(s);
}

/* The next run of the node requests nothing. */
static void it_ends_with_a_restart(void **state)
{
	struct sim *s = three(3);

	(void)state;
	ask(s, 0, 1, KBITS);
	sim_run(s, NOTIFIED_MS);
	sim_kill(s, 0);
	sim_boot(s, 0);
	assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
	sim_run(s, NOTIFIED_MS);
	assert_int_equal(requested(s, 1, 0), 0);
	sim_leave(s, 0);
	sim_run(s, 1000);
	assert_int_equal(requested(s, 1, 0), 0);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_notified_and_taken_back),
		cmocka_unit_test(it_ends_where_nobody_repeats_it),
		cmocka_unit_test(it_ends_with_a_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
