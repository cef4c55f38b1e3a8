// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See replay.h. Two rounds of the min-plus product. The first is over links for paths of at most
 * one relay, the second over the result for at most three. Both keep the intermediate host. The
 * implementation is independent of state/latency/path.c, so that each checks the other.
 */
#include "replay.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "state/conf/conf.h"

#define ROUNDS 2
#define NOBODY UINT16_MAX

struct oracle {
	unsigned n, relays;
	float relay_us;
	float *cost[ROUNDS + 1];   /* [a * n + b] */
	uint16_t *between[ROUNDS]; /* [a * n + b]; NOBODY: unchanged from the previous round */
};

struct oracle *oracle_new(const struct net *n)
{
	struct oracle *o = x_new(struct oracle);
	size_t nn = (size_t)n->n * n->n;

	o->n = n->n;
	o->relays = n->node[0].conf->maximum_relays;
	o->relay_us = (float)n->node[0].conf->relay_cost_us;
	for (unsigned i = 0; i <= ROUNDS; i++)
		o->cost[i] = x_calloc(nn, sizeof(float));
	for (unsigned i = 0; i < ROUNDS; i++)
		o->between[i] = x_calloc(nn, sizeof(uint16_t));
	return o;
}

void oracle_free(struct oracle *o)
{
	for (unsigned i = 0; i <= ROUNDS; i++)
		free(o->cost[i]);
	for (unsigned i = 0; i < ROUNDS; i++)
		free(o->between[i]);
	free(o);
}

/* Adds one intermediate host: left[a][k] + right[k][b]. */
static void round_of(struct oracle *o, unsigned round, const float *left, const float *right)
{
	const float *before = o->cost[round];
	float *cost = o->cost[round + 1];
	uint16_t *between = o->between[round];

	for (size_t i = 0; i < (size_t)o->n * o->n; i++) {
		cost[i] = before[i];
		between[i] = NOBODY;
	}
	for (unsigned a = 0; a < o->n; a++) {
		for (unsigned k = 0; k < o->n; k++) {
			float first = left[a * o->n + k] + o->relay_us;

			if (k == a || isinf(first))
				continue;
			for (unsigned b = 0; b < o->n; b++) {
				if (first + right[k * o->n + b] >= cost[a * o->n + b] || b == k)
					continue;
				cost[a * o->n + b] = first + right[k * o->n + b];
				between[a * o->n + b] = (uint16_t)k;
			}
		}
	}
}

void oracle_update(struct oracle *o, const struct net *n, unsigned slice)
{
	for (unsigned a = 0; a < o->n; a++) {
		for (unsigned b = 0; b < o->n; b++) {
			double us = trace_true_us(n->trace, slice, a, b);
			bool works = !isnan(us) && !n->dead[a * o->n + b] && !n->node[a].dead &&
				     !n->node[b].dead;

			o->cost[0][a * o->n + b] = a == b ? 0 : works ? (float)us : INFINITY;
		}
	}
	if (o->relays >= 1)
		round_of(o, 0, o->cost[0], o->cost[0]);
	/* Two relays: a link and a path of one relay. Three relays: two paths of one relay. */
	if (o->relays >= 2)
		round_of(o, 1, o->cost[1], o->relays >= 3 ? o->cost[1] : o->cost[0]);
}

static unsigned first_round(const struct oracle *o, unsigned a, unsigned b, unsigned *hop)
{
	uint16_t k = o->relays >= 1 ? o->between[0][a * o->n + b] : NOBODY;
	unsigned n = 0;

	if (k != NOBODY)
		hop[n++] = k;
	hop[n++] = b;
	return n;
}

unsigned oracle_hops(const struct oracle *o, unsigned a, unsigned b, unsigned hop[LEON_HOPS_MAX])
{
	unsigned rounds = o->relays >= 2 ? 2 : o->relays, n = 0;
	uint16_t k = rounds == 2 ? o->between[1][a * o->n + b] : NOBODY;

	if (isinf(o->cost[rounds][a * o->n + b]))
		return 0;
	if (k == NOBODY)
		return first_round(o, a, b, hop);
	n = first_round(o, a, k, hop);
	if (o->relays >= 3)
		return n + first_round(o, k, b, hop + n);
	hop[n++] = b;
	return n;
}
