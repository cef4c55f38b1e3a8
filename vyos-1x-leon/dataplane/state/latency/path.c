// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Dijkstra of path.h. A label is (node, relays used so far). This makes the bound on relays exact.
 * A bound on the plain Dijkstra tree would miss a more expensive path with fewer relays that a
 * third node's path needs. Labels settle in the order of cost, then relays. A settled label makes
 * all labels of its node with as many or more relays useless. So most nodes settle once, and the
 * work stays near N * N. The remaining work is the scan of links without gain, vectorised over
 * several links. Pure; control thread.
 */
#include "state/latency/path.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"

#define LOSS_FULL    1000
#define LOSS_TERM_US 200000 /* see path.h */
#define LEVELS	     LEON_HOPS_MAX

/* Labels of a node; the index is the number of relays between source and node. */
struct vertex {
	uint16_t parent[LEVELS]; /* previous node */
	uint8_t open;		 /* lower levels are not settled */
	uint8_t best;		 /* open level with the lowest cost */
	uint8_t first;		 /* level that settled first: the best path */
};

struct search {
	const struct latdb *db;
	const struct path_params *pp;
	uint16_t from;
	uint16_t n;
	uint8_t levels;
	struct vertex *v;
	/* Costs of the labels, by level, then by node, so that a scan of one level is sequential. A
	 * closed label and the padding of the last block have cost 0, so no path improves them. */
	uint32_t *cost[LEVELS];
	/* Nodes with an open label of finite cost, unordered. */
	uint16_t *open;
	uint16_t n_open;
	/* Cost and level of each node's cheapest open label, in a single number. */
	uint64_t *key;
};
#define KEY_NONE UINT64_MAX

uint32_t link_variation_cost(const struct lat_entry *e)
{
	return e->var_us / VARIATION_DIVISOR;
}

static uint32_t cost_of(const struct lat_entry *e, uint32_t rtt_us)
{
	uint64_t cost = (uint64_t)rtt_us + link_variation_cost(e);

	if (!e->up || e->loss_pm >= LOSS_FULL)
		return COST_INFINITE;
	if (e->loss_pm)
		cost += (uint64_t)e->loss_pm * LOSS_TERM_US / (LOSS_FULL - e->loss_pm);
	return (uint32_t)min_of(cost, (uint64_t)COST_INFINITE - 1);
}

uint32_t link_cost(const struct lat_entry *e)
{
	return cost_of(e, e->rtt_us);
}

static uint32_t link_long_term(const struct lat_entry *e)
{
	return cost_of(e, e->long_term_us);
}

static uint32_t cost_add(uint32_t a, uint32_t b)
{
	uint64_t sum = (uint64_t)a + b;

	return sum < COST_INFINITE ? (uint32_t)sum : COST_INFINITE;
}

static bool may_relay(const struct path_params *pp, uint16_t slot)
{
	return !pp->no_relay || !pp->no_relay[slot];
}

bool path_link_broken(const struct path_params *pp, uint16_t from, uint16_t to)
{
	return pp->link_broken && pp->link_broken(pp->arg, from, to);
}

static bool is_unheard(const struct path_params *pp, uint16_t slot)
{
	return pp->unreceived && slot != SLOT_SELF && pp->unreceived[slot];
}

/* Combines the reports of both ends of a link. The link is up only if both ends report it up. If
 * the round-trip times contradict each other, the larger one counts. */
static void read_other_end(const struct latdb *db, const struct path_params *pp, uint16_t from,
			   uint16_t to, struct lat_entry *e)
{
	struct lat_entry other = latdb_get(db, to, from);

	if (from != SLOT_SELF && (!other.up || is_unheard(pp, from) || is_unheard(pp, to)))
		e->up = false;
	if (!other.up)
		return;
	if (from != SLOT_SELF && lat_contradicts(e->long_term_us, other.long_term_us))
		e->long_term_us = max_of(e->long_term_us, other.long_term_us);
	if (other.rtt_us <= e->rtt_us || !lat_contradicts(e->rtt_us, other.rtt_us))
		return;
	e->rtt_us = other.rtt_us;
	e->long_term_us = max_of(e->long_term_us, other.long_term_us);
	e->var_us = other.var_us;
	e->silent |= other.silent;
}

struct lat_entry path_link(const struct latdb *db, const struct path_params *pp, uint16_t from,
			   uint16_t to)
{
	struct lat_entry e = latdb_get(db, from, to);

	read_other_end(db, pp, from, to, &e);
	return e;
}

void path_evaluate(const struct latdb *db, const struct path_params *pp, uint16_t from,
		   struct path *p)
{
	uint32_t arrive_ppm = 1000000;
	bool mtu_known = true;

	p->cost_us = p->n_hops ? 0 : COST_INFINITE;
	p->long_term_us = p->cost_us;
	p->noise_us = 0;
	p->rtt_us = 0;
	p->long_term_rtt_us = 0;
	p->mtu = 0;
	p->silent = false;
	if (p->n_hops > pp->maximum_relays + 1)
		p->cost_us = COST_INFINITE;
	for (uint8_t i = 0; i < p->n_hops; i++) {
		uint16_t u = i ? p->hop[i - 1] : from;
		struct lat_entry e = path_link(db, pp, u, p->hop[i]);

		p->cost_us =
			cost_add(p->cost_us, cost_add(link_cost(&e), i ? pp->relay_cost_us : 0));
		p->long_term_us = cost_add(p->long_term_us,
					   cost_add(link_long_term(&e), i ? pp->relay_cost_us : 0));
		p->noise_us = cost_add(p->noise_us, e.var_us);
		if ((i && !may_relay(pp, u)) || path_link_broken(pp, u, p->hop[i]))
			p->cost_us = COST_INFINITE;
		p->rtt_us = cost_add(p->rtt_us, e.rtt_us);
		p->long_term_rtt_us = cost_add(p->long_term_rtt_us, e.long_term_us);
		p->silent |= e.silent;
		arrive_ppm = arrive_ppm / LOSS_FULL *
			     (uint32_t)(LOSS_FULL - min_of((int)e.loss_pm, LOSS_FULL));
		/* With a smaller one, the source would drop all frames for this relay itself, so no
		 * loss of data would show. */
		mtu_known = mtu_known && e.mtu >= LEON_MTU_MIN;
		if (p->mtu == 0 || e.mtu < p->mtu)
			p->mtu = e.mtu;
	}
	p->loss_pm = (uint16_t)(p->n_hops ? LOSS_FULL - arrive_ppm / 1000 : 0);
	/* If the MTU of one link is unknown, the minimum of the others is not the path MTU. */
	if (!mtu_known)
		p->mtu = 0;
	if (p->cost_us == COST_INFINITE)
		p->long_term_us = COST_INFINITE;
}

/* Enters a cheaper label for i over u with `level` relays. */
static void improve(struct search *s, uint16_t i, uint16_t u, uint8_t level, uint32_t cost)
{
	struct vertex *v = &s->v[i];
	uint64_t key = (uint64_t)cost << 8 | level;

	s->cost[level][i] = cost;
	v->parent[level] = u;
	if (key >= s->key[i])
		return;
	if (s->key[i] == KEY_NONE)
		s->open[s->n_open++] = i;
	s->key[i] = key;
	v->best = level;
}

/* Relaxes the link u -> i; u was settled at `cost` with `level` - 1 relays. */
static void relax(struct search *s, uint16_t u, uint16_t i, const struct cells *row, uint32_t cost,
		  uint8_t level)
{
	bool by_long_term = s->pp->by_long_term;
	uint32_t us = (by_long_term ? row->long_term[i] : row->rtt[i]) & CELL_US_MAX, c;
	struct lat_entry e;

	/* Most links end here, before the loss arithmetic: no link costs less than its RTT. */
	if (cost >= COST_INFINITE - us || cost + us >= s->cost[level][i] || row->rtt[i] & CELL_DOWN)
		return;
	e = cell_entry(cells_at(row, i));
	read_other_end(s->db, s->pp, u, i, &e);
	c = cost_add(cost, by_long_term ? link_long_term(&e) : link_cost(&e));
	if (c < s->cost[level][i] && !path_link_broken(s->pp, u, i))
		improve(s, i, u, level, c);
}

/* Vector type of the baseline instruction set. */
#define LANES 4
typedef uint32_t lanes __attribute__((vector_size(LANES * sizeof(uint32_t))));
static_assert(CELLS_MULTIPLE % LANES == 0, "blocks have whole vectors");

/* Returns true if a link of the block may improve a label. us: a word of each cell; mask: its part
 * that is compared. */
static bool may_gain(const uint32_t *us, uint32_t mask, const uint32_t *known, uint32_t cost)
{
	lanes any = { 0 }, add = { cost, cost, cost, cost };

	for (unsigned k = 0; k < CELLS_MULTIPLE; k += LANES) {
		lanes l, v;

		memcpy(&l, us + k, sizeof(l));
		memcpy(&v, known + k, sizeof(v));
		any |= (lanes)((l & mask) + add < v);
	}
	return any[0] | any[1] | any[2] | any[3];
}

/* Relaxes all links of u. */
static void relax_from(struct search *s, uint16_t u, uint32_t cost, uint8_t level)
{
	uint32_t n;
	const struct cells *row = latdb_row(s->db, u, &n);
	const uint32_t *us = !row ? NULL : s->pp->by_long_term ? row->long_term : row->rtt;
	/* The word with the RTT of a link that is down is above all times. */
	uint32_t mask = s->pp->by_long_term ? CELL_US_MAX : CELL_US_MAX | CELL_DOWN;
	bool fits = cost <= UINT32_MAX - mask; /* no overflow of the sums in may_gain() */

	n = min_of(n, (uint32_t)s->n);
	for (uint32_t i = 0; i < n; i += CELLS_MULTIPLE) {
		if (fits && !may_gain(us + i, mask, s->cost[level] + i, cost))
			continue;
		for (uint32_t k = i; k < min_of(i + CELLS_MULTIPLE, n); k++)
			relax(s, u, (uint16_t)k, row, cost, level);
	}
}

/* Returns the index in s->open of the node with the cheapest open label; ties: fewer relays, then
 * the lower slot. */
static uint16_t cheapest(const struct search *s)
{
	uint64_t best = KEY_NONE;
	uint16_t at = 0;

	for (uint16_t k = 0; k < s->n_open; k++) {
		uint64_t key = s->key[s->open[k]];

		if (key < best || (key == best && s->open[k] < s->open[at])) {
			best = key;
			at = k;
		}
	}
	return at;
}

/* Settles the best label of the node at the index of s->open and closes all dominated labels.
 * Returns the level. */
static uint8_t settle(struct search *s, uint16_t at)
{
	uint16_t i = s->open[at];
	struct vertex *v = &s->v[i];
	uint8_t level = v->best;

	for (uint8_t l = level; l < v->open; l++)
		s->cost[l][i] = 0;
	v->open = level;
	s->key[i] = KEY_NONE;
	for (uint8_t l = 0; l < v->open; l++) {
		uint64_t key = (uint64_t)s->cost[l][i] << 8 | l;

		if (s->cost[l][i] == COST_INFINITE || key >= s->key[i])
			continue;
		s->key[i] = key;
		v->best = l;
	}
	if (s->key[i] == KEY_NONE)
		s->open[at] = s->open[--s->n_open];
	return level;
}

static void search_run(struct search *s)
{
	uint16_t n_left = (uint16_t)(s->n - (s->from < s->n));

	relax_from(s, s->from, 0, 0);
	while (n_left && s->n_open) {
		uint16_t at = cheapest(s), i = s->open[at];
		struct vertex *v = &s->v[i];
		uint32_t cost = cost_add(s->cost[v->best][i], s->pp->relay_cost_us);
		uint8_t level = settle(s, at);

		if (v->first == LEVELS) {
			v->first = level;
			n_left--;
		}
		if (level + 1 < s->levels && may_relay(s->pp, i))
			relax_from(s, i, cost, (uint8_t)(level + 1));
	}
}

static void read_path(const struct search *s, uint16_t to, struct path *out)
{
	uint16_t at = to;

	*out = (struct path){ .cost_us = COST_INFINITE };
	if (to == s->from || s->v[to].first == LEVELS)
		return;
	out->n_hops = (uint8_t)(s->v[to].first + 1);
	for (uint8_t i = out->n_hops; i-- > 0;) {
		out->hop[i] = at;
		at = s->v[at].parent[i];
	}
	path_evaluate(s->db, s->pp, s->from, out);
}

void path_compute(const struct latdb *db, const struct path_params *pp, uint16_t from,
		  uint16_t n_slots, struct path *out)
{
	struct search s = { .db = db, .pp = pp, .from = from, .n = n_slots };
	size_t room = (n_slots + CELLS_MULTIPLE - 1u) / CELLS_MULTIPLE * CELLS_MULTIPLE;

	s.levels = (uint8_t)min_of(pp->maximum_relays + 1, (uint32_t)LEVELS);
	s.v = x_calloc(n_slots, sizeof(struct vertex));
	s.key = x_calloc(n_slots, sizeof(uint64_t));
	s.open = x_calloc(n_slots, sizeof(uint16_t));
	s.cost[0] = x_calloc(room * LEVELS, sizeof(uint32_t));
	for (uint8_t l = 0; l < LEVELS; l++)
		s.cost[l] = s.cost[0] + l * room;
	for (uint16_t i = 0; i < n_slots; i++) {
		for (uint8_t l = 0; l < LEVELS; l++)
			s.cost[l][i] = i == from || l >= s.levels ? 0 : COST_INFINITE;
		s.v[i].open = i == from ? 0 : s.levels;
		s.v[i].first = LEVELS;
		s.key[i] = KEY_NONE;
	}
	search_run(&s);
	for (uint16_t i = 0; i < n_slots; i++)
		read_path(&s, i, &out[i]);
	free(s.v);
	free(s.key);
	free(s.open);
	free(s.cost[0]);
}

bool path_same(const struct path *a, const struct path *b)
{
	return a->n_hops == b->n_hops && memcmp(a->hop, b->hop, a->n_hops * sizeof(a->hop[0])) == 0;
}
