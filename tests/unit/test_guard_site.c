// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The loop guards of several routers at one site. The LAN has VLANs, loses frames, and is cut and
 * repaired at random, in each direction. Routers fail, stall, lose the overlay and return. The test
 * verifies the forwarder of each VLAN, and that no frame can loop.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/defs.h"
#include "daemon/guard/loop_guard.h"

#define NODES 3
#define VLANS 4
/* Each of three node-ids from this one has the best rank in some VLAN. */
#define FIRST	    0xa000005u
#define ELSEWHERE   0x0b000001u
#define INTERVAL_MS 1000
#define CROSSING_MS 3 /* largest delay of a guard frame */
#define WIRE	    4096

struct site {
	struct guard node[NODES];
	bool hears[NODES][NODES]; /* [a][b]: a receives frames of b */
	bool reaches[NODES];	  /* the node reaches the overlay */
	bool is_dead[NODES];
	int64_t wakes_ms[NODES]; /* the node stalls until this time */
	int64_t deaf_ms[NODES];	 /* the workers stall, and frames of the LAN wait until this time */
	int64_t tick_ms[NODES];	 /* next tick */
	int64_t cut_ms;		 /* time of the last change */
	int64_t alone_ms[VLANS]; /* begin of the time without a forwarder */
	int64_t worst_gap_ms, worst_pair_ms;
	int64_t pair_ms[VLANS];
	struct {
		struct guard_frame f;
		int64_t due_ms;
		unsigned taken_by; /* bits of nodes */
	} wire[WIRE];
	unsigned n_wire, loss_pm;
	uint64_t random;
};

static struct site s;

/* The node has a session and has stated no number yet. */
static const struct guard_bounds in_session = { .in_session = true, .most = UINT64_MAX };

static mono_t at_ms(int64_t ms)
{
	return (mono_t){ NS_PER_S + ms * NS_PER_MS };
}

static unsigned dice(unsigned n)
{
	s.random ^= s.random << 13;
	s.random ^= s.random >> 7;
	s.random ^= s.random << 17;
	return (unsigned)(s.random % n);
}

static uint16_t vlan_of(unsigned i)
{
	return (uint16_t)(i * 10);
}

static void say(unsigned who, uint16_t vlan, int64_t ms)
{
	struct guard_frame f = { .node = FIRST + who, .incarnation = 1 };

	guard_fill(&s.node[who], vlan, &f);
	if (dice(1000) < s.loss_pm)
		return;
	assert_true(s.n_wire < WIRE);
	s.wire[s.n_wire].f = f;
	s.wire[s.n_wire].taken_by = 0;
	s.wire[s.n_wire++].due_ms = ms + 1 + dice(CROSSING_MS);
}

static bool runs(unsigned i, int64_t ms)
{
	return !s.is_dead[i] && s.wakes_ms[i] <= ms;
}

/* Frames wait for a stalled node. Returns true if all nodes have the frame. */
static bool is_taken(unsigned at, int64_t ms)
{
	const struct guard_frame *f = &s.wire[at].f;

	for (unsigned i = 0; i < NODES; i++) {
		if (!runs(i, ms) || s.deaf_ms[i] > ms || s.wire[at].taken_by & 1u << i)
			continue;
		s.wire[at].taken_by |= 1u << i;
		if (FIRST + i != f->node && s.hears[i][f->node - FIRST])
			guard_receive(&s.node[i], f, &in_session, at_ms(ms));
	}
	for (unsigned i = 0; i < NODES; i++)
		if (!s.is_dead[i] && !(s.wire[at].taken_by & 1u << i))
			return false;
	return true;
}

static void deliver(int64_t ms)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < s.n_wire; i++)
		if (s.wire[i].due_ms > ms || !is_taken(i, ms))
			s.wire[kept++] = s.wire[i];
	s.n_wire = kept;
}

static void run_node(unsigned i, int64_t ms)
{
	struct guard *g = &s.node[i];
	unsigned at = 0;
	uint16_t vlan;

	if (ms >= s.tick_ms[i]) {
		g->input_stalled = s.deaf_ms[i] > ms;
		guard_tick(g, at_ms(ms));
		s.tick_ms[i] = ms + guard_tick_ms(g);
		while (guard_next_due(g, &vlan))
			say(i, vlan, ms);
		while (guard_next_fast(g, &at, &vlan))
			say(i, vlan, ms);
	}
	at = 0;
	while (guard_next_urgent(g, &at, &vlan))
		say(i, vlan, ms);
}

static bool forwards(unsigned i, uint16_t vlan)
{
	enum guard_state state = guard_vlan_state(&s.node[i], vlan);

	return !s.is_dead[i] && (state == GUARD_CLEAR || state == GUARD_SHARED);
}

static unsigned n_forwarding(uint16_t vlan)
{
	unsigned n = 0;

	for (unsigned i = 0; i < NODES; i++)
		n += forwards(i, vlan);
	return n;
}

/* Returns whether a knows that b is on its LAN. */
static bool has_received(unsigned a, unsigned b, uint16_t vlan)
{
	const struct guard_vlan *v = s.node[a].vlan[vlan];

	for (unsigned i = 0; v && i < v->n_received; i++)
		if (v->received[i].node == FIRST + b)
			return true;
	return false;
}

/* A frame that a receives from the LAN and b returns to the LAN loops if a receives it again. Split
 * horizon prevents the loop if b has received a guard frame of a. */
static bool goes_round(unsigned a, unsigned b, uint16_t vlan)
{
	return forwards(a, vlan) && forwards(b, vlan) && s.hears[a][b] && s.hears[b][a] &&
	       !has_received(b, a, vlan);
}

/* Measures the longest time in which two nodes that know each other both forward. */
static void watch_pairs(unsigned k, int64_t ms)
{
	uint16_t vlan = vlan_of(k);
	bool pair = false;

	for (unsigned a = 0; a < NODES; a++)
		for (unsigned b = 0; b < a; b++)
			pair |= forwards(a, vlan) && forwards(b, vlan) && runs(a, ms) &&
				runs(b, ms) && s.hears[a][b] && s.hears[b][a] &&
				has_received(a, b, vlan) && has_received(b, a, vlan);
	if (!pair)
		s.pair_ms[k] = ms;
	s.worst_pair_ms = max_of(s.worst_pair_ms, ms - s.pair_ms[k]);
}

static void watch(int64_t ms)
{
	for (unsigned k = 0; k < VLANS; k++) {
		if (n_forwarding(vlan_of(k)))
			s.alone_ms[k] = ms;
		s.worst_gap_ms = max_of(s.worst_gap_ms, ms - s.alone_ms[k]);
		watch_pairs(k, ms);
	}
}

static int64_t run(int64_t from_ms, int64_t for_ms)
{
	for (int64_t ms = from_ms; ms < from_ms + for_ms; ms++) {
		deliver(ms);
		for (unsigned i = 0; i < NODES; i++)
			if (runs(i, ms))
				run_node(i, ms);
		watch(ms);
	}
	return from_ms + for_ms;
}

static void forget_worst(int64_t ms)
{
	s.worst_gap_ms = s.worst_pair_ms = 0;
	for (unsigned k = 0; k < VLANS; k++)
		s.alone_ms[k] = s.pair_ms[k] = ms;
}

static void set_overlay(unsigned i, bool up, int64_t ms)
{
	const node_id_t elsewhere = ELSEWHERE;

	s.reaches[i] = up;
	guard_reach(&s.node[i], &elsewhere, up, at_ms(ms));
}

static void boot(unsigned i, int64_t ms)
{
	const struct guard_conf c = { .enabled = true,
				      .preference = 128,
				      .interval_ms = INTERVAL_MS };
	uint64_t sequence = s.node[i].sequence;

	guard_free(&s.node[i]);
	guard_init(&s.node[i], FIRST + i, &c, at_ms(ms));
	s.node[i].incarnation = 1;
	s.node[i].sequence = sequence;
	guard_lan(&s.node[i], true, at_ms(ms));
	for (unsigned k = 0; k < VLANS; k++)
		guard_use(&s.node[i], vlan_of(k), at_ms(ms));
	set_overlay(i, true, ms);
	s.is_dead[i] = false;
	s.wakes_ms[i] = s.tick_ms[i] = ms;
}

static int64_t open_site(uint64_t seed, unsigned loss_pm)
{
	int64_t ms;

	s = (struct site){ .random = seed, .loss_pm = loss_pm };
	memset(s.hears, true, sizeof(s.hears));
	for (unsigned i = 0; i < NODES; i++)
		boot(i, 0);
	ms = run(0, 5000);
	forget_worst(ms);
	return ms;
}

static void close_site(void)
{
	for (unsigned i = 0; i < NODES; i++)
		guard_free(&s.node[i]);
}

static unsigned best(uint16_t vlan, unsigned without)
{
	struct guard_rank top = { 0 };
	unsigned found = NODES;

	for (unsigned i = 0; i < NODES; i++) {
		struct guard_rank r = guard_rank_of(128, FIRST + i, vlan);

		if (i == without || (found != NODES && guard_outranks(&top, &r)))
			continue;
		top = r;
		found = i;
	}
	return found;
}

static void expect_forwarders(unsigned without)
{
	for (unsigned k = 0; k < VLANS; k++)
		for (unsigned i = 0; i < NODES; i++)
			assert_int_equal(forwards(i, vlan_of(k)), i == best(vlan_of(k), without));
}

/* A node may fail just after it has sent a guard frame, and a tick has 50 ms. */
#define TAKEOVER_MS (GUARD_FAST_MISSED * GUARD_FAST_MS + 50 + 2 * CROSSING_MS)

static void the_dead_are_replaced_within_three_guards(void **state)
{
	int64_t ms = open_site(88172645463325252ULL, 0);

	(void)state;
	expect_forwarders(NODES);
	for (unsigned i = 0; i < NODES; i++) {
		forget_worst(ms);
		s.is_dead[i] = true;
		ms = run(ms, 1000);
		expect_forwarders(i);
		assert_in_range(s.worst_gap_ms, 1, TAKEOVER_MS);
		/* The node returns and becomes the forwarder of its VLANs, with a gap of two
		 * messages. */
		boot(i, ms);
		forget_worst(ms);
		ms = run(ms, 3000);
		expect_forwarders(NODES);
		assert_in_range(s.worst_gap_ms, 0, 2 * CROSSING_MS + 1);
		assert_in_range(s.worst_pair_ms, 0, 2 * CROSSING_MS + 1);
	}
	close_site();
}

static void who_leaves_or_loses_the_overlay_hands_over_in_two_messages(void **state)
{
	int64_t ms = open_site(1234567, 0);

	(void)state;
	for (unsigned i = 0; i < NODES; i++) {
		forget_worst(ms);
		set_overlay(i, false, ms);
		ms = run(ms, 1000);
		expect_forwarders(i);
		set_overlay(i, true, ms);
		ms = run(ms, 1000);
		expect_forwarders(NODES);
		assert_in_range(s.worst_gap_ms, 1, 3 * CROSSING_MS);
		assert_int_equal(s.worst_pair_ms, 0);
	}
	close_site();
}

/* A stall below the limit changes nothing. In a longer stall the other nodes become forwarders, and
 * the node yields when it continues. */
static void standing_still_makes_no_circle(void **state)
{
	int64_t ms = open_site(42, 0);

	(void)state;
	for (unsigned trial = 0; trial < 60; trial++) {
		s.wakes_ms[trial % NODES] = ms + 50 + 40 * trial;
		for (unsigned i = 0; i < 40; i++) {
			ms = run(ms, 100);
			for (unsigned k = 0; k < VLANS; k++)
				for (unsigned a = 0; a < NODES; a++)
					for (unsigned b = 0; b < NODES; b++)
						assert_false(a != b && runs(a, ms) && runs(b, ms) &&
							     goes_round(a, b, vlan_of(k)));
		}
		assert_in_range(s.worst_pair_ms, 0, 100 + 2 * CROSSING_MS);
		expect_forwarders(NODES);
		forget_worst(ms);
	}
	close_site();
}

/* The guard runs, but the workers stall and receive no guard frames. Frames that were not read are
 * no silence. */
static void who_cannot_receive_makes_no_circle(void **state)
{
	int64_t ms = open_site(4711, 0);

	(void)state;
	for (unsigned trial = 0; trial < 60; trial++) {
		s.deaf_ms[trial % NODES] = ms + 50 + 100 * trial;
		for (unsigned i = 0; i < 80; i++) {
			ms = run(ms, 100);
			for (unsigned k = 0; k < VLANS; k++)
				for (unsigned a = 0; a < NODES; a++)
					for (unsigned b = 0; b < NODES; b++)
						assert_false(a != b &&
							     goes_round(a, b, vlan_of(k)));
		}
		/* The other nodes receive its frames, and no forwarder changes. */
		assert_int_equal(s.worst_pair_ms, 0);
		assert_int_equal(s.worst_gap_ms, 0);
		expect_forwarders(NODES);
	}
	close_site();
}

/* A node that begins while its workers stall stays in listening. */
static void who_cannot_receive_does_not_begin(void **state)
{
	int64_t ms = open_site(815, 0);

	(void)state;
	for (unsigned i = 0; i < NODES; i++) {
		s.is_dead[i] = true;
		ms = run(ms, 5000);
		boot(i, ms);
		s.deaf_ms[i] = ms + 4000;
		ms = run(ms, 3999);
		for (unsigned k = 0; k < VLANS; k++)
			assert_false(forwards(i, vlan_of(k)));
		ms = run(ms, 2000);
		expect_forwarders(NODES);
	}
	close_site();
}

static void reconfigure(unsigned i, uint32_t interval_ms, int64_t ms)
{
	struct guard_conf c = s.node[i].conf;

	c.interval_ms = interval_ms;
	guard_configure(&s.node[i], &c, at_ms(ms));
}

static uint64_t n_blocked(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < NODES; i++)
		n += s.node[i].n_blocked;
	return n;
}

static void expect_no_circle(void)
{
	for (unsigned k = 0; k < VLANS; k++)
		for (unsigned a = 0; a < NODES; a++)
			for (unsigned b = 0; b < NODES; b++)
				assert_false(a != b && goes_round(a, b, vlan_of(k)));
}

/* A VLAN has one guard of a slow node in several intervals of a fast one. */
static void different_intervals_change_no_forwarder(void **state)
{
	static const uint32_t to_ms[] = { 100, 60000, 200, 150, 1000 };
	int64_t ms = open_site(424242, 0);
	uint64_t before = n_blocked();

	(void)state;
	for (unsigned i = 0; i < array_size(to_ms); i++) {
		reconfigure(0, to_ms[i], ms);
		for (unsigned step = 0; step < 20000; step++) {
			ms = run(ms, 1);
			expect_no_circle();
		}
		expect_forwarders(NODES);
		assert_int_equal(n_blocked(), before);
	}
	close_site();
}

/* A fast node listens for less than the interval of a slow one. */
static void a_fast_node_listens_again_without_a_circle(void **state)
{
	int64_t ms = open_site(424243, 0);

	(void)state;
	reconfigure(0, 100, ms);
	ms = run(ms, 5000);
	for (unsigned trial = 0; trial < 50; trial++) {
		for (unsigned i = 1; i < NODES && trial == 25; i++)
			reconfigure(i, 60000, ms);
		guard_lan(&s.node[0], true, at_ms(ms));
		for (unsigned step = 0; step < 3000; step++) {
			ms = run(ms, 1);
			expect_no_circle();
		}
		expect_forwarders(NODES);
	}
	close_site();
}

static void change_something(int64_t ms)
{
	unsigned who = dice(NODES);

	switch (dice(6)) {
	case 0:
		s.is_dead[who] = true;
		break;
	case 1:
		boot(who, ms);
		break;
	case 2:
		set_overlay(who, !s.reaches[who], ms);
		break;
	case 3:
		s.wakes_ms[who] = ms + dice(1500);
		break;
	default:
		for (unsigned a = 0; a < NODES; a++)
			for (unsigned b = 0; b < NODES; b++)
				s.hears[a][b] = dice(4) != 0;
	}
}

static void heal(int64_t ms)
{
	memset(s.hears, true, sizeof(s.hears));
	for (unsigned i = 0; i < NODES; i++) {
		if (s.is_dead[i])
			boot(i, ms);
		if (!s.reaches[i])
			set_overlay(i, true, ms);
	}
}

/* After any cut, nodes with a connection in both directions settle. After the repair, the first
 * state returns. */
static void random_cuts(uint64_t seed, unsigned loss_pm)
{
	int64_t ms = open_site(seed, loss_pm);

	for (unsigned trial = 0; trial < 100; trial++) {
		unsigned n = 1 + dice(3);

		while (n--) {
			change_something(ms);
			ms = run(ms, 1 + dice(3000));
		}
		ms = run(ms, 5000);
		for (unsigned k = 0; k < VLANS; k++)
			for (unsigned a = 0; a < NODES; a++)
				for (unsigned b = 0; b < NODES; b++)
					assert_false(a != b && goes_round(a, b, vlan_of(k)));
		heal(ms);
		ms = run(ms, 4000);
		forget_worst(ms);
		ms = run(ms, 2000);
		/* If guard frames are lost, a stop may be received late. */
		assert_in_range(s.worst_pair_ms, 0, loss_pm ? 400 : 0);
		assert_in_range(s.worst_gap_ms, 0, loss_pm ? 400 : 0);
		if (!loss_pm)
			expect_forwarders(NODES);
	}
	close_site();
}

static void a_hundred_cuts_and_heals(void **state)
{
	(void)state;
	random_cuts(20261122, 0);
}

static void a_hundred_cuts_and_heals_with_losses(void **state)
{
	(void)state;
	random_cuts(20261123, 100);
}

/* --- rank --- */

static void the_rank_is_the_protocol_s(void **state)
{
	struct guard_rank a = guard_rank_of(128, 0xc0000201, 10);

	(void)state;
	/* The value in doc/protocol.md section 7. */
	assert_int_equal(a.mix, 0x0a87b9fbba66be77ULL);
	assert_true(guard_outranks(&(struct guard_rank){ 129, 0, 9 },
				   &(struct guard_rank){ 128, 5, 1 }));
	assert_true(guard_outranks(&(struct guard_rank){ 128, 6, 9 },
				   &(struct guard_rank){ 128, 5, 1 }));
	assert_true(guard_outranks(&(struct guard_rank){ 128, 5, 1 },
				   &(struct guard_rank){ 128, 5, 9 }));
	assert_false(guard_outranks(&a, &a));
}

/* Returns the node with the best rank in a VLAN. */
static unsigned best_of(node_id_t first, unsigned n, unsigned without, uint16_t vlan)
{
	unsigned best = n;

	for (unsigned i = 0; i < n; i++) {
		struct guard_rank r = guard_rank_of(128, first + i, vlan);
		struct guard_rank b = guard_rank_of(128, first + best, vlan);

		if (i != without && (best == n || guard_outranks(&r, &b)))
			best = i;
	}
	return best;
}

static void vlans_are_shared_out_and_only_a_leaver_s_move(void **state)
{
	unsigned uneven = 0;

	(void)state;
	for (node_id_t first = 0x0a000001; first < 0x0a000001 + 400; first += 2) {
		unsigned n = 0;

		for (uint16_t vlan = 1; vlan <= 100; vlan++) {
			unsigned best = best_of(first, 3, 3, vlan);

			n += best_of(first, 2, 3, vlan) == 0;
			for (unsigned gone = 0; gone < 3; gone++)
				if (gone != best)
					assert_int_equal(best_of(first, 3, gone, vlan), best);
		}
		assert_in_range(n, 25, 75);
		uneven += n < 40 || n > 60;
	}
	/* With 100 coin tosses, 3.5 % of the results lie outside 40 to 60. */
	assert_in_range(uneven, 0, 200 * 8 / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rank_is_the_protocol_s),
		cmocka_unit_test(vlans_are_shared_out_and_only_a_leaver_s_move),
		cmocka_unit_test(the_dead_are_replaced_within_three_guards),
		cmocka_unit_test(who_leaves_or_loses_the_overlay_hands_over_in_two_messages),
		cmocka_unit_test(standing_still_makes_no_circle),
		cmocka_unit_test(who_cannot_receive_makes_no_circle),
		cmocka_unit_test(who_cannot_receive_does_not_begin),
		cmocka_unit_test(different_intervals_change_no_forwarder),
		cmocka_unit_test(a_fast_node_listens_again_without_a_circle),
		cmocka_unit_test(a_hundred_cuts_and_heals),
		cmocka_unit_test(a_hundred_cuts_and_heals_with_losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
