// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Forged and replayed guard frames of a host on the LAN. With a forged frame, a node still accepts
 * genuine frames of other nodes. A replayed frame blocks a VLAN for some intervals at most. Up to
 * three routers share a LAN and state their guard numbers once per second, as their PINGs do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/defs.h"
#include "daemon/guard/loop_guard.h"

#define NODES	    3
#define INTERVAL_MS 1000
#define PING_MS	    1000
#define STALE_MS    (GUARD_STALE_INTERVALS * INTERVAL_MS)
#define FIRST	    0x0a000001u
#define RUN	    7		/* incarnation of all nodes */
#define ELSEWHERE   0x0b000001u /* reached through the overlay */
#define VLAN	    10
#define BOTH	    (GUARD_READY | GUARD_FORWARDS)
#define WIRE	    256

struct lan {
	struct guard node[NODES];
	unsigned n;    /* number of nodes on the LAN */
	bool sessions; /* between the nodes */
	bool serves_vlan_20[NODES];
	struct guard_statements stated[NODES][NODES]; /* [receiver][sender] */
	struct guard_frame wire[WIRE];
	unsigned n_wire;
	int64_t ms, tick_ms[NODES];
	unsigned worst_copies, outcome[NODES];
};

static struct lan s;

static mono_t now(void)
{
	return (mono_t){ NS_PER_S + s.ms * NS_PER_MS };
}

static void put_on_wire(const struct guard_frame *f)
{
	assert_true(s.n_wire < WIRE);
	s.wire[s.n_wire++] = *f;
}

static void say(unsigned who, uint16_t vlan)
{
	struct guard_frame f = { .node = FIRST + who, .incarnation = RUN };

	guard_fill(&s.node[who], vlan, &f);
	put_on_wire(&f);
}

static struct guard_bounds bounds_of(unsigned receiver, node_id_t node)
{
	unsigned sender = node - FIRST;

	if (!s.sessions || sender >= NODES)
		return (struct guard_bounds){ 0 };
	return guard_bounds_of(&s.stated[receiver][sender], RUN, RUN);
}

static void hear(unsigned i, const struct guard_frame *f)
{
	struct guard_bounds b = bounds_of(i, f->node);

	if (f->tag != 20 || s.serves_vlan_20[i])
		s.outcome[i] |= guard_receive(&s.node[i], f, &b, now());
}

/* A genuine frame does not return to its sender. A forged one reaches the named node. */
static void deliver(void)
{
	struct guard_frame wire[WIRE];
	unsigned n = s.n_wire;

	memcpy(wire, s.wire, n * sizeof(wire[0]));
	s.n_wire = 0;
	for (unsigned k = 0; k < n; k++)
		for (unsigned i = 0; i < s.n; i++)
			if (wire[k].node != FIRST + i || wire[k].sequence > s.node[i].sequence)
				hear(i, &wire[k]);
}

static void state_numbers(void)
{
	for (unsigned i = 0; i < s.n; i++)
		for (unsigned k = 0; k < s.n; k++)
			guard_stated(&s.stated[i][k], RUN, s.node[k].sequence, STALE_MS, now());
}

static void run_node(unsigned i)
{
	struct guard *g = &s.node[i];
	unsigned at = 0;
	uint16_t vlan;

	if (s.ms >= s.tick_ms[i]) {
		guard_tick(g, now());
		s.tick_ms[i] = s.ms + guard_tick_ms(g);
		while (guard_next_due(g, &vlan))
			say(i, vlan);
		while (guard_next_fast(g, &at, &vlan))
			say(i, vlan);
	}
	at = 0;
	while (guard_next_urgent(g, &at, &vlan))
		say(i, vlan);
}

static bool forwards(unsigned i)
{
	enum guard_state state = guard_vlan_state(&s.node[i], VLAN);

	return state == GUARD_CLEAR || state == GUARD_SHARED;
}

/* Returns the copies of one broadcast on the LAN, sent by node `from` or, for NODES, by a host.
 * Each forwarder carries the broadcast through the overlay to the others. */
static unsigned copies(unsigned from, unsigned depth)
{
	unsigned n = 1;

	for (unsigned a = 0; a < s.n && depth < 8; a++)
		for (unsigned b = 0; b < s.n; b++)
			if (a != b && a != from && forwards(a) && forwards(b) &&
			    !guard_is_on_lan(&s.node[b], VLAN, FIRST + a))
				n += copies(b, depth + 1);
	return n;
}

static void step(void)
{
	s.ms++;
	deliver();
	if (s.ms % PING_MS == 0)
		state_numbers();
	for (unsigned i = 0; i < s.n; i++)
		run_node(i);
	if (s.sessions)
		s.worst_copies = max_of(s.worst_copies, copies(NODES, 0));
}

static void pass(int64_t ms)
{
	for (int64_t end = s.ms + ms; s.ms < end;)
		step();
}

static void open_node(unsigned i)
{
	const struct guard_conf conf = { .enabled = true,
					 .preference = 128,
					 .interval_ms = INTERVAL_MS };
	const node_id_t elsewhere = ELSEWHERE;
	struct guard *g = &s.node[i];

	guard_init(g, FIRST + i, &conf, now());
	g->incarnation = RUN;
	g->sequence = 1000000 * (i + 1);
	guard_reach(g, &elsewhere, 1, now());
	guard_lan(g, true, now());
	guard_use(g, VLAN, now());
	s.serves_vlan_20[i] = i == 0;
	if (s.serves_vlan_20[i])
		guard_use(g, 20, now());
}

static void open_lan(unsigned n, bool sessions)
{
	for (unsigned i = 0; i < NODES; i++)
		guard_free(&s.node[i]);
	s = (struct lan){ .n = n, .sessions = sessions };
	for (unsigned i = 0; i < n; i++)
		open_node(i);
	pass(10000);
	s.worst_copies = 0;
	memset(s.outcome, 0, sizeof(s.outcome));
}

static unsigned n_forwarding(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s.n; i++)
		n += forwards(i);
	return n;
}

/* Forges a frame of a node with a sequence number that is ahead of the genuine one. The frame
 * claims that the node forwards nothing and receives all nodes. */
static void forge_in(uint16_t vlan, unsigned who, uint64_t ahead)
{
	struct guard_frame f = { .node = FIRST + who,
				 .tag = vlan,
				 .segment = vlan,
				 .preference = 128,
				 .incarnation = RUN,
				 .sequence = s.node[who].sequence + ahead };

	for (unsigned i = 0; i < s.n; i++)
		f.received[i] = guard_mark(FIRST + i, RUN);
	put_on_wire(&f);
}

static void forge(unsigned who, uint64_t ahead)
{
	forge_in(VLAN, who, ahead);
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NODES; i++)
		guard_free(&s.node[i]);
	s = (struct lan){ 0 };
	return 0;
}

/* --- far ahead --- */

static const uint64_t aheads[] = { 1,	       GUARD_WINDOW - 1,     GUARD_WINDOW, GUARD_WINDOW + 1,
				   GUARD_STEP, GUARD_STEP + 1,	     1ULL << 32,   GUARD_AHEAD / 2,
				   1ULL << 63, UINT64_MAX - 10000000 };

/* An alarm ends an endless loop. */
static void the_last_sequence_takes_no_longer_than_another(void **state)
{
	struct guard_frame f = { .node = FIRST + 1,
				 .incarnation = RUN,
				 .flags = BOTH,
				 .sequence = UINT64_MAX - GUARD_WINDOW };
	const struct guard_bounds none = { 0 };

	(void)state;
	open_lan(1, false);
	guard_receive(&s.node[0], &f, &none, now());
	f.sequence = UINT64_MAX;
	alarm(60);
	assert_false(guard_receive(&s.node[0], &f, &none, now()) & GUARD_REPLAYED);
	alarm(0);
	assert_int_equal(guard_vlan_state(&s.node[0], 0), GUARD_BLOCKED);
}

static void one_guard_for_each_router_mutes_none(void **state)
{
	(void)state;
	for (unsigned n = 2; n <= NODES; n++)
		for (unsigned k = 0; k < array_size(aheads); k++) {
			open_lan(n, true);
			for (unsigned who = 0; who < n; who++)
				forge(who, aheads[k]);
			pass(20000);
			assert_in_range(s.worst_copies, 1, 2);
			assert_int_equal(n_forwarding(), 1);
		}
}

/* Endless forgery determines the states, but every node still accepts the genuine frames of
 * others. */
static void guards_without_end_mute_none(void **state)
{
	(void)state;
	for (unsigned n = 2; n <= NODES; n++)
		for (unsigned k = 0; k < array_size(aheads); k++) {
			open_lan(n, true);
			for (unsigned i = 0; i < 2000; i++) {
				for (unsigned who = 0; who < n; who++)
					forge(who, aheads[k]);
				pass(5);
			}
			assert_in_range(s.worst_copies, 1, 2);
			pass(4000);
			assert_in_range(s.worst_copies, 1, 2);
			assert_int_equal(n_forwarding(), 1);
		}
}

/* The node that the guard frame names does not receive the frame if it does not serve the VLAN. */
static void a_guard_in_a_vlan_of_one_router_mutes_none(void **state)
{
	(void)state;
	for (unsigned k = 0; k < array_size(aheads); k++) {
		open_lan(2, true);
		for (unsigned i = 0; i < 1000; i++) {
			forge_in(20, 1, aheads[k]);
			pass(10);
		}
		assert_in_range(s.worst_copies, 1, 2);
		assert_int_equal(n_forwarding(), 1);
	}
}

/* The LAN does not carry the frame to the named node, so the number of that node stays. */
static void a_guard_that_one_router_hears_mutes_none(void **state)
{
	(void)state;
	for (unsigned k = 0; k < array_size(aheads); k++) {
		struct guard_frame f;
		unsigned who;

		open_lan(2, true);
		who = forwards(1);
		forge(who, aheads[k]);
		f = s.wire[--s.n_wire];
		f.flags = BOTH;
		hear(!who, &f);
		pass(20000);
		assert_in_range(s.worst_copies, 1, 2);
		assert_int_equal(n_forwarding(), 1);
	}
}

/* Nodes without a session exchange no frames. Two nodes would still forward one broadcast. */
static void without_a_session_a_live_window_stays(void **state)
{
	(void)state;
	for (unsigned k = 0; k < array_size(aheads); k++) {
		open_lan(2, false);
		for (unsigned i = 0; i < 1000; i++) {
			forge(0, aheads[k]);
			forge(1, aheads[k]);
			pass(10);
			assert_true(guard_is_on_lan(&s.node[0], VLAN, FIRST + 1));
			assert_true(guard_is_on_lan(&s.node[1], VLAN, FIRST));
		}
		pass(4000);
		assert_int_equal(n_forwarding(), 1);
	}
}

static void a_node_continues_above_a_forged_number_and_reports_it(void **state)
{
	uint64_t before;

	(void)state;
	open_lan(1, true);
	before = s.node[0].sequence;
	forge(0, GUARD_STEP);
	pass(1);
	assert_true(s.outcome[0] & GUARD_FORGED);
	assert_false(s.node[0].local_loop);
	assert_in_range(s.node[0].sequence, before + GUARD_STEP, before + GUARD_STEP + 2);
	/* One frame does not exhaust the numbers. */
	before = s.node[0].sequence;
	forge(0, GUARD_STEP + 10);
	forge(0, UINT64_MAX - 10 * before);
	pass(1);
	assert_in_range(s.node[0].sequence, before, before + 2);
	assert_int_equal(s.node[0].n_forged, 3);
}

/* --- recorded --- */

/* Makes a frame of node 1, which is not on the LAN of node 0. */
static struct guard_frame recorded(uint64_t sequence, uint32_t mark)
{
	return (struct guard_frame){ .node = FIRST + 1,
				     .tag = VLAN,
				     .segment = VLAN,
				     .flags = BOTH,
				     .preference = 200,
				     .incarnation = RUN,
				     .sequence = sequence,
				     .received = { mark } };
}

/* Replays frames for one minute. Returns the time for which the VLAN was not forwarded. */
static int64_t blocked_ms(uint64_t from, uint32_t mark)
{
	int64_t blocked = 0;

	for (unsigned i = 0; i < 60000; i++) {
		struct guard_frame f = recorded(from + i / 250, mark);

		if (i % 250 == 0)
			put_on_wire(&f);
		pass(1);
		blocked += !forwards(0);
	}
	return blocked;
}

/* Node 1 continues at another site and states its numbers. */
static void recorded_frames_of_a_node_in_session_block_nothing(void **state)
{
	(void)state;
	open_lan(1, true);
	for (unsigned i = 0; i < 10; i++) {
		guard_stated(&s.stated[0][1], RUN, 50000 + 10 * i, STALE_MS, now());
		pass(1000);
	}
	assert_int_equal(blocked_ms(1000, 0), 0);
	assert_int_equal(s.node[0].n_unconfirmed, 240);
	assert_true(s.outcome[0] & GUARD_UNCONFIRMED);
	/* Invented numbers and another incarnation do not block either. */
	assert_int_equal(blocked_ms(1ULL << 60, guard_mark(FIRST, RUN)), 0);
	/* A fresh frame on this LAN takes effect at once. */
	put_on_wire(&(struct guard_frame){ .node = FIRST + 1,
					   .tag = VLAN,
					   .segment = VLAN,
					   .flags = BOTH,
					   .incarnation = RUN,
					   .sequence = 50100 });
	pass(1);
	assert_int_equal(guard_vlan_state(&s.node[0], VLAN), GUARD_BLOCKED);
}

/* Such frames block for some intervals once, and never again. */
static void recorded_frames_of_a_node_without_session_block_some_intervals(void **state)
{
	const uint32_t earlier_run = guard_mark(FIRST, RUN - 1);

	(void)state;
	open_lan(1, false);
	assert_in_range(blocked_ms(1000, 0), 1, STALE_MS + 100);
	assert_int_equal(blocked_ms(2000, earlier_run), 0);
	/* A node that receives this run of the node is on the LAN. */
	assert_in_range(blocked_ms(3000, guard_mark(FIRST, RUN)), 59000, 60000);
}

/* The longest interval of a forged frame of a reached node does not extend the blocking. */
static void a_node_without_session_states_no_interval(void **state)
{
	const node_id_t reached[] = { FIRST + 1, ELSEWHERE };
	struct guard_frame f = recorded(1000, 0);

	(void)state;
	open_lan(1, false);
	guard_reach(&s.node[0], reached, 2, now());
	f.flags |= GUARD_INTERVAL;
	put_on_wire(&f);
	pass(STALE_MS - 100);
	assert_int_equal(guard_vlan_state(&s.node[0], VLAN), GUARD_BLOCKED);
	pass(200);
	assert_int_equal(guard_vlan_state(&s.node[0], VLAN), GUARD_CLEAR);
}

static void a_neighbour_without_session_is_received(void **state)
{
	(void)state;
	open_lan(2, false);
	for (unsigned i = 0; i < 20000; i++) {
		pass(1);
		assert_int_equal(n_forwarding(), 1);
	}
}

/* A neighbor that receives nothing and has no session loses its influence after some intervals. A
 * path to that neighbor restores its influence at once, before a frame loops. */
static void a_path_gives_a_deaf_neighbour_its_say_back(void **state)
{
	const node_id_t reached[] = { FIRST + 1, ELSEWHERE };

	(void)state;
	open_lan(1, false);
	for (unsigned i = 0; i < 100; i++) {
		struct guard_frame f = recorded(1000 + i, 0);

		put_on_wire(&f);
		pass(100);
	}
	assert_int_equal(guard_vlan_state(&s.node[0], VLAN), GUARD_SHARED);
	assert_true(s.outcome[0] & GUARD_UNCONFIRMED);
	guard_reach(&s.node[0], reached, 2, now());
	assert_int_equal(guard_vlan_state(&s.node[0], VLAN), GUARD_BLOCKED);
}

/* An invented node-id does not displace a node with a session from the list. */
static void nodes_in_session_have_the_first_places(void **state)
{
	(void)state;
	open_lan(2, true);
	for (unsigned i = 0; i < 400; i++) {
		struct guard_frame f = recorded(1, guard_mark(FIRST, RUN));

		f.node = 0xdd000000 + i;
		f.preference = 255;
		f.flags = GUARD_READY;
		put_on_wire(&f);
		pass(10);
		assert_true(guard_is_on_lan(&s.node[0], VLAN, FIRST + 1));
	}
}

/* --- once --- */

static bool is_replay(uint64_t incarnation, uint64_t number)
{
	const struct guard_bounds none = { 0 };
	struct guard_frame f = recorded(number, guard_mark(FIRST, RUN));

	f.incarnation = incarnation;
	return guard_receive(&s.node[0], &f, &none, now()) & GUARD_REPLAYED;
}

static void each_number_is_taken_once(void **state)
{
	(void)state;
	open_lan(1, false);
	assert_false(is_replay(5, 2000));
	assert_true(is_replay(5, 2000));
	/* Frames of several VLANs may overtake each other within the window. */
	assert_false(is_replay(5, 1990));
	assert_true(is_replay(5, 1990));
	assert_false(is_replay(5, 2000 - GUARD_WINDOW + 1));
	assert_true(is_replay(5, 2000 - GUARD_WINDOW));
	assert_true(is_replay(4, 9000));
	assert_false(is_replay(5, 9000));
	assert_true(is_replay(5, 2001));
	assert_false(is_replay(6, 1));
	assert_true(is_replay(6, 1));
	assert_true(is_replay(5, 9001));
	assert_int_equal(s.node[0].n_replayed, 7);
	/* A replay is refused also after a long silence. */
	pass(20000);
	assert_int_equal(guard_vlan_state(&s.node[0], VLAN), GUARD_CLEAR);
	assert_true(is_replay(6, 1));
	assert_int_equal(guard_vlan_state(&s.node[0], VLAN), GUARD_CLEAR);
}

/* --- limits --- */

static void statements_move_the_bounds(void **state)
{
	struct guard_statements st = { 0 };
	struct guard_bounds b;

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		s.ms += 1000;
		guard_stated(&st, RUN, 1000 + 10 * i, STALE_MS, now());
		b = guard_bounds_of(&st, RUN, RUN);
		assert_true(guard_bounds_admit(&b, RUN, 1000 + 10 * i));
		assert_false(guard_bounds_admit(&b, RUN + 1, 1000 + 10 * i));
		assert_false(guard_bounds_admit(&b, RUN - 1, 1000 + 10 * i));
		assert_false(guard_bounds_admit(&b, RUN, 1001 + 10 * i + GUARD_AHEAD));
		if (i >= 10)
			assert_false(guard_bounds_admit(&b, RUN, 1000 + 10 * (i - 7)));
		assert_true(guard_bounds_admit(&b, RUN, 1001 + 10 * (i < 3 ? 0 : i - 3)));
	}
	/* The next run of the node has its own numbers. */
	b = guard_bounds_of(&st, RUN + 1, RUN + 1);
	assert_true(guard_bounds_admit(&b, RUN + 1, 1));
	guard_stated(&st, RUN + 1, UINT64_MAX, STALE_MS, now());
	b = guard_bounds_of(&st, RUN + 1, RUN + 1);
	assert_true(guard_bounds_admit(&b, RUN + 1, 1));
	assert_true(b.most == UINT64_MAX);
}

int main(void)
{
#define T(name) cmocka_unit_test_teardown(name, teardown)
	const struct CMUnitTest tests[] = {
		T(the_last_sequence_takes_no_longer_than_another),
		T(one_guard_for_each_router_mutes_none),
		T(guards_without_end_mute_none),
		T(a_guard_in_a_vlan_of_one_router_mutes_none),
		T(a_guard_that_one_router_hears_mutes_none),
		T(without_a_session_a_live_window_stays),
		T(a_node_continues_above_a_forged_number_and_reports_it),
		T(recorded_frames_of_a_node_in_session_block_nothing),
		T(recorded_frames_of_a_node_without_session_block_some_intervals),
		T(a_node_without_session_states_no_interval),
		T(a_neighbour_without_session_is_received),
		T(a_path_gives_a_deaf_neighbour_its_say_back),
		T(nodes_in_session_have_the_first_places),
		T(each_number_is_taken_once),
		T(statements_move_the_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
