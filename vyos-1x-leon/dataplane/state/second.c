// SPDX-License-Identifier: GPL-2.0-or-later
/* See second.h. */
#include "state/second.h"

#include "base/defs.h"

/* Mostly what lasts; what is now has a say, or a path that turned bad would be kept for half an
 * hour. */
static uint64_t cost_of(const struct path *p)
{
	return ((uint64_t)p->lasting_us * (100 - SECOND_NOW_PERCENT) +
		(uint64_t)p->cost_us * SECOND_NOW_PERCENT) /
	       100;
}

/* No path that begins with this link costs less. */
static uint64_t least_cost(const struct cell *link)
{
	struct path p = { .cost_us = link->rtt_up & CELL_US_MAX, .lasting_us = link->lasting_us };

	return cost_of(&p);
}

static bool may_relay(const struct path_params *pp, uint16_t slot)
{
	return pp->maximum_relays && !(pp->no_relay && pp->no_relay[slot]);
}

/* Silence is no reason to leave a path, since the other copy takes another; but it is one to choose
 * any other first. */
static bool is_before(const struct path *p, const struct path *best)
{
	if (!path_works(p) || !path_works(best))
		return path_works(p);
	return p->silent != best->silent ? best->silent : cost_of(p) < cost_of(best);
}

/* Over the relay that is best in the long run, leaving out `but`; n_hops 0 where there is none. */
static struct path best_relayed(const struct latdb *db, const struct path_params *pp,
				uint16_t n_slots, uint16_t to, uint16_t but)
{
	struct path best = { .cost_us = COST_INFINITE, .lasting_us = COST_INFINITE };
	uint32_t n;
	const struct cell *own = latdb_row(db, SLOT_SELF, &n);

	n_slots = (uint16_t)min_of(n, (uint32_t)n_slots);
	for (uint16_t k = SLOT_SELF + 1; k < n_slots; k++) {
		struct path p = { .n_hops = 2, .hop = { k, to } };

		if (k == to || k == but || !may_relay(pp, k) ||
		    (!best.silent && least_cost(&own[k]) >= cost_of(&best)))
			continue;
		path_evaluate(db, pp, SLOT_SELF, &p);
		if (is_before(&p, &best))
			best = p;
	}
	return best;
}

static bool is_better(const struct path *p, const struct path *in_use)
{
	uint64_t bar = cost_of(in_use) * (100 - SECOND_PERCENT) / 100;

	return path_works(p) && (!path_works(in_use) || cost_of(p) < bar);
}

/* The direct link, else the best relay, kept like the second one. */
static struct path choose_first(const struct second *s, const struct latdb *db,
				const struct path_params *pp, uint16_t n_slots, uint16_t to)
{
	struct path direct = { .n_hops = 1, .hop = { to } }, kept = s->first, best;

	path_evaluate(db, pp, SLOT_SELF, &direct);
	if (path_works(&direct))
		return direct;
	path_evaluate(db, pp, SLOT_SELF, &kept);
	best = best_relayed(db, pp, n_slots, to, SLOT_NONE);
	return kept.n_hops > 1 && !is_better(&best, &kept) ? kept : best;
}

void second_run(struct second *s, const struct latdb *db, const struct path_params *pp,
		uint16_t n_slots, uint16_t to, mono_t now)
{
	struct path first = choose_first(s, db, pp, n_slots, to), best;
	bool had = s->first.n_hops > 0 || s->path.n_hops > 0, same = path_same(&first, &s->first);

	s->first = first;
	path_evaluate(db, pp, SLOT_SELF, &s->path);
	best = best_relayed(db, pp, n_slots, to, first.n_hops > 1 ? first.hop[0] : SLOT_NONE);
	if (first.n_hops > 1 && s->path.n_hops > 1 && s->path.hop[0] == first.hop[0])
		s->path.n_hops = 0;
	if (is_better(&best, &s->path)) {
		s->path = best;
		s->since = now;
		same = false;
	}
	s->n_changes += had && !same;
}
