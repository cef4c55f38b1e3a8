// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The loop guard's state machine: who listens, who blocks and for how long, in each VLAN alone, and
 * what is refused. Several of them on one LAN are run against each other at random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/defs.h"
#include "daemon/host/loop_guard.h"

#define INTERVAL_MS 1000
#define TICK_MS	    (INTERVAL_MS / GUARD_TICKS)
#define LISTEN_MS   (INTERVAL_MS + GUARD_ROUND_TRIP_MS)
#define SELF	    0x0a000005u
#define LOWER	    0x0a000001u
#define HIGHER	    0x0a000009u
#define BOTH	    (GUARD_READY | GUARD_FORWARDS)

static struct guard g;
static uint64_t sequence;

static mono_t at_ms(int64_t ms)
{
	return (mono_t){ NS_PER_S + ms * NS_PER_MS };
}

static unsigned hear_in(uint16_t vlan, node_id_t node, uint8_t flags, int64_t ms)
{
	struct guard_frame f = { .node = node,
				 .tag = vlan,
				 .vlan = vlan,
				 .flags = flags,
				 .incarnation = 1,
				 .sequence = ++sequence };

	return guard_heard(&g, &f, at_ms(ms));
}

static unsigned hear(node_id_t node, uint8_t flags, int64_t ms)
{
	return hear_in(0, node, flags, ms);
}

static unsigned ticks(int64_t from_ms, int64_t to_ms)
{
	unsigned outcome = GUARD_NOTHING;

	for (int64_t ms = from_ms; ms <= to_ms; ms += TICK_MS)
		outcome |= guard_tick(&g, at_ms(ms));
	return outcome;
}

/* On a LAN, and through with listening: time 0 of most tests. */
static int setup(void **state)
{
	(void)state;
	guard_init(&g, SELF, true, INTERVAL_MS, at_ms(-LISTEN_MS));
	guard_lan(&g, true, at_ms(-LISTEN_MS));
	ticks(-LISTEN_MS, 0);
	g.changed = (struct vlan_set){ 0 };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	guard_free(&g);
	return 0;
}

static void no_lan_no_guard(void **state)
{
	unsigned i = 0;
	uint16_t vlan;

	(void)state;
	guard_free(&g);
	guard_init(&g, SELF, true, INTERVAL_MS, at_ms(0));
	assert_int_equal(guard_vlan_state(&g, 0), GUARD_CLEAR);
	assert_int_equal(guard_vlan_state(&g, 77), GUARD_CLEAR);
	/* A LAN, then: whatever VLAN, nothing passes yet, and the LAN hears of us at once. */
	assert_true(guard_lan(&g, true, at_ms(0)) & GUARD_URGENT);
	assert_true(guard_next_urgent(&g, &i, &vlan));
	assert_int_equal(guard_vlan_state(&g, 0), GUARD_LISTENING);
	assert_int_equal(guard_vlan_state(&g, 77), GUARD_LISTENING);
	ticks(0, LISTEN_MS - TICK_MS);
	assert_int_equal(guard_state(&g), GUARD_LISTENING);
	assert_true(guard_tick(&g, at_ms(LISTEN_MS)) & GUARD_CHANGED);
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
	/* Nobody was there: no host moved. */
	assert_false(g.moved);
}

static void higher_id_blocks(void **state)
{
	unsigned outcome = hear(LOWER, BOTH, 10);

	(void)state;
	assert_int_equal(outcome, GUARD_CHANGED | GUARD_URGENT);
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
	assert_int_equal(guard_other(&g), LOWER);
	assert_int_equal(g.n_blocked, 1);
	assert_true(g.moved && vlan_set_has(&g.changed, 0));
}

/* It begins when the other says that it has stopped. */
static void lower_id_forwards_when_the_other_has_stopped(void **state)
{
	(void)state;
	hear(HIGHER, BOTH, 10);
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
	hear(HIGHER, GUARD_READY, 20);
	assert_int_equal(guard_state(&g), GUARD_SHARED);
	assert_int_equal(guard_other(&g), HIGHER);
}

/* Who has just come takes nothing from anybody. */
static void a_newcomer_that_listens_stops_nobody(void **state)
{
	(void)state;
	hear(LOWER, 0, 10);
	assert_int_equal(guard_state(&g), GUARD_SHARED);
	hear(LOWER, GUARD_READY, 1110);
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
}

/* What a node forwards that does not hear us would come back through us for ever. */
static void one_that_does_not_hear_us_goes_first(void **state)
{
	(void)state;
	for (int64_t ms = 0; ms < 5000; ms += INTERVAL_MS) {
		hear(HIGHER, BOTH, ms);
		ticks(ms, ms + INTERVAL_MS - TICK_MS);
		assert_int_equal(guard_state(&g), GUARD_BLOCKED);
		assert_false(g.vlan[0]->heard[0].hears_us);
	}
}

static void silence_unblocks(void **state)
{
	int64_t last = 10, limit = last + GUARD_SILENT_INTERVALS * INTERVAL_MS;

	(void)state;
	hear(LOWER, BOTH, last);
	ticks(last, limit);
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
	assert_true(guard_tick(&g, at_ms(limit + 1)) & GUARD_CHANGED);
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
	assert_int_equal(guard_other(&g), NODE_ID_NONE);
}

/* The lower one goes, a higher one stays: this node takes over. */
static void blocked_to_shared(void **state)
{
	(void)state;
	hear(LOWER, BOTH, 0);
	for (int64_t ms = 0; ms <= 4000; ms += INTERVAL_MS) {
		hear(HIGHER, GUARD_READY, ms);
		ticks(ms, ms + INTERVAL_MS - TICK_MS);
	}
	assert_int_equal(guard_state(&g), GUARD_SHARED);
	assert_int_equal(guard_other(&g), HIGHER);
}

/* One that says it stops is not waited for. */
static void who_leaves_is_replaced_at_once(void **state)
{
	(void)state;
	hear(LOWER, BOTH, 0);
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
	hear(LOWER, 0, 100);
	assert_int_equal(guard_state(&g), GUARD_SHARED);
}

static void vlans_are_apart(void **state)
{
	(void)state;
	assert_int_equal(guard_use(&g, 10, at_ms(0)), GUARD_CHANGED | GUARD_URGENT);
	assert_int_equal(guard_use(&g, 10, at_ms(5)), GUARD_NOTHING);
	assert_int_equal(guard_vlan_state(&g, 10), GUARD_LISTENING);
	assert_int_equal(guard_vlan_state(&g, 0), GUARD_CLEAR);
	/* A VLAN that is new does not make the whole node listen. */
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
	ticks(0, LISTEN_MS);
	hear_in(10, LOWER, BOTH, LISTEN_MS);
	hear_in(20, HIGHER, GUARD_READY, LISTEN_MS);
	ticks(LISTEN_MS, 2 * LISTEN_MS + TICK_MS);
	assert_int_equal(guard_vlan_state(&g, 0), GUARD_CLEAR);
	assert_int_equal(guard_vlan_state(&g, 10), GUARD_BLOCKED);
	assert_int_equal(guard_vlan_state(&g, 20), GUARD_SHARED);
	assert_int_equal(guard_state(&g), GUARD_SHARED);
}

static struct vlan_set set_of(const char *text)
{
	struct vlan_set s = { 0 };
	char *end;

	for (unsigned long id = strtoul(text, &end, 10); end != text;
	     id = strtoul(text, &end, 10)) {
		vlan_set_add(&s, (uint16_t)id);
		text = end;
	}
	return s;
}

static void what_the_lan_carries_is_listened_to(void **state)
{
	struct vlan_set tagged = set_of("10 20"), ten = set_of("10");
	unsigned i = 0, n = 0;
	uint16_t vlan;

	(void)state;
	/* Before the first frame; and the untagged ones are none of this trunk's. */
	assert_true(guard_carry(&g, &tagged, at_ms(0)) & GUARD_CHANGED);
	assert_int_equal(g.n_used, 2);
	while (guard_next_urgent(&g, &i, &vlan))
		n += vlan;
	assert_int_equal(n, 10 + 20);
	assert_true(vlan_set_has(&g.changed, 0) && vlan_set_has(&g.changed, 20));
	assert_int_equal(guard_state(&g), GUARD_LISTENING);
	ticks(0, LISTEN_MS);
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
	/* Other VLANs do not come up, whoever is heard there. */
	assert_int_equal(guard_use(&g, 30, at_ms(LISTEN_MS)), GUARD_NOTHING);
	assert_int_equal(hear_in(30, LOWER, BOTH, LISTEN_MS), GUARD_NOTHING);
	assert_int_equal(g.n_used, 2);
	/* One is taken off: nothing of it stays, and nothing of the other changes. */
	hear_in(20, LOWER, BOTH, LISTEN_MS);
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
	guard_carry(&g, &ten, at_ms(LISTEN_MS));
	assert_int_equal(g.n_used, 1);
	assert_int_equal(guard_vlan_state(&g, 10), GUARD_CLEAR);
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
	/* Back again: from the start. */
	guard_carry(&g, &tagged, at_ms(LISTEN_MS));
	assert_int_equal(guard_vlan_state(&g, 20), GUARD_LISTENING);
	assert_int_equal(guard_vlan_state(&g, 10), GUARD_CLEAR);
}

static void a_lan_that_carries_nothing_is_quiet(void **state)
{
	struct vlan_set none = { 0 };
	uint16_t vlan;

	(void)state;
	ticks(0, 950); /* something was due */
	guard_carry(&g, &none, at_ms(1000));
	assert_int_equal(g.n_used, 0);
	guard_tick(&g, at_ms(1000));
	assert_false(guard_next_due(&g, &vlan));
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
	/* A bridge that does not look at VLANs any more. */
	guard_carry(&g, NULL, at_ms(1000));
	assert_int_equal(guard_vlan_state(&g, 0), GUARD_LISTENING);
	assert_true(guard_use(&g, 30, at_ms(1000)) & GUARD_CHANGED);
}

/* Where a switch port takes or changes the tag, a LAN has two numbers. */
static void a_lan_may_have_two_numbers(void **state)
{
	struct guard_frame f = {
		.node = HIGHER, .tag = 0, .vlan = 10, .incarnation = 1, .sequence = ++sequence
	};

	(void)state;
	guard_heard(&g, &f, at_ms(0));
	assert_int_equal(g.vlan[0]->n_heard, 1);
	assert_int_equal(g.vlan[0]->heard[0].vlan, 10);
	assert_null(g.vlan[10]);
}

static void every_vlan_has_its_turn_once_an_interval(void **state)
{
	unsigned sent[VLAN_IDS] = { 0 }, most = 0;
	uint16_t vlan;

	(void)state;
	for (uint16_t v = 1; v <= 50; v++)
		guard_use(&g, v, at_ms(0));
	while (guard_next_due(&g, &vlan))
		;
	for (unsigned tick = 0; tick < 3 * GUARD_TICKS; tick++) {
		unsigned n = 0;

		guard_tick(&g, at_ms(tick * TICK_MS));
		for (; guard_next_due(&g, &vlan); n++)
			sent[vlan]++;
		most = max_of(most, n);
	}
	for (uint16_t v = 0; v <= 50; v++)
		assert_in_range(sent[v], 2, 4);
	assert_in_range(most, 5, 6);
}

static void what_was_heard_is_listed(void **state)
{
	struct guard_frame f = { .node = NODE_ID_NONE };

	(void)state;
	hear(HIGHER, GUARD_READY, 0);
	hear(LOWER, 0, 0);
	guard_fill(&g, 0, &f);
	assert_int_equal(f.heard[0], LOWER);
	assert_int_equal(f.heard[1], HIGHER);
	assert_int_equal(f.heard[2], NODE_ID_NONE);
	assert_int_equal(f.flags, BOTH);
	assert_int_equal(f.sequence, 1);
	f.node = LOWER;
	f.heard[0] = SELF;
	f.incarnation = 1;
	f.sequence = ++sequence;
	guard_heard(&g, &f, at_ms(10));
	assert_true(g.vlan[0]->heard[0].hears_us);
	/* Of more nodes than there is room for those are kept that take precedence. */
	for (node_id_t id = 0x0a0000ff; id > 0x0a0000e0; id--)
		hear(id, GUARD_READY, 20);
	hear(HIGHER + 1, GUARD_READY, 20);
	assert_int_equal(g.vlan[0]->n_heard, GUARD_HEARD_MAX);
	assert_int_equal(g.vlan[0]->heard[0].node, LOWER);
	assert_int_equal(g.vlan[0]->heard[2].node, HIGHER + 1);
}

static unsigned replay(uint64_t incarnation, uint64_t number)
{
	struct guard_frame f = {
		.node = LOWER, .flags = BOTH, .incarnation = incarnation, .sequence = number
	};

	return guard_heard(&g, &f, at_ms(0)) & GUARD_REPLAYED;
}

static void played_again_is_refused(void **state)
{
	(void)state;
	assert_false(replay(5, 2000));
	assert_true(replay(5, 2000));
	/* Frames of several VLANs may overtake each other, but not by more than the window. */
	assert_false(replay(5, 1990));
	assert_true(replay(5, 1990));
	assert_false(replay(5, 2000 - GUARD_WINDOW + 1));
	assert_true(replay(5, 2000 - GUARD_WINDOW));
	assert_true(replay(4, 9000));
	assert_false(replay(5, 9000));
	assert_true(replay(5, 2001));
	assert_false(replay(6, 1));
	assert_true(replay(6, 1));
	assert_true(replay(5, 9001));
	assert_int_equal(g.n_replayed, 7);
	/* When it has long been silent, too. */
	ticks(0, 20000);
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
	assert_true(replay(6, 1));
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
}

/* Others have taken over from a node that stood still for as long. */
static void a_pause_begins_with_listening(void **state)
{
	(void)state;
	ticks(0, 1000);
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
	guard_tick(&g, at_ms(1000 + GUARD_SILENT_INTERVALS * INTERVAL_MS));
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
	guard_tick(&g, at_ms(10000));
	assert_int_equal(guard_state(&g), GUARD_LISTENING);
}

static void own_frame_is_a_loop(void **state)
{
	(void)state;
	assert_int_equal(hear(SELF, BOTH, 5), GUARD_LOOP_BEGINS);
	assert_true(g.local_loop);
	assert_int_equal(hear(SELF, BOTH, 1005), GUARD_NOTHING);
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
	assert_int_equal(ticks(1005, 4005), GUARD_NOTHING);
	assert_int_equal(guard_tick(&g, at_ms(1005 + 3001)), GUARD_LOOP_ENDS);
	assert_false(g.local_loop);
}

/* One that restarts again and again; greeting each time would be a storm. */
static void greets_at_most_once_an_interval(void **state)
{
	unsigned greetings = 0;

	(void)state;
	for (int64_t ms = 0; ms < 5000; ms += 10) {
		struct guard_frame f = { .node = HIGHER,
					 .incarnation = (uint64_t)ms + 1,
					 .sequence = 1 };
		unsigned i = 0;
		uint16_t vlan;

		guard_heard(&g, &f, at_ms(ms));
		while (guard_next_urgent(&g, &i, &vlan))
			greetings++;
	}
	assert_in_range(greetings, 1, 7);
}

static void switched_off(void **state)
{
	(void)state;
	hear(LOWER, BOTH, 0);
	hear(SELF, BOTH, 0);
	assert_true(guard_configure(&g, false, INTERVAL_MS, at_ms(10)) & GUARD_LOOP_ENDS);
	assert_int_equal(guard_state(&g), GUARD_OFF);
	assert_int_equal(guard_vlan_state(&g, 7), GUARD_OFF);
	assert_int_equal(hear(LOWER, BOTH, 20), GUARD_NOTHING);
	assert_int_equal(guard_tick(&g, at_ms(20)), GUARD_NOTHING);

	/* On again: what was heard before is forgotten. */
	guard_configure(&g, true, INTERVAL_MS, at_ms(30));
	assert_int_equal(guard_state(&g), GUARD_LISTENING);
	ticks(30, 30 + LISTEN_MS);
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
}

/* --- several on one LAN --- */

#define NODES	    4
#define TRIAL_MS    20000
#define CROSSING_MS 3

struct site {
	struct guard node[NODES];
	bool hears[NODES][NODES]; /* [a][b]: a hears b */
	struct guard_frame wire[256];
	int64_t due[256];
	unsigned n_wire;
	uint64_t random;
};

static uint64_t dice(struct site *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random;
}

static void say(struct site *s, unsigned who, uint16_t vlan, int64_t ms)
{
	struct guard_frame f = { .node = LOWER + who, .incarnation = 1 };

	guard_fill(&s->node[who], vlan, &f);
	assert_true(s->n_wire < array_size(s->wire));
	s->due[s->n_wire] = ms + CROSSING_MS;
	s->wire[s->n_wire++] = f;
}

static void say_urgent(struct site *s, unsigned who, int64_t ms)
{
	unsigned i = 0;
	uint16_t vlan;

	while (guard_next_urgent(&s->node[who], &i, &vlan))
		say(s, who, vlan, ms);
}

static void deliver_due(struct site *s, int64_t ms)
{
	unsigned n = 0;

	while (n < s->n_wire && s->due[n] <= ms) {
		const struct guard_frame f = s->wire[n++];

		for (unsigned i = 0; i < NODES; i++)
			if (LOWER + i != f.node && s->hears[i][f.node - LOWER])
				guard_heard(&s->node[i], &f, at_ms(ms));
	}
	memmove(s->wire, s->wire + n, (s->n_wire - n) * sizeof(s->wire[0]));
	memmove(s->due, s->due + n, (s->n_wire - n) * sizeof(s->due[0]));
	s->n_wire -= n;
}

static void step(struct site *s, int64_t ms)
{
	uint16_t vlan;

	deliver_due(s, ms);
	for (unsigned i = 0; i < NODES; i++) {
		if ((ms + i * 17) % TICK_MS == 0) {
			guard_tick(&s->node[i], at_ms(ms));
			while (guard_next_due(&s->node[i], &vlan))
				say(s, i, vlan, ms);
		}
		say_urgent(s, i, ms);
	}
}

static bool forwards(const struct site *s, unsigned i)
{
	enum guard_state state = guard_vlan_state(&s->node[i], 0);

	return state == GUARD_CLEAR || state == GUARD_SHARED;
}

/* A frame that a takes from the LAN and b puts back on it, where a hears it: a circle. Splitting
 * the horizon ends it where b hears a. */
static bool goes_round(const struct site *s, unsigned a, unsigned b)
{
	const struct guard_vlan *v = s->node[b].vlan[0];

	if (!forwards(s, a) || !forwards(s, b))
		return false;
	for (unsigned i = 0; i < v->n_heard; i++)
		if (v->heard[i].node == LOWER + a)
			return false;
	return true;
}

static void cut(struct site *s)
{
	bool one_way = dice(s) % 4 == 0;

	for (unsigned a = 0; a < NODES; a++) {
		for (unsigned b = 0; b < a; b++) {
			s->hears[a][b] = dice(s) % 3 != 0;
			s->hears[b][a] = one_way ? dice(s) % 3 != 0 : s->hears[a][b];
		}
	}
}

/* Between two who hear each other, or one of whom hears the other, nothing goes round once they
 * had the time to say so; and where all hear each other, exactly one forwards. */
static void check(const struct site *s, bool whole)
{
	unsigned n = 0;

	for (unsigned a = 0; a < NODES; a++) {
		n += forwards(s, a);
		for (unsigned b = 0; b < NODES; b++)
			if (a != b && s->hears[a][b])
				assert_false(goes_round(s, a, b));
	}
	if (whole)
		assert_int_equal(n, 1);
}

static void at_random_nothing_goes_round(void **state)
{
	static struct site s;
	int64_t ms = 0;

	(void)state;
	s = (struct site){ .random = 88172645463325252ULL };
	memset(s.hears, true, sizeof(s.hears));
	for (unsigned i = 0; i < NODES; i++) {
		guard_init(&s.node[i], LOWER + i, true, INTERVAL_MS, at_ms(0));
		guard_lan(&s.node[i], true, at_ms(0));
	}
	for (unsigned trial = 0; trial < 200; trial++) {
		bool whole = trial % 2 == 0;
		int64_t end = ms + TRIAL_MS;

		for (; ms < end; ms++)
			step(&s, ms);
		check(&s, whole);
		/* Somebody begins anew, or the LAN changes, or is healed. */
		if (whole)
			cut(&s);
		else
			memset(s.hears, true, sizeof(s.hears));
		if (dice(&s) % 3 == 0)
			guard_lan(&s.node[dice(&s) % NODES], true, at_ms(ms));
	}
	for (unsigned i = 0; i < NODES; i++)
		guard_free(&s.node[i]);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(no_lan_no_guard),
		T(higher_id_blocks),
		T(lower_id_forwards_when_the_other_has_stopped),
		T(a_newcomer_that_listens_stops_nobody),
		T(one_that_does_not_hear_us_goes_first),
		T(silence_unblocks),
		T(blocked_to_shared),
		T(who_leaves_is_replaced_at_once),
		T(vlans_are_apart),
		T(what_the_lan_carries_is_listened_to),
		T(a_lan_that_carries_nothing_is_quiet),
		T(a_lan_may_have_two_numbers),
		T(every_vlan_has_its_turn_once_an_interval),
		T(what_was_heard_is_listed),
		T(played_again_is_refused),
		T(a_pause_begins_with_listening),
		T(own_frame_is_a_loop),
		T(greets_at_most_once_an_interval),
		T(switched_off),
		cmocka_unit_test(at_random_nothing_goes_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
