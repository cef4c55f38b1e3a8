// SPDX-License-Identifier: GPL-2.0-or-later
/* state/latency: clocks of nodes along the best links, the clock of a link, relayed datagrams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/defs.h"
#include "state/latency/clocks.h"
#include "state/latency/one_way.h"
#include "state/latency/relayed.h"

enum { A = 1, R, B, C };

static void test_along_the_best_links(void **state)
{
	/* The direct link of A and B has a large error. R reports the clock of B; C reports that of
	 * A, so the link of C is used in reverse. */
	static const struct clock_link link[] = { { A, B, 9999, 60000 },
						  { A, R, 1000, 20000 },
						  { R, B, 0u - 300, 30000 },
						  { C, A, 50, 4000 } };
	struct clock_of_node node[] = {
		{ .node = A }, { .node = R }, { .node = B }, { .node = C }, { .node = 77 }
	};

	(void)state;
	clocks_solve(link, array_size(link), A, node, array_size(node));
	assert_true(node[0].known && node[0].offset_us == 0 && node[0].error_us == 0);
	assert_true(node[1].known && node[1].offset_us == 1000 && node[1].error_us == 10000);
	assert_true(node[2].known && node[2].offset_us == 700 && node[2].error_us == 25000);
	assert_true(node[3].known && node[3].offset_us == 0u - 50 && node[3].error_us == 2000);
	assert_false(node[4].known);
}

static void test_links_in_any_order(void **state)
{
	struct clock_link link[20];
	struct clock_of_node node[20];

	(void)state;
	/* A chain, the farthest link first. */
	for (unsigned i = 0; i < 20; i++) {
		link[i] = (struct clock_link){ 20 - i, 21 - i, 5, 10 };
		node[i].node = i + 2;
	}
	clocks_solve(link, 20, 1, node, 20);
	assert_true(node[19].known);
	assert_int_equal(node[19].offset_us, 100);
	assert_int_equal(node[19].error_us, 100);
	/* Without a link nothing is known. */
	clocks_solve(link, 0, 1, node, 20);
	assert_false(node[0].known);
}

static void note(struct one_way *w, int64_t at_us, uint32_t theirs, int64_t forward, int64_t back)
{
	struct one_way_times t = { .sent_us = at_us,
				   .answered_us = at_us + forward + 10 + back,
				   .arrived_us = (uint32_t)(at_us + forward) + theirs,
				   .held_us = 10 };

	one_way_note(w, &t, (mono_t){ t.answered_us * NS_PER_US });
}

/* The clock of the other node is ahead, and wraps around. */
static void test_clock_of_a_link(void **state)
{
	static const uint32_t ahead[] = { 0, 123456, 0u - 5000, 0x80000000u, 0xffffff00u };

	(void)state;
	for (size_t i = 0; i < array_size(ahead); i++) {
		struct one_way w = { 0 };
		uint32_t offset, rtt;

		for (int n = 0; n < 30; n++) {
			int64_t queue = n % 7 ? 3000 * (n % 5) : 0;

			assert_int_equal(one_way_clock(&w, (mono_t){ NS_PER_S }, &offset, &rtt),
					 n >= 5);
			note(&w, 1000000 + n * 1000, ahead[i], 10000 + queue, 10000);
		}
		assert_true(one_way_clock(&w, (mono_t){ NS_PER_S }, &offset, &rtt));
		assert_int_equal(rtt, 20000);
		assert_int_equal(offset, ahead[i]);
	}
}

/* The error is half of the difference of the delays, and within half of the round trip. */
static void test_error_of_a_link(void **state)
{
	struct one_way w = { 0 };
	uint32_t offset, rtt;

	(void)state;
	for (int n = 0; n < 10; n++)
		note(&w, 1000000 + n * 1000, 0, 30000, 10000);
	assert_true(one_way_clock(&w, (mono_t){ NS_PER_S }, &offset, &rtt));
	assert_int_equal(rtt, 40000);
	assert_int_equal(offset, 10000);
}

static void test_relayed(void **state)
{
	struct relayed *t = relayed_new();
	uint32_t at;

	(void)state;
	assert_false(relayed_find(t, A, B, 0, &at));
	for (uint32_t i = 1; i <= 1000; i++)
		relayed_add(t, A, B, i, i * 10);
	for (uint32_t i = 1; i <= 1000; i++) {
		assert_true(relayed_find(t, A, B, i, &at));
		assert_int_equal(at, i * 10);
	}
	assert_false(relayed_find(t, B, A, 7, &at));
	assert_false(relayed_find(t, A, C, 7, &at));
	/* Memory is fixed: the newest stay. */
	for (uint32_t i = 1001; i <= 200000; i++)
		relayed_add(t, A, B, i, i);
	assert_true(relayed_find(t, A, B, 200000, &at));
	assert_false(relayed_find(t, A, B, 1, &at));
	relayed_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_along_the_best_links),
					    cmocka_unit_test(test_links_in_any_order),
					    cmocka_unit_test(test_clock_of_a_link),
					    cmocka_unit_test(test_error_of_a_link),
					    cmocka_unit_test(test_relayed) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
