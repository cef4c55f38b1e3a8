// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Queries about simulated nodes: the part of sim.h that reads state and changes nothing.
 */
#include "proto/view.h"
#include "sim.h"
#include "state/latency/choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UDP_IP_LEN 28

bool sim_is_up(const struct sim *s, unsigned i)
{
	return s->node[i].o != NULL;
}

uint16_t sim_slot(struct sim *s, unsigned at, unsigned of)
{
	struct node *n = nodedb_find(overlay_nodes(s->node[at].o), s->node[of].id);

	return n ? n->slot : SLOT_NONE;
}

enum node_state sim_state(struct sim *s, unsigned at, unsigned of)
{
	struct node *n = nodedb_find(overlay_nodes(s->node[at].o), s->node[of].id);

	return n ? n->state : NODE_LEFT;
}

const struct choice *sim_choice(struct sim *s, unsigned at, unsigned of)
{
	return overlay_choice(s->node[at].o, sim_slot(s, at, of));
}

unsigned sim_path(struct sim *s, unsigned a, unsigned b, unsigned hop[LEON_HOPS_MAX])
{
	const struct choice *c = sim_choice(s, a, b);

	if (!c)
		return 0;
	for (unsigned i = 0; i < c->path.n_hops; i++) {
		struct node *n = nodedb_at(overlay_nodes(s->node[a].o), c->path.hop[i]);

		hop[i] = n ? sim_index(n->id) : SIM_NODES_MAX;
	}
	return c->path.n_hops;
}

bool sim_converged(struct sim *s, void *arg)
{
	uint64_t digest = 0;
	unsigned n_up = 0;

	(void)arg;
	for (unsigned i = 0; i < s->n; i++)
		n_up += sim_is_up(s, i);
	for (unsigned i = 0; i < s->n; i++) {
		struct nodedb *db;

		if (!sim_is_up(s, i))
			continue;
		db = overlay_nodes(s->node[i].o);
		if (nodedb_members(db) != n_up)
			return false;
		if (digest && nodedb_digest(db) != digest)
			return false;
		digest = nodedb_digest(db);
		for (unsigned k = 0; k < s->n; k++)
			if (k != i && sim_is_up(s, k) && sim_state(s, i, k) != NODE_REACHABLE)
				return false;
	}
	return true;
}

/* Returns true if b is a after encoding in a SHORT-ROW, or a itself. */
static bool is_near(uint32_t a, uint32_t b, uint32_t part, uint32_t unit)
{
	return llabs((long long)a - b) <= a / part + unit;
}

static bool entry_equal(const struct lat_entry *a, const struct lat_entry *b)
{
	return a->up == b->up && is_near(b->rtt_us, a->rtt_us, 255, 0) &&
	       is_near(b->var_us, a->var_us, 31, 8) && a->loss_pm == b->loss_pm && a->mtu == b->mtu;
}

/* Compares the row of `origin` at `a` with the row at `b`, and prints differences if `say` is
 * set. */
static bool row_equal(struct sim *s, unsigned a, unsigned b, unsigned origin, bool say)
{
	const struct latdb *la = overlay_latdb(s->node[a].o), *lb = overlay_latdb(s->node[b].o);
	uint16_t sa = sim_slot(s, a, origin), sb = sim_slot(s, b, origin);

	if (latdb_row_seq(la, sa) != latdb_row_seq(lb, sb)) {
		if (say)
			printf("# row of n%u: n%u has sequence %u, n%u has %u\n", origin, a,
			       latdb_row_seq(la, sa), b, latdb_row_seq(lb, sb));
		return false;
	}
	for (unsigned to = 0; to < s->n; to++) {
		struct lat_entry ea, eb;

		if (to == origin || !sim_is_up(s, to))
			continue;
		ea = latdb_get(la, sa, sim_slot(s, a, to));
		eb = latdb_get(lb, sb, sim_slot(s, b, to));
		if (entry_equal(&ea, &eb))
			continue;
		if (say)
			printf("# row of n%u, link to n%u: n%u %d/%u/%u/%u/%u, n%u %d/%u/%u/%u/%u\n",
			       origin, to, a, ea.up, ea.rtt_us, ea.var_us, ea.loss_pm, ea.mtu, b,
			       eb.up, eb.rtt_us, eb.var_us, eb.loss_pm, eb.mtu);
		return false;
	}
	return true;
}

bool sim_rows_equal(struct sim *s, void *arg)
{
	bool equal = true, say = arg != NULL;

	if (!sim_converged(s, NULL))
		return false;
	for (unsigned origin = 0; origin < s->n; origin++) {
		if (!sim_is_up(s, origin))
			continue;
		/* Compares all rows with the origin's own row, including staged entries that are
		 * not announced. */
		for (unsigned a = 0; a < s->n; a++)
			if (a != origin && sim_is_up(s, a))
				equal = equal && row_equal(s, a, origin, origin, say);
	}
	return equal;
}

unsigned sim_events(const struct sim *s, enum event_kind k)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n; i++)
		n += s->node[i].n_events[k];
	return n;
}

uint64_t sim_tx_bytes(const struct sim *s)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < s->n; i++)
		n += s->node[i].tx_bytes + UDP_IP_LEN * s->node[i].tx_msgs;
	return n;
}
