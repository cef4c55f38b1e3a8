// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LANs that only the overlay connects are joined behind their switches, and no router sees a link
 * event. The join happens in one moment, or direction by direction in every order. The loop guards,
 * FDBs and flood memories of the routers are the product code. The LAN, the overlay and the
 * broadcasts of hosts are simulated on virtual time. Control threads react late, as on a busy
 * machine.
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
#include "fwd/lan/lan_state.h"
#include "state/tables/fdb.h"

#define ROUTERS	    3
#define NODES	    4 /* the last one has a LAN of its own */
#define FIRST	    0xa000005u
#define INTERVAL_MS 60000 /* no guard frame is sent periodically */
#define LATE_MS	    12	  /* delay of control threads */
#define BROADCASTS  512
#define WIRE	    16384
#define LISTENED_MS (INTERVAL_MS + 2 * GUARD_ROUND_TRIP_MS)

/* A frame in transit to a node, from its LAN or from the overlay. */
struct on_wire {
	int64_t due_ms;
	unsigned to, number;
	uint16_t slot; /* source node; SLOT_SELF: the LAN */
};

struct guard_on_wire {
	int64_t due_ms;
	unsigned to;
	struct guard_frame f;
};

static struct net {
	struct guard guard[NODES];
	struct fdb *fdb[NODES];
	struct flood_dedup *flood_dedup[NODES];
	bool joined[NODES][NODES];		 /* [a][b]: frames on LAN b also reach LAN a */
	int64_t tick_ms[NODES], doubt_ms[NODES]; /* due time of a report; 0: no report */
	struct on_wire wire[WIRE];
	unsigned n_wire;
	struct guard_on_wire guards[1024];
	unsigned n_guards;
	unsigned copies[BROADCASTS][NODES]; /* at the host of each LAN */
	unsigned n_broadcasts;
	unsigned overlay_ms, lan_ms; /* largest delay */
	uint64_t random;
} s;

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

static bool is_on(unsigned lan, unsigned from)
{
	return lan == from || s.joined[lan][from];
}

/* --- frames --- */

static struct mac host_of(unsigned number)
{
	return mac_from_u64(0x020000000000ULL + number % NODES);
}

static void send(unsigned to, unsigned number, uint16_t slot, int64_t due_ms)
{
	/* The wire is full because of a storm. */
	if (s.n_wire == WIRE)
		return;
	s.wire[s.n_wire++] =
		(struct on_wire){ .due_ms = due_ms, .to = to, .number = number, .slot = slot };
}

/* by: the router that sends the frame; NODES: a host. */
static void put_on_lan(unsigned lan, unsigned by, unsigned number, int64_t ms)
{
	for (unsigned i = 0; i < NODES; i++) {
		if (!is_on(i, lan))
			continue;
		s.copies[number][i]++;
		if (i != by)
			send(i, number, SLOT_SELF, ms + dice(s.lan_ms + 1));
	}
}

static bool forwards(unsigned i)
{
	enum guard_state state = guard_vlan_state(&s.guard[i], 0);

	return state == GUARD_CLEAR || state == GUARD_SHARED;
}

/* Forwards as workers do: see from_tap_frame() and local_frame(). */
static void take(const struct on_wire *f, int64_t ms)
{
	unsigned i = f->to;
	enum flood_dedup_verdict round;

	if (f->slot != SLOT_SELF && guard_is_on_lan(&s.guard[i], 0, FIRST + f->slot - 1u))
		return;
	if (!forwards(i))
		return;
	round = flood_dedup_check(s.flood_dedup[i], f->number * 0x9e3779b97f4a7c15ULL, f->slot,
				  at_ms(ms));
	if (round != FLOOD_DEDUP_FIRST && !s.doubt_ms[i])
		s.doubt_ms[i] = ms + LATE_MS;
	if (round == FLOOD_DEDUP_HELD || round == FLOOD_DEDUP_TWO_WAY)
		return;
	if (fdb_learn(s.fdb[i], 0, host_of(f->number), f->slot, (uint32_t)(ms / 1000)) ==
		    FDB_MOVED &&
	    !s.doubt_ms[i])
		s.doubt_ms[i] = ms + LATE_MS;
	if (f->slot != SLOT_SELF) {
		put_on_lan(i, i, f->number, ms);
		return;
	}
	for (unsigned to = 0; to < NODES; to++)
		if (to != i)
			send(to, f->number, (uint16_t)(i + 1), ms + 1 + dice(s.overlay_ms));
}

static void broadcast(unsigned from, int64_t ms)
{
	unsigned number = s.n_broadcasts++;

	/* The number of a broadcast identifies its host, see host_of(). */
	assert_true(number < BROADCASTS && number % NODES == from);
	put_on_lan(from, NODES, number, ms);
	/* The sending host already has the frame. */
	s.copies[number][from]--;
}

static void deliver(int64_t ms)
{
	unsigned n = s.n_wire, kept = 0;

	for (unsigned i = 0; i < n; i++) {
		struct on_wire f = s.wire[i];

		if (f.due_ms <= ms)
			take(&f, ms);
		else
			s.wire[kept++] = f;
	}
	memmove(&s.wire[kept], &s.wire[n], (s.n_wire - n) * sizeof(s.wire[0]));
	s.n_wire -= n - kept;
}

/* --- guards --- */

/* The node has a session and has stated no number yet. */
static const struct guard_bounds in_session = { .in_session = true, .most = UINT64_MAX };

static void say(unsigned who, uint16_t vlan, int64_t ms)
{
	struct guard_frame f = { .node = FIRST + who, .incarnation = 1 };

	guard_fill(&s.guard[who], vlan, &f);
	for (unsigned i = 0; i < NODES; i++) {
		if (i == who || !is_on(i, who))
			continue;
		assert_true(s.n_guards < array_size(s.guards));
		s.guards[s.n_guards++] =
			(struct guard_on_wire){ .due_ms = ms + LATE_MS, .to = i, .f = f };
	}
}

static void hear(int64_t ms)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < s.n_guards; i++) {
		if (s.guards[i].due_ms <= ms)
			guard_receive(&s.guard[s.guards[i].to], &s.guards[i].f, &in_session,
				      at_ms(ms));
		else
			s.guards[kept++] = s.guards[i];
	}
	s.n_guards = kept;
}

static void control(unsigned i, int64_t ms)
{
	struct guard *g = &s.guard[i];
	unsigned at = 0;
	uint16_t vlan;

	if (s.doubt_ms[i] && s.doubt_ms[i] <= ms) {
		s.doubt_ms[i] = 0;
		guard_probe(g, 0, at_ms(ms));
	}
	if (ms >= s.tick_ms[i]) {
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

static int64_t run(int64_t from_ms, int64_t for_ms, bool hosts)
{
	for (int64_t ms = from_ms; ms < from_ms + for_ms; ms++) {
		if (hosts && s.n_broadcasts < BROADCASTS)
			broadcast(s.n_broadcasts % NODES, ms);
		deliver(ms);
		hear(ms);
		for (unsigned i = 0; i < NODES; i++)
			control(i, ms);
	}
	return from_ms + for_ms;
}

/* --- the network --- */

static int64_t open_net(uint64_t seed, unsigned lan_ms, unsigned overlay_ms)
{
	const struct guard_conf c = { .enabled = true,
				      .preference = 128,
				      .interval_ms = INTERVAL_MS };
	const node_id_t elsewhere = FIRST + NODES;

	memset(&s, 0, sizeof(s));
	s.random = seed;
	s.lan_ms = lan_ms;
	s.overlay_ms = overlay_ms;
	for (unsigned i = 0; i < NODES; i++) {
		struct guard *g = &s.guard[i];

		guard_init(g, FIRST + i, &c, at_ms(0));
		g->incarnation = 1;
		guard_lan(g, true, at_ms(0));
		guard_reach(g, &elsewhere, 1, at_ms(0));
		s.fdb[i] = fdb_new(64);
		s.flood_dedup[i] = flood_dedup_new();
		/* The guard has listened for long enough. */
		for (int64_t ms = 0; ms <= LISTENED_MS; ms += 100)
			guard_tick(g, at_ms(ms));
		s.tick_ms[i] = LISTENED_MS;
		for (unsigned at = 0; guard_next_urgent(g, &at, &(uint16_t){ 0 });)
			;
		g->due_ns = 0;
		assert_true(forwards(i));
	}
	return run(LISTENED_MS, 20, true);
}

static void close_net(void)
{
	for (unsigned i = 0; i < NODES; i++) {
		guard_free(&s.guard[i]);
		fdb_free(s.fdb[i]);
		flood_dedup_free(s.flood_dedup[i]);
	}
}

static unsigned worst(void)
{
	unsigned most = 0;

	for (unsigned n = 0; n < s.n_broadcasts; n++)
		for (unsigned i = 0; i < NODES; i++)
			most = max_of(most, s.copies[n][i]);
	return most;
}

static unsigned n_forwarding(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ROUTERS; i++)
		n += forwards(i);
	return n;
}

/* Returns the largest number of copies of a broadcast at a host. */
static unsigned joined_at_once(uint64_t seed, unsigned routers, unsigned lan_ms,
			       unsigned overlay_ms)
{
	int64_t ms = open_net(seed, lan_ms, overlay_ms);
	unsigned most;

	for (unsigned a = 0; a < routers; a++)
		memset(s.joined[a], true, routers * sizeof(bool));
	run(ms, 200, true);
	most = worst();
	assert_int_equal(n_forwarding(), 1 + ROUTERS - routers);
	close_net();
	return most;
}

/* On a fast LAN, a frame of a host arrives before its copy from the overlay. */
static void what_goes_round_ends_where_it_meets_itself(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		assert_in_range(joined_at_once(seed, 2, 0, 5), 1, 2);
		assert_in_range(joined_at_once(seed, 3, 0, 5), 1, 3);
	}
}

/* A machine reads its LAN late, after other routers have forwarded the frames. */
static void late_frames_of_the_lan_come_once_by_each_router(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		assert_in_range(joined_at_once(seed, 2, 10, 2), 1, 2);
		assert_in_range(joined_at_once(seed, 3, 10, 2), 1, 3);
	}
}

/* --- one direction after the other --- */

/* Computes one of the n! orders. */
static void find_order(unsigned *order, unsigned n, unsigned code)
{
	for (unsigned i = 0; i < n; i++)
		order[i] = i;
	for (unsigned i = n; i > 1; i--) {
		unsigned k = code % i, was = order[i - 1];

		code /= i;
		order[i - 1] = order[k];
		order[k] = was;
	}
}

static unsigned joined_by_and_by(unsigned routers, unsigned code, unsigned step_ms)
{
	unsigned order[ROUTERS * (ROUTERS - 1)], n = routers * (routers - 1), most;
	int64_t ms = open_net(1 + code, 0, 5);

	find_order(order, n, code);
	for (unsigned i = 0; i < n; i++) {
		unsigned a = order[i] / (routers - 1), b = order[i] % (routers - 1);

		s.joined[a][b + (b >= a)] = true;
		ms = run(ms, step_ms, true);
	}
	run(ms, 200, true);
	most = worst();
	assert_int_equal(n_forwarding(), 1 + ROUTERS - routers);
	close_net();
	return most;
}

static void joined_in_every_order_of_directions(void **state)
{
	static const unsigned step_ms[] = { 1, 20 };

	(void)state;
	for (unsigned k = 0; k < array_size(step_ms); k++) {
		for (unsigned code = 0; code < 2; code++)
			assert_in_range(joined_by_and_by(2, code, step_ms[k]), 2, 2);
		for (unsigned code = 0; code < 720; code++)
			assert_in_range(joined_by_and_by(3, code, step_ms[k]), 2, 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_goes_round_ends_where_it_meets_itself),
		cmocka_unit_test(late_frames_of_the_lan_come_once_by_each_router),
		cmocka_unit_test(joined_in_every_order_of_directions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
