// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The two paths of critical frames (state/latency/second.h) from node 0 to node 1: over the direct
 * link and over one of the relays 2, 3 and 4. Times are the short-term and long-term RTT in ms.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "state/latency/second.h"

#define N  5
#define TO 1

struct lab {
	struct latdb *db;
	struct path_params pp;
	struct second s;
	uint32_t seq;
};

static int setup(void **state)
{
	static struct lab l;

	l = (struct lab){ .db = latdb_new(), .pp = { .maximum_relays = 3 } };
	*state = &l;
	return 0;
}

static int teardown(void **state)
{
	latdb_free(((struct lab *)*state)->db);
	return 0;
}

static uint16_t slot_is_id_minus_one(void *arg, node_id_t id)
{
	(void)arg;
	return (uint16_t)(id - 1);
}

/* Sets the own link to a node. */
static void link_is(struct lab *l, uint16_t to, uint32_t now_ms, uint32_t long_term_ms)
{
	struct lat_entry e = { .rtt_us = now_ms * 1000,
			       .long_term_us = long_term_ms * 1000,
			       .mtu = 1400,
			       .up = now_ms > 0 };

	latdb_set(l->db, to, &e);
}

/* The link between relay and destination takes 1 ms, so the own link to the relay decides. */
static void relays_reach_it(struct lab *l)
{
	l->seq++;
	for (uint16_t from = 1; from < N; from++) {
		struct msg_row m = { .incarnation = 1, .seq = l->seq, .parts = 1 };
		struct lat_entry link = {
			.up = true, .rtt_us = 1000, .long_term_us = 1000, .mtu = 1400
		};

		for (uint16_t to = 1; to < N; to++)
			if (to != from)
				m.entry[m.n++] = (struct row_entry){ to + 1u, link };
		latdb_merge(l->db, from, &m, slot_is_id_minus_one, NULL);
	}
}

static void run(struct lab *l)
{
	second_run(&l->s, l->db, &l->pp, N, TO, (mono_t){ .ns = 1 });
}

static uint16_t relay_of(const struct path *p)
{
	return p->n_hops == 2 ? p->hop[0] : SLOT_NONE;
}

static void begin(struct lab *l, uint32_t direct_ms, uint32_t two_ms, uint32_t three_ms)
{
	relays_reach_it(l);
	link_is(l, TO, direct_ms, direct_ms);
	link_is(l, 2, two_ms, two_ms);
	link_is(l, 3, three_ms, three_ms);
	run(l);
	assert_int_equal(l->s.first.n_hops, 1);
	assert_int_equal(relay_of(&l->s.path), two_ms <= three_ms ? 2 : 3);
	assert_int_equal(l->s.n_changes, 0);
}

/* While the direct link is good, the present state of the second path has no effect. */
static void nothing_moves_while_the_first_is_good(void **state)
{
	struct lab *l = *state;

	begin(l, 40, 50, 60);
	link_is(l, 2, 400, 55);
	run(l);
	assert_int_equal(relay_of(&l->s.path), 2);
	assert_int_equal(l->s.n_changes, 0);
}

/* When the direct link becomes bad, traffic depends on the second path. The path with the lower
 * short-term RTT is chosen, even if another one is better in the long term. */
static void what_is_good_now_counts_when_the_first_is_bad(void **state)
{
	struct lab *l = *state;

	begin(l, 40, 50, 60);
	link_is(l, 2, 120, 50);
	link_is(l, TO, 300, 40);
	run(l);
	assert_int_equal(relay_of(&l->s.path), 3);
	assert_int_equal(l->s.n_changes, 1);
	/* The path stays when the direct link is good again, because another change has no
	 * benefit. */
	link_is(l, TO, 40, 40);
	link_is(l, 2, 50, 50);
	run(l);
	assert_int_equal(relay_of(&l->s.path), 3);
	assert_int_equal(l->s.n_changes, 1);
}

/* An unresponsive link counts as missing, independent of its RTT. */
static void a_silent_first_counts_for_nothing(void **state)
{
	struct lab *l = *state;
	struct lat_entry silent = {
		.rtt_us = 45000, .long_term_us = 40000, .up = true, .silent = true
	};

	begin(l, 40, 50, 60);
	link_is(l, 2, 120, 50);
	run(l);
	assert_int_equal(relay_of(&l->s.path), 2);
	latdb_set(l->db, TO, &silent);
	run(l);
	assert_int_equal(l->s.first.n_hops, 1);
	assert_int_equal(relay_of(&l->s.path), 3);
}

/* A second path with a much higher long-term RTT is replaced, although no copy arrives earlier. The
 * second path carries all traffic if the first one fails. */
static void what_lasts_counts_too(void **state)
{
	struct lab *l = *state;

	begin(l, 60, 70, 200);
	link_is(l, 4, 60, 60);
	run(l);
	assert_int_equal(relay_of(&l->s.path), 2);
	link_is(l, 4, 45, 45);
	link_is(l, TO, 40, 40);
	run(l);
	assert_int_equal(relay_of(&l->s.path), 4);
	assert_int_equal(l->s.n_changes, 1);
}

/* The path is not replaced while the other one delivers copies later. */
static void what_lasts_waits_while_it_is_worse_now(void **state)
{
	struct lab *l = *state;

	begin(l, 60, 70, 200);
	link_is(l, TO, 80, 60);
	link_is(l, 4, 75, 40);
	run(l);
	assert_int_equal(relay_of(&l->s.path), 2);
	link_is(l, 4, 65, 40);
	run(l);
	assert_int_equal(relay_of(&l->s.path), 4);
}

/* Without a direct link, two different relays are used. */
static void two_relays_share_nothing(void **state)
{
	struct lab *l = *state;

	begin(l, 40, 50, 60);
	link_is(l, TO, 0, 0);
	run(l);
	assert_int_equal(relay_of(&l->s.first), 2);
	assert_int_equal(relay_of(&l->s.path), 3);
	link_is(l, 2, 0, 0);
	run(l);
	assert_int_equal(relay_of(&l->s.first), 3);
	assert_int_equal(l->s.path.n_hops, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_moves_while_the_first_is_good, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_is_good_now_counts_when_the_first_is_bad,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_silent_first_counts_for_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(what_lasts_counts_too, setup, teardown),
		cmocka_unit_test_setup_teardown(what_lasts_waits_while_it_is_worse_now, setup,
						teardown),
		cmocka_unit_test_setup_teardown(two_relays_share_nothing, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
