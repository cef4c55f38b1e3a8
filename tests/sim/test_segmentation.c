// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Network cards that lose data with UDP segmentation (decision 074), in whole overlays:
 * convictions, paths during trials, and no conviction by ordinary loss.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../length.h"
#include "sim.h"

#define HOUR_MS LENGTH(3600000, 600000)

static struct sim *settled(unsigned n, uint64_t seed)
{
	struct sim *s = sim_new(n, seed);

	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 5000);
	return s;
}

static bool is_convicted(struct sim *s, void *arg)
{
	(void)arg;
	return s->node[0].n_events[EV_OFFLOAD_BROKEN] != 0;
}

/* Received datagrams of the next `ms`, in per mille of the sent ones. */
static uint64_t arrives_pm(struct sim *s, const struct sim_flow *f, int64_t ms)
{
	uint64_t sent = f->sent, received = f->received;

	sim_run(s, ms);
	return 1000 * (f->received - received) / (f->sent - sent);
}

static void a_faulty_card_is_found(void **state)
{
	(void)state;
	for (uint64_t seed = 301; seed < 301 + LENGTH(10, 2); seed++) {
		struct sim *s = settled(2, seed);
		struct sim_flow *there = sim_flow_start(s, 0, 1, 2000);

		sim_flow_start(s, 1, 0, 2000);
		sim_run(s, 2000);
		s->node[0].damages_trains = true;
		assert_in_range(sim_until(s, is_convicted, NULL, 30000), 1, 3500);
		assert_true(arrives_pm(s, there, 10000) >= 990);
		assert_int_equal(sim_events(s, EV_OFFLOAD_BROKEN), 1);
		assert_int_equal(s->node[0].n_events[EV_DATA_LOSS],
				 s->node[0].n_events[EV_DATA_LOSS_OVER]);
		assert_true(s->node[0].singly[1]);
		sim_free(s);
	}
}

/* All links of node 0 lose data, so the path changes during the trials. */
static void all_links_of_a_faulty_card_recover(void **state)
{
	(void)state;
	for (uint64_t seed = 321; seed < 321 + LENGTH(10, 2); seed++) {
		struct sim *s = settled(4, seed);
		struct sim_flow *f = sim_flow_start(s, 0, 1, 2000);

		sim_run(s, 2000);
		s->node[0].damages_trains = true;
		sim_run(s, 8000);
		assert_true(arrives_pm(s, f, 10000) >= 990);
		assert_in_range(s->node[0].n_events[EV_OFFLOAD_BROKEN], 1, 3);
		assert_int_equal(sim_events(s, EV_OFFLOAD_BROKEN),
				 s->node[0].n_events[EV_OFFLOAD_BROKEN]);
		sim_free(s);
	}
}

static void a_firewall_convicts_nothing(void **state)
{
	struct sim *s = settled(2, 341);

	(void)state;
	sim_flow_start(s, 0, 1, 2000);
	sim_link(s, 0, 1)->data_down = true;
	sim_run(s, 60000);
	assert_int_equal(sim_events(s, EV_OFFLOAD_BROKEN), 0);
	assert_false(s->node[0].singly[1]);
	sim_free(s);
}

static void an_hour_of_loss_convicts_nothing(void **state)
{
	static const uint16_t loss_pm[] = { 10, 50 };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct sim *s = settled(2, 351 + i);

		sim_link(s, 0, 1)->loss_pm = sim_link(s, 1, 0)->loss_pm = loss_pm[i];
		sim_flow_start(s, 0, 1, 2000);
		sim_flow_start(s, 1, 0, 10000);
		sim_run(s, HOUR_MS);
		assert_int_equal(sim_events(s, EV_OFFLOAD_BROKEN), 0);
		sim_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_faulty_card_is_found),
		cmocka_unit_test(all_links_of_a_faulty_card_recover),
		cmocka_unit_test(a_firewall_convicts_nothing),
		cmocka_unit_test(an_hour_of_loss_convicts_nothing),
	};

	cmocka_set_test_filter(getenv("SIM_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
