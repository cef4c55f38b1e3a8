// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Paths: the cost of a link, known cases, and comparison with three other algorithms. The first
 * tries all paths (small networks). The second adds one relay in each round (the limit is
 * effective). The third is Dijkstra with a heap (no limit). The matrices are random with printed
 * seeds, or measured (tests/latency).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/defs.h"
#include "base/mem.h"
#include "random.h"
#include "../sim/read_matrix.h"
#include "state/latency/path.h"

#define N_MAX 490
#define SITES 128 /* in a file of tests/latency */
#define DOWN  0u  /* in a matrix: no link */

/* --- a network under test: costs by [from * n + to] --- */

struct net {
	uint16_t n;
	uint32_t *cost;
	bool *no_relay;
	struct path_params pp;
	struct latdb *db;
};

/* If the other end reports more than twice as much plus 8 ms, that value counts (decision 020). The
 * round-trip time is 11/12 of the cost. */
static uint32_t net_cost(const struct net *w, uint16_t u, uint16_t v)
{
	uint32_t c = w->cost[u * w->n + v], back = w->cost[v * w->n + u];

	/* A link between two other nodes exists only if both ends report it (decision 020). */
	if (u == v || c == DOWN || (u && back == DOWN))
		return COST_INFINITE;
	return back != DOWN && back - back / 12 > 2 * (c - c / 12) + 8000 ? back : c;
}

static uint16_t slot_is_id_minus_one(void *arg, node_id_t id)
{
	(void)arg;
	return (uint16_t)(id - 1);
}

/* 1/12 of the cost comes from variation, so that both terms count. */
static struct lat_entry link_for(uint32_t cost)
{
	return (struct lat_entry){ .up = cost != DOWN,
				   .rtt_us = cost - cost / 12,
				   .long_term_us = cost - cost / 12,
				   .var_us = cost / 12 * 4,
				   .mtu = 1400 };
}

static void load_row(struct net *w, uint16_t from)
{
	static struct msg_row m;
	uint16_t per = 60;

	m.incarnation = 1;
	m.seq = 1;
	m.base = 0;
	m.parts = (uint16_t)((w->n + per - 1) / per);
	for (m.part = 0; m.part < m.parts; m.part++) {
		m.n = 0;
		for (uint16_t v = (uint16_t)(m.part * per); v < w->n && m.n < per; v++)
			m.entry[m.n++] =
				(struct row_entry){ v + 1u, link_for(w->cost[from * w->n + v]) };
		latdb_merge(w->db, from, &m, slot_is_id_minus_one, NULL);
	}
}

static void net_load(struct net *w)
{
	w->db = latdb_new();
	for (uint16_t u = 1; u < w->n; u++)
		load_row(w, u);
	for (uint16_t v = 1; v < w->n; v++) {
		struct lat_entry e = link_for(w->cost[v]);

		latdb_set(w->db, v, &e);
	}
}

static struct net net_new(uint16_t n)
{
	struct net w = { .n = n, .pp = { .maximum_relays = 3 } };

	w.cost = x_calloc((size_t)n * n, sizeof(uint32_t));
	w.no_relay = x_calloc(n, sizeof(bool));
	w.pp.no_relay = w.no_relay;
	return w;
}

static void net_free(struct net *w)
{
	latdb_free(w->db);
	free(w->cost);
	free(w->no_relay);
}

/* --- the other algorithms: lowest cost, and then the smallest number of hops --- */

struct answer {
	uint64_t cost; /* UINT64_MAX: no path */
	unsigned n_hops;
};

static void take_if_better(struct answer *a, uint64_t cost, unsigned n_hops)
{
	if (cost < a->cost || (cost == a->cost && n_hops < a->n_hops))
		*a = (struct answer){ cost, n_hops };
}

static void try_all(const struct net *w, uint16_t at, uint64_t cost, unsigned n_hops, uint32_t seen,
		    struct answer *a)
{
	for (uint16_t v = 0; v < w->n; v++) {
		uint32_t c = net_cost(w, at, v);

		if (c == COST_INFINITE || seen >> v & 1)
			continue;
		take_if_better(&a[v], cost + c, n_hops + 1);
		if (n_hops < w->pp.maximum_relays && !w->no_relay[v])
			try_all(w, v, cost + c + w->pp.relay_cost_us, n_hops + 1, seen | 1u << v,
				a);
	}
}

static void by_trying_all(const struct net *w, uint16_t from, struct answer *a)
{
	for (uint16_t v = 0; v < w->n; v++)
		a[v] = (struct answer){ UINT64_MAX, 0 };
	try_all(w, from, 0, 0, 1u << from, a);
}

/* The cheapest walks of exactly 1, 2, ... links. A walk with a repeated node is never the
 * cheapest. */
static void by_rounds(const struct net *w, uint16_t from, struct answer *a)
{
	static uint64_t reach[N_MAX], next[N_MAX];

	for (uint16_t v = 0; v < w->n; v++) {
		uint32_t c = net_cost(w, from, v);

		reach[v] = c == COST_INFINITE ? UINT64_MAX : c;
		a[v] = (struct answer){ reach[v], 1 };
	}
	for (unsigned hops = 2; hops <= w->pp.maximum_relays + 1; hops++) {
		for (uint16_t v = 0; v < w->n; v++) {
			next[v] = UINT64_MAX;
			for (uint16_t u = 0; u < w->n; u++) {
				uint32_t c = net_cost(w, u, v);
				uint64_t sum = reach[u] + w->pp.relay_cost_us + c;

				if (c == COST_INFINITE || reach[u] == UINT64_MAX ||
				    w->no_relay[u] || u == from || v == from)
					continue;
				next[v] = min_of(next[v], sum);
			}
			take_if_better(&a[v], next[v], hops);
		}
		memcpy(reach, next, sizeof(reach));
	}
}

/* Dijkstra with a binary heap of (cost, hops, node) and no limit on relays. */
struct heap_item {
	uint64_t cost;
	unsigned n_hops;
	uint16_t node;
};
static struct heap_item heap[N_MAX * N_MAX];
static unsigned n_heap;

static bool item_before(const struct heap_item *a, const struct heap_item *b)
{
	return a->cost != b->cost ? a->cost < b->cost : a->n_hops < b->n_hops;
}

static void heap_push(struct heap_item item)
{
	unsigned i = n_heap++;

	for (; i && item_before(&item, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = item;
}

static struct heap_item heap_pop(void)
{
	struct heap_item top = heap[0], last = heap[--n_heap];
	unsigned i = 0, child;

	while ((child = 2 * i + 1) < n_heap) {
		if (child + 1 < n_heap && item_before(&heap[child + 1], &heap[child]))
			child++;
		if (!item_before(&heap[child], &last))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return top;
}

static void by_heap(const struct net *w, uint16_t from, struct answer *a)
{
	for (uint16_t v = 0; v < w->n; v++)
		a[v] = (struct answer){ UINT64_MAX, 0 };
	n_heap = 0;
	heap_push((struct heap_item){ 0, 0, from });
	while (n_heap) {
		struct heap_item i = heap_pop();

		if (a[i.node].cost != UINT64_MAX)
			continue;
		a[i.node] = (struct answer){ i.cost, i.n_hops };
		if (i.node != from && w->no_relay[i.node])
			continue;
		for (uint16_t v = 0; v < w->n; v++) {
			uint32_t c = net_cost(w, i.node, v);
			uint64_t relay = i.node == from ? 0 : w->pp.relay_cost_us;

			if (c != COST_INFINITE && a[v].cost == UINT64_MAX)
				heap_push(
					(struct heap_item){ i.cost + relay + c, i.n_hops + 1, v });
		}
	}
}

/* --- checks --- */

static void check_path_is_sound(const struct net *w, uint16_t from, uint16_t to,
				const struct path *p)
{
	uint64_t cost = 0;
	uint16_t at = from;

	assert_int_equal(p->hop[p->n_hops - 1], to);
	assert_in_range(p->n_hops, 1, w->pp.maximum_relays + 1);
	for (uint8_t i = 0; i < p->n_hops; i++) {
		assert_int_not_equal(net_cost(w, at, p->hop[i]), COST_INFINITE);
		cost += net_cost(w, at, p->hop[i]) + (i ? w->pp.relay_cost_us : 0);
		if (i)
			assert_false(w->no_relay[at]);
		for (uint8_t j = 0; j < i; j++)
			assert_int_not_equal(p->hop[j], p->hop[i]);
		assert_int_not_equal(p->hop[i], from);
		at = p->hop[i];
	}
	assert_int_equal(p->cost_us, cost);
	assert_int_equal(p->mtu, 1400);
}

static void compare(const struct net *w, uint16_t from,
		    void (*other_way)(const struct net *, uint16_t, struct answer *))
{
	static struct path got[N_MAX];
	static struct answer want[N_MAX];

	path_compute(w->db, &w->pp, from, w->n, got);
	other_way(w, from, want);
	for (uint16_t v = 0; v < w->n; v++) {
		if (v == from || want[v].cost == UINT64_MAX) {
			assert_int_equal(got[v].n_hops, 0);
			assert_int_equal(got[v].cost_us, COST_INFINITE);
			continue;
		}
		/* Only the heap has no limit. If its path is too long, the tested path costs
		 * more. */
		if (want[v].n_hops > w->pp.maximum_relays + 1) {
			assert_true(got[v].cost_us >= want[v].cost);
			continue;
		}
		if (got[v].cost_us != want[v].cost || got[v].n_hops != want[v].n_hops)
			fail_msg("from %u to %u: cost %u in %u hops, expected %u in %u", from, v,
				 got[v].cost_us, got[v].n_hops, (unsigned)want[v].cost,
				 want[v].n_hops);
		check_path_is_sound(w, from, v, &got[v]);
	}
}

/* A small range makes equal costs, a wide range favors relays. Some links and relays are
 * missing. */
static struct net random_net(uint16_t n, uint64_t seed)
{
	static const uint32_t ranges[] = { 4, 50, 100000, 5000000 };
	struct net w = net_new(n);
	uint32_t range, missing;

	random_seed(seed);
	range = ranges[random_below(array_size(ranges))];
	missing = random_below(60);
	for (uint32_t i = 0; i < (uint32_t)n * n; i++)
		w.cost[i] = random_below(100) < missing ? DOWN : 1 + random_below(range);
	for (uint16_t v = 0; v < n; v++)
		w.no_relay[v] = random_below(6) == 0;
	w.pp.maximum_relays = random_below(4);
	w.pp.relay_cost_us = random_below(2) ? random_below(range) : 0;
	net_load(&w);
	return w;
}

static void small_networks_as_by_trying_all(void **state)
{
	(void)state;
	print_message("seeds 1 to 600\n");
	for (uint64_t seed = 1; seed <= 600; seed++) {
		struct net w = random_net((uint16_t)(2 + seed % 7), seed);

		for (uint16_t from = 0; from < w.n; from++) {
			compare(&w, from, by_trying_all);
			compare(&w, from, by_rounds);
		}
		net_free(&w);
	}
}

static void larger_networks_as_by_rounds_and_heap(void **state)
{
	(void)state;
	print_message("seeds 1001 to 1060\n");
	for (uint64_t seed = 1001; seed <= 1060; seed++) {
		struct net w = random_net((uint16_t)(9 + random_below(60)), seed);

		for (uint16_t from = 0; from < w.n; from += 3) {
			compare(&w, from, by_rounds);
			compare(&w, from, by_heap);
		}
		net_free(&w);
	}
}

/* --- known cases --- */

static struct net line_net(void)
{
	/* 0-1-2-3-4-5 in a chain of 1 ms links. All other links are direct at 100 ms. */
	struct net w = net_new(6);

	for (uint16_t u = 0; u < 6; u++)
		for (uint16_t v = 0; v < 6; v++)
			w.cost[u * 6 + v] = abs(u - v) == 1 ? 1000 : 100000;
	return w;
}

static void bound_on_relays_is_exact(void **state)
{
	struct net w = line_net();
	struct path p[6];

	(void)state;
	for (uint16_t u = 0; u < 4; u++)
		w.cost[u * 6 + 5] = DOWN;
	net_load(&w);
	path_compute(w.db, &w.pp, 0, 6, p);
	assert_int_equal(p[4].n_hops, 4);
	assert_int_equal(p[4].cost_us, 4000);
	/* Node 5 is one link behind node 4, and the cheapest path to node 4 uses all three relays.
	 * A more expensive path to node 4 with fewer relays must serve node 5. */
	assert_int_equal(p[5].n_hops, 2);
	assert_int_equal(p[5].hop[0], 4);
	assert_int_equal(p[5].cost_us, 101000);
	w.pp.maximum_relays = 0;
	path_compute(w.db, &w.pp, 0, 6, p);
	assert_int_equal(p[4].n_hops, 1);
	assert_int_equal(p[4].cost_us, 100000);
	assert_int_equal(p[5].n_hops, 0);
	/* The header limits the number of relays, independent of the configuration. */
	w.pp.maximum_relays = 99;
	path_compute(w.db, &w.pp, 0, 6, p);
	assert_int_equal(p[5].cost_us, 101000);
	net_free(&w);
}

static void relays_cost(void **state)
{
	struct net w = line_net();
	struct path p[6];

	(void)state;
	w.pp.relay_cost_us = 98000;
	net_load(&w);
	path_compute(w.db, &w.pp, 0, 6, p);
	assert_int_equal(p[2].cost_us, 100000); /* equal cost: the smaller number of hops wins */
	assert_int_equal(p[2].n_hops, 1);
	w.pp.relay_cost_us = 97999;
	path_compute(w.db, &w.pp, 0, 6, p);
	assert_int_equal(p[2].n_hops, 2);
	assert_int_equal(p[2].cost_us, 99999);
	net_free(&w);
}

/* Very high costs are compared correctly, although the cost of one link is negligible. */
static void relays_dearer_than_any_link(void **state)
{
	struct net w = line_net();
	struct path p[6];

	(void)state;
	w.cost[2] = w.cost[2 * w.n] = DOWN; /* the direct link */
	w.pp.relay_cost_us = 0x7fffffff;
	net_load(&w);
	path_compute(w.db, &w.pp, 0, 6, p);
	assert_int_equal(p[1].n_hops, 1);
	assert_int_equal(p[2].n_hops, 2);
	assert_int_equal(p[2].cost_us, 0x7fffffffu + 2000);
	net_free(&w);
}

static void transit_disabled_relays_nothing_but_is_reached(void **state)
{
	struct net w = line_net();
	struct path p[6];

	(void)state;
	w.no_relay[1] = true;
	w.no_relay[0] = true; /* the source itself may send nevertheless */
	net_load(&w);
	path_compute(w.db, &w.pp, 0, 6, p);
	assert_int_equal(p[1].cost_us, 1000);
	assert_int_equal(p[2].n_hops, 1);
	assert_int_equal(p[2].cost_us, 100000);
	net_free(&w);
}

static bool breaks_1_to_2(void *arg, uint16_t from, uint16_t to)
{
	unsigned *n_calls = arg;

	++*n_calls;
	return from == 1 && to == 2;
}

static void broken_link_is_avoided_one_way(void **state)
{
	struct net w = line_net();
	struct path p[6];
	unsigned n_calls = 0;

	(void)state;
	w.pp.link_broken = breaks_1_to_2;
	w.pp.arg = &n_calls;
	net_load(&w);
	path_compute(w.db, &w.pp, 0, 6, p);
	assert_true(n_calls > 0);
	assert_int_equal(p[2].cost_us, 100000);
	path_compute(w.db, &w.pp, 2, 6, p);
	assert_int_equal(p[0].cost_us, 2000);
	net_free(&w);
}

static void evaluate_knows_broken_paths(void **state)
{
	struct net w = line_net();
	struct path p = { .n_hops = 2, .hop = { 1, 2 } };
	struct path none = { 0 };
	unsigned n_calls = 0;

	(void)state;
	w.cost[3 * 6 + 4] = DOWN;
	w.pp.relay_cost_us = 500;
	net_load(&w);
	path_evaluate(w.db, &w.pp, 0, &p);
	assert_int_equal(p.cost_us, 2500);
	assert_int_equal(p.rtt_us, 2 * (1000 - 83));
	assert_int_equal(p.mtu, 1400);
	path_evaluate(w.db, &w.pp, 0, &none);
	assert_int_equal(none.cost_us, COST_INFINITE);

	w.no_relay[1] = true;
	path_evaluate(w.db, &w.pp, 0, &p);
	assert_int_equal(p.cost_us, COST_INFINITE);
	w.no_relay[1] = false;
	w.pp.link_broken = breaks_1_to_2;
	w.pp.arg = &n_calls;
	path_evaluate(w.db, &w.pp, 0, &p);
	assert_int_equal(p.cost_us, COST_INFINITE);
	w.pp.link_broken = NULL;
	w.pp.maximum_relays = 0;
	path_evaluate(w.db, &w.pp, 0, &p);
	assert_int_equal(p.cost_us, COST_INFINITE);
	w.pp.maximum_relays = 3;
	p = (struct path){ .n_hops = 2, .hop = { 3, 4 } };
	path_evaluate(w.db, &w.pp, 0, &p);
	assert_int_equal(p.cost_us, COST_INFINITE);
	net_free(&w);
}

static void mtu_is_the_smallest_or_unknown(void **state)
{
	struct latdb *db = latdb_new();
	struct path_params pp = { .maximum_relays = 3 };
	struct path p = { .n_hops = 2, .hop = { 1, 2 } };
	struct lat_entry e = { .rtt_us = 1000, .mtu = 1400, .up = true };
	struct msg_row m = { .incarnation = 1, .seq = 1, .parts = 1, .n = 1 };

	(void)state;
	m.entry[0] = (struct row_entry){ 3, { .up = true, .rtt_us = 1000, .mtu = 1300 } };
	latdb_set(db, 1, &e);
	latdb_merge(db, 1, &m, slot_is_id_minus_one, NULL);
	m.entry[0].node = 2;
	latdb_merge(db, 2, &m, slot_is_id_minus_one, NULL);
	m.entry[0].node = 3;
	path_evaluate(db, &pp, 0, &p);
	assert_int_equal(p.mtu, 1300);
	m.seq = 2;
	m.entry[0].link.mtu = 0;
	latdb_merge(db, 1, &m, slot_is_id_minus_one, NULL);
	path_evaluate(db, &pp, 0, &p);
	assert_int_equal(p.mtu, 0);
	assert_int_equal(p.cost_us, 2000);
	/* No honest node states such a value. */
	m.seq = 3;
	m.entry[0].link.mtu = 1;
	latdb_merge(db, 1, &m, slot_is_id_minus_one, NULL);
	path_evaluate(db, &pp, 0, &p);
	assert_int_equal(p.mtu, 0);
	latdb_free(db);
}

/* The links of a path add up to the path, also if the two ends contradict each other. */
static void a_link_has_the_larger_report(void **state)
{
	struct latdb *db = latdb_new();
	struct path_params pp = { .maximum_relays = 3 };
	struct path p = { .n_hops = 2, .hop = { 1, 2 } };
	struct lat_entry e = { .rtt_us = 1000, .up = true };
	struct msg_row m = { .incarnation = 1, .seq = 1, .parts = 1, .n = 1 };

	(void)state;
	latdb_set(db, 1, &e);
	m.entry[0] = (struct row_entry){ 3, { .up = true, .rtt_us = 1000 } };
	latdb_merge(db, 1, &m, slot_is_id_minus_one, NULL);
	m.entry[0] = (struct row_entry){ 2, { .up = true, .rtt_us = 60000, .var_us = 400 } };
	latdb_merge(db, 2, &m, slot_is_id_minus_one, NULL);
	path_evaluate(db, &pp, 0, &p);
	e = path_link(db, &pp, 1, 2);
	assert_int_equal(link_cost(&e), 60100);
	assert_int_equal(p.cost_us, 61100);
	latdb_free(db);
}

/* Node 2 states the link to node 3 as faster than it is, in one of the two round-trip times. */
static void a_false_report_gains_at_most_a_factor(void **state)
{
	static const struct {
		struct lat_entry claim;
		uint32_t cost_us, long_term_us;
	} cases[] = {
		{ { .rtt_us = 60000, .long_term_us = 60000 }, 60000, 60000 },
		{ { .rtt_us = 26000, .long_term_us = 26000 }, 26000, 26000 },
		{ { .rtt_us = 25999, .long_term_us = 60000 }, 60000, 60000 },
		{ { .rtt_us = 60000, .long_term_us = 25999 }, 60000, 60000 },
		{ { .rtt_us = 1, .long_term_us = 1 }, 60000, 60000 },
		{ { .rtt_us = 0, .long_term_us = 60000 }, 60000, 60000 },
		{ { .rtt_us = 60000, .long_term_us = 0 }, 60000, 60000 },
	};
	struct latdb *db = latdb_new();
	struct path_params pp = { .maximum_relays = 3 };
	struct path p = { .n_hops = 2, .hop = { 1, 2 } };
	struct lat_entry own = { .rtt_us = 1000, .long_term_us = 1000, .up = true };
	struct msg_row m = { .incarnation = 1, .seq = 1, .parts = 1, .n = 1 };

	(void)state;
	latdb_set(db, 1, &own);
	m.entry[0] =
		(struct row_entry){ 2, { .up = true, .rtt_us = 60000, .long_term_us = 60000 } };
	latdb_merge(db, 2, &m, slot_is_id_minus_one, NULL);
	for (size_t i = 0; i < array_size(cases); i++) {
		m.seq++;
		m.entry[0] = (struct row_entry){ 3, cases[i].claim };
		m.entry[0].link.up = true;
		latdb_merge(db, 1, &m, slot_is_id_minus_one, NULL);
		path_evaluate(db, &pp, 0, &p);
		if (p.cost_us != 1000 + cases[i].cost_us ||
		    p.long_term_us != 1000 + cases[i].long_term_us)
			fail_msg("case %zu: %u, %u", i, p.cost_us, p.long_term_us);
	}
	latdb_free(db);
}

/* Decision 020: a link between two other nodes exists if both ends report it and both ends were
 * received recently. */
static void a_link_takes_two_ends(void **state)
{
	struct latdb *db = latdb_new();
	bool unreceived[3] = { true, false, false };
	struct path_params pp = { .maximum_relays = 3, .unreceived = unreceived };
	struct path best[3];
	struct lat_entry e = { .rtt_us = 1000, .up = true };
	struct msg_row m = { .incarnation = 1, .seq = 1, .parts = 1, .n = 1 };

	(void)state;
	latdb_set(db, 1, &e);
	m.entry[0] = (struct row_entry){ 3, { .up = true, .rtt_us = 1000 } };
	latdb_merge(db, 1, &m, slot_is_id_minus_one, NULL);
	path_compute(db, &pp, 0, 3, best);
	/* An own link has the measured value, independent of its other end. */
	assert_int_equal(best[1].n_hops, 1);
	assert_int_equal(best[2].n_hops, 0);
	assert_false(path_link(db, &pp, 1, 2).up);
	m.entry[0].node = 2;
	latdb_merge(db, 2, &m, slot_is_id_minus_one, NULL);
	path_compute(db, &pp, 0, 3, best);
	assert_int_equal(best[2].n_hops, 2);
	assert_true(path_link(db, &pp, 1, 2).up);
	for (unsigned i = 1; i < 3; i++) {
		unreceived[i] = true;
		path_compute(db, &pp, 0, 3, best);
		assert_int_equal(best[1].n_hops, 1);
		assert_int_equal(best[2].n_hops, 0);
		assert_false(path_link(db, &pp, 1, 2).up);
		unreceived[i] = false;
	}
	latdb_free(db);
}

static void link_cost_is_rtt_variation_and_loss(void **state)
{
	struct lat_entry e = { .rtt_us = 20000, .var_us = 6000, .up = true };

	(void)state;
	assert_int_equal(link_cost(&e), 21500);
	e.loss_pm = 10; /* 1/99 of 200 ms */
	assert_int_equal(link_cost(&e), 21500 + 2020);
	e.loss_pm = 500;
	assert_int_equal(link_cost(&e), 21500 + 200000);
	e.loss_pm = 999;
	assert_int_equal(link_cost(&e), 21500 + 199800000);
	e.loss_pm = 1000;
	assert_int_equal(link_cost(&e), COST_INFINITE);
	e.loss_pm = 0;
	e.rtt_us = UINT32_MAX;
	assert_true(link_cost(&e) < COST_INFINITE);
	e.up = false;
	assert_int_equal(link_cost(&e), COST_INFINITE);
}

static void same_means_same_hops(void **state)
{
	struct path a = { .n_hops = 2, .hop = { 1, 2, 7 }, .cost_us = 5 };
	struct path b = { .n_hops = 2, .hop = { 1, 2, 8 }, .cost_us = 6 };

	(void)state;
	assert_true(path_same(&a, &b));
	b.hop[0] = 3;
	assert_false(path_same(&a, &b));
	b = a;
	b.n_hops = 1;
	assert_false(path_same(&a, &b));
}

/* --- measured latencies --- */

/* SITES x SITES values in milliseconds. */
static double *read_planetlab(const char *name)
{
	char path[512];
	double *ms;
	unsigned n;

	snprintf(path, sizeof(path), "%s/tests/latency/%s", SOURCE_ROOT, name);
	ms = read_matrix(path, &n);
	assert_non_null(ms);
	assert_int_equal(n, SITES);
	return ms;
}

static uint32_t site_cost(const double *ms, uint16_t a, uint16_t b)
{
	return a == b ? 50 : (uint32_t)(ms[a * SITES + b] * 1000);
}

/* A network of n nodes at random sites. If nodes share a site, the delay between them is minimal
 * and many paths have equal cost. */
static struct net part_of(const double *ms, uint16_t n, uint64_t seed)
{
	uint16_t pick[N_MAX];
	struct net w = net_new(n);

	random_seed(seed);
	for (uint16_t i = 0; i < N_MAX; i++)
		pick[i] = i % SITES;
	for (uint16_t i = 0; i < n; i++) {
		uint16_t among = n > SITES ? N_MAX : SITES;
		uint16_t j = (uint16_t)(i + random_below((uint32_t)among - i)), swap = pick[i];

		pick[i] = pick[j];
		pick[j] = swap;
	}
	for (uint16_t u = 0; u < n; u++)
		for (uint16_t v = 0; v < n; v++)
			w.cost[u * n + v] = site_cost(ms, pick[u], pick[v]);
	w.pp.relay_cost_us = 500;
	net_load(&w);
	return w;
}

static void measured_networks_as_by_rounds_and_heap(void **state)
{
	static const char *const files[] = { "planetlab_1.txt", "planetlab_9.txt" };
	static const uint16_t sizes[] = { 12, 24, 64, 128 };
	double *ms;

	(void)state;
	for (size_t f = 0; f < array_size(files); f++) {
		ms = read_planetlab(files[f]);
		for (size_t i = 0; i < array_size(sizes); i++) {
			struct net w = part_of(ms, sizes[i], 7 + i);

			print_message("%s, %u nodes, seed %zu\n", files[f], sizes[i], 7 + i);
			for (uint16_t from = 0; from < w.n; from += 5) {
				compare(&w, from, by_rounds);
				compare(&w, from, by_heap);
			}
			net_free(&w);
		}
		free(ms);
	}
}

/* Prints the time of one computation, without an assertion. */
static void time_it(struct net *w)
{
	static struct path p[N_MAX];
	struct timespec a, b;
	double us;

	clock_gettime(CLOCK_MONOTONIC, &a);
	for (uint16_t from = 0; from < 10; from++)
		path_compute(w->db, &w->pp, from, w->n, p);
	clock_gettime(CLOCK_MONOTONIC, &b);
	us = (double)(b.tv_sec - a.tv_sec) * 1e6 + (double)(b.tv_nsec - a.tv_nsec) / 1e3;
	print_message("%u nodes: %.0f us\n", w->n, us / 10);
}

static void whole_matrix(void **state)
{
	double *ms = read_planetlab("planetlab_1.txt");
	struct net w;

	(void)state;
	w = part_of(ms, 128, 1);
	time_it(&w);
	net_free(&w);
	w = part_of(ms, N_MAX, 1);
	time_it(&w);
	for (uint16_t from = 0; from < w.n; from += 97)
		compare(&w, from, by_rounds);
	net_free(&w);
	free(ms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(link_cost_is_rtt_variation_and_loss),
		cmocka_unit_test(same_means_same_hops),
		cmocka_unit_test(bound_on_relays_is_exact),
		cmocka_unit_test(relays_cost),
		cmocka_unit_test(relays_dearer_than_any_link),
		cmocka_unit_test(transit_disabled_relays_nothing_but_is_reached),
		cmocka_unit_test(broken_link_is_avoided_one_way),
		cmocka_unit_test(evaluate_knows_broken_paths),
		cmocka_unit_test(mtu_is_the_smallest_or_unknown),
		cmocka_unit_test(a_link_takes_two_ends),
		cmocka_unit_test(a_link_has_the_larger_report),
		cmocka_unit_test(a_false_report_gains_at_most_a_factor),
		cmocka_unit_test(small_networks_as_by_trying_all),
		cmocka_unit_test(larger_networks_as_by_rounds_and_heap),
		cmocka_unit_test(measured_networks_as_by_rounds_and_heap),
		cmocka_unit_test(whole_matrix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
