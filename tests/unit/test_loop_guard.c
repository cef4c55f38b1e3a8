// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The state machine of the loop guard in each VLAN: listening, blocking and its duration, and
 * refused frames. test_guard_site.c connects several guards.
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

#define INTERVAL_MS 1000
#define TICK_MS	    (INTERVAL_MS / GUARD_TICKS)
#define LISTEN_MS   (INTERVAL_MS + GUARD_ROUND_TRIP_MS)
#define SELF	    0x0a000005u
#define BETTER	    0x0a000001u
#define WORSE	    0x0a000009u
#define BOTH	    (GUARD_READY | GUARD_FORWARDS)
#define ELSEWHERE   0x0b000001u /* reached through the overlay */

/* The node has a session and has stated no number yet. */
static const struct guard_bounds in_session = { .in_session = true, .most = UINT64_MAX };

static struct guard g;
static uint64_t sequence;

static const struct guard_conf conf = { .enabled = true,
					.preference = 128,
					.interval_ms = INTERVAL_MS };

static mono_t at_ms(int64_t ms)
{
	return (mono_t){ NS_PER_S + ms * NS_PER_MS };
}

static uint8_t preference_of(node_id_t node)
{
	return node == BETTER ? 200 : node == WORSE ? 50 : 128;
}

static void open_at(const struct guard_conf *c, int64_t ms)
{
	const node_id_t elsewhere = ELSEWHERE;

	guard_init(&g, SELF, c, at_ms(ms));
	guard_reach(&g, &elsewhere, 1, at_ms(ms));
}

static unsigned receive_in(uint16_t vlan, node_id_t node, uint8_t flags, int64_t ms)
{
	struct guard_frame f = { .node = node,
				 .tag = vlan,
				 .segment = vlan,
				 .flags = flags,
				 .preference = preference_of(node),
				 .incarnation = 1,
				 .sequence = ++sequence };

	return guard_receive(&g, &f, &in_session, at_ms(ms));
}

static unsigned hear(node_id_t node, uint8_t flags, int64_t ms)
{
	return receive_in(0, node, flags, ms);
}

static unsigned ticks(int64_t from_ms, int64_t to_ms)
{
	unsigned outcome = GUARD_NOTHING;

	for (int64_t ms = from_ms; ms <= to_ms; ms += TICK_MS)
		outcome |= guard_tick(&g, at_ms(ms));
	return outcome;
}

/* Most tests begin at time 0 on a LAN, after listening. */
static int setup(void **state)
{
	(void)state;
	open_at(&conf, -LISTEN_MS);
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
	open_at(&conf, 0);
	assert_int_equal(guard_vlan_state(&g, 0), GUARD_CLEAR);
	assert_int_equal(guard_vlan_state(&g, 77), GUARD_CLEAR);
	/* A new LAN: no VLAN forwards yet, and a guard frame is sent at once. */
	assert_true(guard_lan(&g, true, at_ms(0)) & GUARD_URGENT);
	assert_true(guard_next_urgent(&g, &i, &vlan));
	assert_int_equal(guard_vlan_state(&g, 0), GUARD_LISTENING);
	assert_int_equal(guard_vlan_state(&g, 77), GUARD_LISTENING);
	ticks(0, LISTEN_MS - TICK_MS);
	assert_int_equal(guard_state(&g), GUARD_LISTENING);
	assert_true(guard_tick(&g, at_ms(LISTEN_MS)) & GUARD_CHANGED);
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
	/* Without another guard no host has moved. */
	assert_true(vlan_set_is_empty(&g.moved) && vlan_set_is_empty(&g.begun));
}

static void a_worse_rank_blocks(void **state)
{
	unsigned outcome = hear(BETTER, BOTH, 10);

	(void)state;
	assert_int_equal(outcome, GUARD_CHANGED | GUARD_URGENT);
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
	assert_int_equal(guard_other(&g), BETTER);
	assert_int_equal(g.n_blocked, 1);
	assert_true(vlan_set_has(&g.moved, 0) && vlan_set_has(&g.changed, 0));
	assert_false(vlan_set_has(&g.begun, 0));
	assert_int_equal(guard_vlan_reason(&g, 0), GUARD_BY_PREFERENCE);
}

/* The node forwards after the other node reports that it has stopped. */
static void a_better_rank_forwards_when_the_other_has_stopped(void **state)
{
	(void)state;
	hear(WORSE, BOTH, 10);
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
	assert_int_equal(guard_vlan_reason(&g, 0), GUARD_BY_HOLDING);
	hear(WORSE, GUARD_READY, 20);
	assert_int_equal(guard_state(&g), GUARD_SHARED);
	assert_int_equal(guard_other(&g), WORSE);
	assert_true(vlan_set_has(&g.begun, 0));
	assert_int_equal(guard_vlan_reason(&g, 0), GUARD_BY_PREFERENCE);
}

/* A new node that still listens does not stop a forwarder. */
static void a_newcomer_that_listens_stops_nobody(void **state)
{
	(void)state;
	hear(BETTER, 0, 10);
	assert_int_equal(guard_state(&g), GUARD_SHARED);
	hear(BETTER, GUARD_READY, 1110);
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
}

/* Frames of a node that does not receive our guard frames would loop through this node, so that
 * node has precedence. */
static void one_that_does_not_receive_us_goes_first(void **state)
{
	(void)state;
	for (int64_t ms = 0; ms < 5000; ms += INTERVAL_MS) {
		hear(WORSE, BOTH, ms);
		ticks(ms, ms + INTERVAL_MS - TICK_MS);
		assert_int_equal(guard_state(&g), GUARD_BLOCKED);
		assert_false(g.vlan[0]->received[0].hears_us);
	}
}

static void silence_unblocks(void **state)
{
	int64_t last = 10, limit = last + GUARD_SILENT_INTERVALS * INTERVAL_MS;

	(void)state;
	hear(BETTER, BOTH, last);
	ticks(last, limit);
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
	assert_true(guard_tick(&g, at_ms(limit + 1)) & GUARD_CHANGED);
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
	assert_int_equal(guard_other(&g), NODE_ID_NONE);
}

/* The lower node leaves and a higher one stays, so this node becomes the forwarder. */
static void blocked_to_shared(void **state)
{
	(void)state;
	hear(BETTER, BOTH, 0);
	for (int64_t ms = 0; ms <= 4000; ms += INTERVAL_MS) {
		hear(WORSE, GUARD_READY, ms);
		ticks(ms, ms + INTERVAL_MS - TICK_MS);
	}
	assert_int_equal(guard_state(&g), GUARD_SHARED);
	assert_int_equal(guard_other(&g), WORSE);
}

/* A node that announces its stop is replaced without a delay. */
static void who_leaves_is_replaced_at_once(void **state)
{
	(void)state;
	hear(BETTER, BOTH, 0);
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
	hear(BETTER, 0, 100);
	assert_int_equal(guard_state(&g), GUARD_SHARED);
}

static void vlans_are_apart(void **state)
{
	(void)state;
	assert_int_equal(guard_use(&g, 10, at_ms(0)), GUARD_CHANGED | GUARD_URGENT);
	assert_int_equal(guard_use(&g, 10, at_ms(5)), GUARD_NOTHING);
	assert_int_equal(guard_vlan_state(&g, 10), GUARD_LISTENING);
	assert_int_equal(guard_vlan_state(&g, 0), GUARD_CLEAR);
	/* A new VLAN does not put the whole node into listening. */
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
	ticks(0, LISTEN_MS);
	receive_in(10, BETTER, BOTH, LISTEN_MS);
	receive_in(20, WORSE, GUARD_READY, LISTEN_MS);
	ticks(LISTEN_MS, 2 * LISTEN_MS + TICK_MS);
	assert_int_equal(guard_vlan_state(&g, 0), GUARD_CLEAR);
	assert_int_equal(guard_vlan_state(&g, 10), GUARD_BLOCKED);
	assert_int_equal(guard_vlan_state(&g, 20), GUARD_SHARED);
	assert_int_equal(guard_state(&g), GUARD_SHARED);
}

/* VLAN 10 had a host until 2000. VLAN 20 has another node, which leaves when VLAN 10 ends. */
static void a_vlan_without_hosts_ends(void **state)
{
	const int64_t end = 2000 + GUARD_UNUSED_MS;

	(void)state;
	guard_use(&g, 10, at_ms(0));
	for (int64_t ms = 0; ms <= end + GUARD_UNUSED_MS; ms += TICK_MS) {
		ms <= end ? receive_in(20, BETTER, BOTH, ms) : guard_gone(&g, BETTER, at_ms(ms));
		if (ms == 2000)
			assert_int_equal(guard_use(&g, 10, at_ms(ms)), GUARD_NOTHING);
		for (uint16_t vlan = 0; ms > 2000 && vlan < 30; vlan++)
			guard_disuse(&g, vlan, at_ms(ms));
		assert_int_equal(g.n_used, 1 + (ms < end) + (ms < end + GUARD_UNUSED_MS));
	}
	assert_true(!g.vlan[10] && vlan_set_has(&g.changed, 10) && !vlan_set_has(&g.moved, 10));
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
	struct vlan_set tagged = set_of("10 20"), ten = set_of("10"), twenty = set_of("20");
	unsigned i = 0, n = 0;
	uint16_t vlan;

	(void)state;
	/* The VLANs start before the first frame. Untagged frames do not belong to this trunk. */
	assert_true(guard_carry(&g, &tagged, at_ms(0)) & GUARD_CHANGED);
	assert_int_equal(g.n_used, 2);
	while (guard_next_urgent(&g, &i, &vlan))
		n += vlan;
	assert_int_equal(n, 10 + 20);
	assert_true(vlan_set_has(&g.changed, 0) && vlan_set_has(&g.changed, 20));
	assert_int_equal(guard_state(&g), GUARD_LISTENING);
	ticks(0, LISTEN_MS);
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
	/* Guard frames do not add other VLANs. */
	assert_int_equal(guard_use(&g, 30, at_ms(LISTEN_MS)), GUARD_NOTHING);
	assert_int_equal(receive_in(30, BETTER, BOTH, LISTEN_MS), GUARD_NOTHING);
	assert_int_equal(g.n_used, 2);
	/* If one VLAN is removed, its state is deleted and the other VLAN does not change. */
	receive_in(20, BETTER, BOTH, LISTEN_MS);
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
	g.moved = (struct vlan_set){ 0 };
	guard_carry(&g, &ten, at_ms(LISTEN_MS));
	assert_int_equal(g.n_used, 1);
	assert_true(vlan_set_is_empty(&g.moved));
	assert_int_equal(guard_vlan_state(&g, 10), GUARD_CLEAR);
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
	/* A VLAN that returns starts again from listening. */
	guard_carry(&g, &tagged, at_ms(LISTEN_MS));
	assert_int_equal(guard_vlan_state(&g, 20), GUARD_LISTENING);
	assert_int_equal(guard_vlan_state(&g, 10), GUARD_CLEAR);
	/* The hosts of a removed VLAN are behind this node no more. */
	guard_carry(&g, NULL, at_ms(LISTEN_MS + 1));
	assert_true(vlan_set_is_empty(&g.moved));
	guard_carry(&g, &twenty, at_ms(LISTEN_MS + 2));
	assert_true(vlan_set_has(&g.moved, 10) && !vlan_set_has(&g.moved, 20));
}

static void a_lan_that_carries_nothing_is_quiet(void **state)
{
	struct vlan_set none = { 0 };
	uint16_t vlan;

	(void)state;
	ticks(0, 950); /* a timer was due */
	guard_carry(&g, &none, at_ms(1000));
	assert_int_equal(g.n_used, 0);
	guard_tick(&g, at_ms(1000));
	assert_false(guard_next_due(&g, &vlan));
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
	/* The bridge no longer filters VLANs. */
	guard_carry(&g, NULL, at_ms(1000));
	assert_int_equal(guard_vlan_state(&g, 0), GUARD_LISTENING);
	assert_true(guard_use(&g, 30, at_ms(1000)) & GUARD_CHANGED);
}

/* A switch port that removes or changes a tag gives one LAN two numbers. */
static void a_lan_may_have_two_numbers(void **state)
{
	struct guard_frame f = {
		.node = WORSE, .tag = 0, .segment = 10, .incarnation = 1, .sequence = ++sequence
	};

	(void)state;
	guard_receive(&g, &f, &in_session, at_ms(0));
	assert_int_equal(g.vlan[0]->n_received, 1);
	assert_int_equal(g.vlan[0]->received[0].segment, 10);
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

static void what_was_received_is_listed(void **state)
{
	struct guard_frame f = { .node = NODE_ID_NONE };
	const struct guard_neighbor *h = g.vlan[0]->received;

	(void)state;
	hear(WORSE, GUARD_READY, 0);
	assert_false(guard_is_on_lan(&g, 0, BETTER));
	hear(BETTER, 0, 0);
	assert_true(guard_is_on_lan(&g, 0, BETTER));
	assert_false(guard_is_on_lan(&g, 7, BETTER));
	guard_fill(&g, 0, &f);
	assert_int_equal(f.received[0], guard_mark(BETTER, 1));
	assert_int_equal(f.received[1], guard_mark(WORSE, 1));
	assert_int_equal(f.received[2], 0);
	assert_int_equal(f.flags, BOTH | guard_interval_flags(INTERVAL_MS));
	assert_int_equal(f.sequence, 1);
	f.node = BETTER;
	f.preference = preference_of(BETTER);
	f.received[0] = guard_mark(SELF, 0);
	f.incarnation = 1;
	f.sequence = ++sequence;
	guard_receive(&g, &f, &in_session, at_ms(10));
	assert_true(g.vlan[0]->received[0].hears_us);
	/* If the table is full, the nodes with the highest precedence are kept. */
	for (node_id_t id = 0x0a0000ff; id > 0x0a0000e0; id--)
		hear(id, GUARD_READY, 20);
	assert_int_equal(g.vlan[0]->n_received, GUARD_RECEIVED_MAX);
	assert_int_equal(h[0].node, BETTER);
	for (unsigned i = 1; i < GUARD_RECEIVED_MAX; i++) {
		assert_true(guard_outranks(&h[i - 1].rank, &h[i].rank));
		assert_int_not_equal(h[i].node, WORSE);
	}
}

/* After a pause of this length, other nodes have replaced the node. */
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
	g.sequence = sequence + 10;
	assert_int_equal(hear(SELF, BOTH, 5), GUARD_LOOP_BEGINS);
	assert_true(g.local_loop);
	assert_int_equal(hear(SELF, BOTH, 1005), GUARD_NOTHING);
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
	assert_int_equal(ticks(1005, 4005), GUARD_NOTHING);
	assert_int_equal(guard_tick(&g, at_ms(1005 + 3001)), GUARD_LOOP_ENDS);
	/* A loop also ends with the LAN. */
	assert_int_equal(hear(SELF, BOTH, 5000), GUARD_LOOP_BEGINS);
	assert_true(guard_lan(&g, false, at_ms(5020)) & GUARD_LOOP_ENDS);
	assert_int_equal(hear(SELF, BOTH, 5030), GUARD_NOTHING); /* from a queue */
	assert_false(g.local_loop);
	assert_false(guard_lan(&g, true, at_ms(5040)) & GUARD_LOOP_ENDS);
}

/* A host that moves from the overlay to the LAN may be the source of a looped frame. A guard frame
 * queries its VLAN at once, and not once per frame. */
static void a_host_that_moves_raises_a_doubt(void **state)
{
	uint16_t vlan;
	unsigned i = 0;

	(void)state;
	guard_use(&g, 10, at_ms(0));
	ticks(TICK_MS, LISTEN_MS + TICK_MS);
	while (guard_next_urgent(&g, &i, &vlan))
		;
	assert_int_equal(guard_probe(&g, 10, at_ms(2000)), GUARD_URGENT);
	i = 0;
	assert_true(guard_next_urgent(&g, &i, &vlan));
	assert_int_equal(vlan, 10);
	assert_false(guard_next_urgent(&g, &i, &vlan));
	assert_int_equal(guard_probe(&g, 10, at_ms(2000)), GUARD_NOTHING);
	assert_int_equal(guard_probe(&g, 10, at_ms(2000 + GUARD_PROBE_MS - 1)), GUARD_NOTHING);
	/* A move of hosts in many VLANs at one time is limited too. */
	assert_int_equal(guard_probe(&g, 0, at_ms(2000)), GUARD_NOTHING);
	assert_int_equal(guard_probe(&g, 0, at_ms(2000 + GUARD_ALL_PROBE_MS)), GUARD_URGENT);
	assert_int_equal(guard_probe(&g, 10, at_ms(2000 + GUARD_PROBE_MS)), GUARD_URGENT);
	/* The VLAN is not used. */
	assert_int_equal(guard_probe(&g, 20, at_ms(3000)), GUARD_NOTHING);
	assert_int_equal(guard_vlan_state(&g, 10), GUARD_CLEAR);
}

/* A node restarts again and again. A greeting each time would be a storm. */
static void greets_at_most_once_an_interval(void **state)
{
	unsigned greetings = 0;

	(void)state;
	for (int64_t ms = 0; ms < 5000; ms += 10) {
		struct guard_frame f = { .node = WORSE,
					 .incarnation = (uint64_t)ms + 1,
					 .sequence = 1 };
		unsigned i = 0;
		uint16_t vlan;

		guard_receive(&g, &f, &in_session, at_ms(ms));
		while (guard_next_urgent(&g, &i, &vlan))
			greetings++;
	}
	assert_in_range(greetings, 1, 7);
}

static void switched_off(void **state)
{
	const struct guard_conf off = { .preference = 128, .interval_ms = INTERVAL_MS };
	const int64_t ms = 2 * GUARD_UNUSED_MS;

	(void)state;
	g.sequence = sequence + 10;
	receive_in(7, BETTER, BOTH, 0);
	hear(SELF, BOTH, 0);
	assert_true(guard_configure(&g, &off, at_ms(10)) & GUARD_LOOP_ENDS);
	assert_int_equal(guard_state(&g), GUARD_OFF);
	assert_int_equal(guard_vlan_state(&g, 7), GUARD_OFF);
	assert_int_equal(hear(BETTER, BOTH, 20) | guard_tick(&g, at_ms(20)), GUARD_NOTHING);
	assert_int_equal(guard_disuse(&g, 7, at_ms(ms)), GUARD_NOTHING);
	/* After it is enabled again, the guard has forgotten other guards. */
	guard_configure(&g, &conf, at_ms(ms));
	assert_int_equal(guard_state(&g), GUARD_LISTENING);
	ticks(ms, ms + LISTEN_MS);
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
}

/* --- precedence --- */

static void who_reaches_nobody_leaves_it_to_others(void **state)
{
	const node_id_t both[] = { WORSE, ELSEWHERE }, here = WORSE;
	struct guard_frame f = { 0 };

	(void)state;
	hear(WORSE, GUARD_READY, 10);
	assert_int_equal(guard_state(&g), GUARD_SHARED);
	/* A node on this LAN is not a path out of it. */
	assert_true(guard_reach(&g, &here, 1, at_ms(20)) & GUARD_URGENT);
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
	assert_int_equal(guard_vlan_reason(&g, 0), GUARD_BY_NO_PATH);
	guard_fill(&g, 0, &f);
	assert_int_equal(f.flags, guard_interval_flags(INTERVAL_MS));
	guard_reach(&g, NULL, 0, at_ms(30));
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
	guard_reach(&g, both, 2, at_ms(40));
	assert_int_equal(guard_state(&g), GUARD_SHARED);
	/* A node alone on its LAN needs no path, and the return of the overlay changes nothing. */
	guard_gone(&g, WORSE, at_ms(50));
	guard_reach(&g, NULL, 0, at_ms(60));
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
}

static unsigned receive_confirmed(node_id_t node, uint8_t flags, int64_t ms)
{
	struct guard_frame f = { .node = node,
				 .flags = flags,
				 .preference = preference_of(node),
				 .received = { guard_mark(SELF, 0) },
				 .incarnation = 1,
				 .sequence = ++sequence };

	return guard_receive(&g, &f, &in_session, at_ms(ms));
}

/* A node that receives no guard frames of this node may not notice a stop. Such a node may not
 * forward frames of this node either. */
static void who_does_not_receive_us_does_not_stop_us_for_long(void **state)
{
	int64_t ms = 0;

	(void)state;
	hear(BETTER, GUARD_READY, 0);
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
	for (; ms <= GUARD_SILENT_INTERVALS * INTERVAL_MS; ms += TICK_MS) {
		assert_int_equal(guard_state(&g), GUARD_BLOCKED);
		hear(BETTER, GUARD_READY, ms);
		guard_tick(&g, at_ms(ms));
	}
	hear(BETTER, GUARD_READY, ms);
	assert_int_equal(guard_state(&g), GUARD_SHARED);
	receive_confirmed(BETTER, GUARD_READY, ms + 10);
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
}

/* --- silence --- */

static void who_owes_guards_is_soon_replaced_and_still_on_the_lan(void **state)
{
	int64_t ms = 0;

	(void)state;
	receive_confirmed(BETTER, BOTH, 0);
	guard_tick(&g, at_ms(0));
	for (ms = 50; guard_state(&g) == GUARD_BLOCKED; ms += 50)
		guard_tick(&g, at_ms(ms));
	assert_in_range(ms, GUARD_FAST_MISSED * GUARD_FAST_MS + 50,
			GUARD_FAST_MISSED * GUARD_FAST_MS + 100);
	assert_int_equal(guard_vlan_reason(&g, 0), GUARD_BY_SILENCE);
	assert_int_equal(g.n_silenced, 1);
	/* Frames from the overlay do not reach the LAN yet. */
	assert_int_equal(g.vlan[0]->n_received, 1);
	assert_true(vlan_set_has(&g.begun, 0));
	/* The other node has only stalled. One of the two stops at once. */
	receive_confirmed(BETTER, BOTH, ms);
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
}

/* A node that receives no guard frames of this node sends none each 100 ms. Its silence for 2.9 s
 * is no failure. */
static void who_does_not_receive_us_owes_no_more_than_before(void **state)
{
	(void)state;
	hear(BETTER, BOTH, 0);
	ticks(0, 2900);
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
	assert_int_equal(g.n_silenced, 0);
}

/* Frames that arrived during a stall of this machine have not been read yet. */
static void what_was_slept_through_is_no_silence(void **state)
{
	(void)state;
	receive_confirmed(BETTER, BOTH, 0);
	guard_tick(&g, at_ms(0));
	guard_tick(&g, at_ms(2500));
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
	assert_int_equal(g.vlan[0]->n_received, 1);
	assert_int_equal(g.n_silenced, 0);
	assert_int_equal(g.n_stalls, 1);
}

/* Another node may forward now. This node sends a query, and hosts have moved only if the answer
 * says so. */
static void who_stood_still_asks_first(void **state)
{
	(void)state;
	receive_confirmed(WORSE, GUARD_READY, 0);
	guard_tick(&g, at_ms(0));
	g.moved = (struct vlan_set){ 0 };
	assert_true(guard_tick(&g, at_ms(GUARD_STILL_MS)) & GUARD_URGENT);
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
	assert_int_equal(guard_vlan_reason(&g, 0), GUARD_BY_STALL);
	assert_true(vlan_set_is_empty(&g.moved));
	receive_confirmed(WORSE, GUARD_READY, 300);
	ticks(300, 500);
	assert_int_equal(guard_state(&g), GUARD_SHARED);
	assert_true(vlan_set_is_empty(&g.moved));
	/* In this case another node forwards. */
	receive_confirmed(WORSE, GUARD_READY, 510);
	guard_tick(&g, at_ms(510 + GUARD_STILL_MS));
	receive_confirmed(WORSE, BOTH, 511 + GUARD_STILL_MS);
	assert_int_equal(guard_vlan_reason(&g, 0), GUARD_BY_HOLDING);
	assert_true(vlan_set_has(&g.moved, 0));
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
}

/* Alone on a LAN, the node has no other node to query. */
static void who_is_alone_goes_on(void **state)
{
	(void)state;
	guard_tick(&g, at_ms(0));
	guard_tick(&g, at_ms(1000));
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
}

static void several_steps_of_no_time_are_none(void **state)
{
	uint16_t vlan;
	unsigned n = 0;

	(void)state;
	guard_tick(&g, at_ms(0));
	while (guard_next_due(&g, &vlan))
		;
	for (unsigned i = 0; i < 100; i++)
		guard_tick(&g, at_ms(0));
	/* A clock that went back counts as a stall. */
	guard_tick(&g, at_ms(-500));
	while (guard_next_due(&g, &vlan))
		n++;
	assert_int_equal(n, 0);
	assert_int_equal(guard_state(&g), GUARD_CLEAR);
}

/* A node reports through the overlay that its LAN link is down. */
static void who_says_it_is_gone_is_replaced_at_once(void **state)
{
	(void)state;
	guard_use(&g, 10, at_ms(0));
	ticks(0, LISTEN_MS);
	receive_in(0, BETTER, BOTH, LISTEN_MS);
	receive_in(10, BETTER, BOTH, LISTEN_MS);
	receive_in(10, WORSE, GUARD_READY, LISTEN_MS);
	assert_true(guard_gone(&g, BETTER, at_ms(LISTEN_MS + 5)) & GUARD_URGENT);
	assert_int_equal(guard_vlan_state(&g, 0), GUARD_CLEAR);
	assert_int_equal(guard_vlan_state(&g, 10), GUARD_SHARED);
	assert_true(vlan_set_has(&g.begun, 0) && vlan_set_has(&g.begun, 10));
	assert_int_equal(guard_gone(&g, BETTER, at_ms(LISTEN_MS + 5)), GUARD_NOTHING);
}

/* The LAN of this node has no link, so its hosts are nowhere or behind the other node. */
static void a_lan_that_is_gone_took_its_hosts_along(void **state)
{
	(void)state;
	guard_use(&g, 10, at_ms(0));
	receive_in(10, BETTER, BOTH, LISTEN_MS);
	ticks(0, LISTEN_MS);
	receive_in(10, BETTER, BOTH, LISTEN_MS);
	g.moved = (struct vlan_set){ 0 };
	guard_lan(&g, false, at_ms(LISTEN_MS));
	assert_true(vlan_set_has(&g.moved, 0));
	assert_false(vlan_set_has(&g.moved, 10)); /* no host was behind the other node */
}

/* --- guard frames each 100 ms --- */

static unsigned fast_in(int64_t from_ms, int64_t to_ms, unsigned sent[VLAN_IDS])
{
	unsigned n = 0;

	for (int64_t ms = from_ms; ms < to_ms; ms += 50) {
		struct guard_frame f;
		unsigned i = 0;
		uint16_t vlan;

		guard_tick(&g, at_ms(ms));
		while (guard_next_fast(&g, &i, &vlan)) {
			guard_fill(&g, vlan, &f);
			sent[vlan]++;
			n++;
		}
	}
	return n;
}

static void each_node_received_is_notified_ten_times_a_second(void **state)
{
	unsigned sent[VLAN_IDS] = { 0 }, none[VLAN_IDS] = { 0 };

	(void)state;
	assert_int_equal(fast_in(0, 1000, none), 0);
	for (uint16_t vlan = 1; vlan <= 5; vlan++)
		guard_use(&g, vlan, at_ms(1000));
	for (uint16_t vlan = 2; vlan <= 3; vlan++) {
		receive_in(vlan, BETTER, BOTH, 1000);
		receive_in(vlan, WORSE, 0, 1000);
	}
	/* One frame reaches both nodes, and the VLANs take turns. */
	assert_in_range(fast_in(1000, 2000, sent), 9, 11);
	assert_in_range(sent[2], 4, 6);
	assert_in_range(sent[3], 4, 6);
	/* A VLAN in which the other node was not received recently sends nothing. */
	for (int64_t ms = 2000; ms < 3500; ms += 500) {
		receive_in(3, BETTER, BOTH, ms);
		receive_in(3, WORSE, 0, ms);
		fast_in(ms, ms + 500, none);
	}
	memset(sent, 0, sizeof(sent));
	receive_in(3, BETTER, BOTH, 3500);
	fast_in(3500, 3900, sent);
	assert_int_equal(sent[2], 0);
	assert_in_range(sent[3], 3, 5);
}

static void new_settings_are_in_force_at_once(void **state)
{
	struct guard_conf c = conf;
	struct guard_frame f = { 0 };
	unsigned i = 0;
	uint16_t vlan;

	(void)state;
	assert_int_equal(guard_tick_ms(&g), 100);
	receive_confirmed(WORSE, GUARD_READY, 0);
	guard_tick(&g, at_ms(0));
	assert_int_equal(guard_tick_ms(&g), 50);
	while (guard_next_urgent(&g, &i, &vlan))
		;
	c.preference = 10;
	assert_true(guard_configure(&g, &c, at_ms(10)) & GUARD_URGENT);
	assert_int_equal(guard_state(&g), GUARD_BLOCKED);
	i = 0;
	assert_true(guard_next_urgent(&g, &i, &vlan));
	guard_fill(&g, vlan, &f);
	assert_int_equal(f.preference, 10);
	assert_int_equal(f.flags, GUARD_READY | guard_interval_flags(INTERVAL_MS));
	c.interval_ms = 60000;
	assert_true(guard_configure(&g, &c, at_ms(20)) & GUARD_URGENT);
	i = 0;
	assert_true(guard_next_urgent(&g, &i, &vlan));
	guard_fill(&g, vlan, &f);
	assert_int_equal(f.flags, GUARD_READY | guard_interval_flags(60000));
	c.interval_ms = 100;
	guard_configure(&g, &c, at_ms(30));
	assert_int_equal(guard_tick_ms(&g), 10);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(no_lan_no_guard),
		T(a_worse_rank_blocks),
		T(a_better_rank_forwards_when_the_other_has_stopped),
		T(a_newcomer_that_listens_stops_nobody),
		T(one_that_does_not_receive_us_goes_first),
		T(silence_unblocks),
		T(blocked_to_shared),
		T(who_leaves_is_replaced_at_once),
		T(vlans_are_apart),
		T(a_vlan_without_hosts_ends),
		T(what_the_lan_carries_is_listened_to),
		T(a_lan_that_carries_nothing_is_quiet),
		T(a_lan_may_have_two_numbers),
		T(every_vlan_has_its_turn_once_an_interval),
		T(what_was_received_is_listed),
		T(a_pause_begins_with_listening),
		T(own_frame_is_a_loop),
		T(a_host_that_moves_raises_a_doubt),
		T(greets_at_most_once_an_interval),
		T(switched_off),
		T(who_reaches_nobody_leaves_it_to_others),
		T(who_does_not_receive_us_does_not_stop_us_for_long),
		T(who_owes_guards_is_soon_replaced_and_still_on_the_lan),
		T(who_does_not_receive_us_owes_no_more_than_before),
		T(what_was_slept_through_is_no_silence),
		T(who_stood_still_asks_first),
		T(who_is_alone_goes_on),
		T(several_steps_of_no_time_are_none),
		T(who_says_it_is_gone_is_replaced_at_once),
		T(a_lan_that_is_gone_took_its_hosts_along),
		T(each_node_received_is_notified_ten_times_a_second),
		T(new_settings_are_in_force_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
