// SPDX-License-Identifier: GPL-2.0-or-later
/* See second.h. */
#include "state/latency/second.h"

#include "base/defs.h"

/* Parameters of a comparison. */
struct reference {
	uint32_t first_us;    /* short-term latency of the other copy; COST_INFINITE: none */
	uint32_t now_percent; /* weight of the short-term latency; the remainder is long-term */
	uint32_t percent;     /* required improvement */
};

/* Short-term part: the copy that arrives first counts. The short-term latency also counts without
 * another copy; otherwise a path that degraded would stay until the long-term average shows it. */
static uint64_t cost_of(const struct path *p, const struct reference *y)
{
	return ((uint64_t)p->long_term_us * (100 - y->now_percent) +
		(uint64_t)min_of(p->cost_us, y->first_us) * y->now_percent) /
	       100;
}

/* Lower bound of the cost of all paths that begin with this link. */
static uint64_t least_cost(struct cell link, const struct reference *y)
{
	struct path p = { .cost_us = cell_rtt_us(link), .long_term_us = cell_long_term_us(link) };

	return cost_of(&p, y);
}

static bool may_relay(const struct path_params *pp, uint16_t slot)
{
	return pp->maximum_relays && !(pp->no_relay && pp->no_relay[slot]);
}

/* An unresponsive link is no reason to leave a path, because the other copy uses another one. A new
 * selection prefers any responsive path. */
static bool is_before(const struct path *p, const struct path *best, const struct reference *y)
{
	if (!path_works(p) || !path_works(best))
		return path_works(p);
	return p->silent != best->silent ? best->silent : cost_of(p, y) < cost_of(best, y);
}

/* State of the search for paths to one node. */
struct look {
	const struct latdb *db;
	const struct path_params *pp;
	uint16_t n_slots, to;
};

/* Returns the best path over one relay other than `but`; n_hops 0: none. */
static struct path best_relayed(const struct look *l, uint16_t but, const struct reference *y)
{
	struct path best = { .cost_us = COST_INFINITE, .long_term_us = COST_INFINITE };
	uint32_t n;
	const struct cells *own = latdb_row(l->db, SLOT_SELF, &n);

	n = min_of(n, (uint32_t)l->n_slots);
	for (uint16_t k = SLOT_SELF + 1; k < n; k++) {
		struct path p = { .n_hops = 2, .hop = { k, l->to } };

		if (k == l->to || k == but || !may_relay(l->pp, k) ||
		    (!best.silent && least_cost(cells_at(own, k), y) >= cost_of(&best, y)))
			continue;
		path_evaluate(l->db, l->pp, SLOT_SELF, &p);
		if (is_before(&p, &best, y))
			best = p;
	}
	return best;
}

static bool is_better(const struct path *p, const struct path *in_use, const struct reference *y)
{
	uint64_t bar = cost_of(in_use, y) * (100 - y->percent) / 100;

	return path_works(p) && (!path_works(in_use) || cost_of(p, y) < bar);
}

/* Selects the direct link, else the best relay with the same hysteresis as the second path. */
static struct path choose_first(const struct second *s, const struct look *l)
{
	const struct reference alone = { .first_us = COST_INFINITE,
					 .now_percent = FIRST_NOW_PERCENT,
					 .percent = FIRST_PERCENT };
	struct path direct = { .n_hops = 1, .hop = { l->to } }, kept = s->first, best;

	path_evaluate(l->db, l->pp, SLOT_SELF, &direct);
	if (path_works(&direct))
		return direct;
	path_evaluate(l->db, l->pp, SLOT_SELF, &kept);
	best = best_relayed(l, SLOT_NONE, &alone);
	return kept.n_hops > 1 && !is_better(&best, &kept, &alone) ? kept : best;
}

/* Returns true if the first of two copies arrives no later with p than with q. */
static bool is_no_later(const struct path *p, const struct path *q, uint32_t first_us)
{
	return !p->silent && min_of(p->cost_us, first_us) <= min_of(q->cost_us, first_us);
}

/* Returns the replacement of s->path, which was just evaluated; n_hops 0: it stays. */
static struct path choose_second(const struct second *s, const struct look *l)
{
	/* An unresponsive link may deliver nothing. */
	bool first_works = path_works(&s->first) && !s->first.silent;
	const struct reference beside = { .first_us =
						  first_works ? s->first.cost_us : COST_INFINITE,
					  .now_percent = SECOND_NOW_PERCENT,
					  .percent = SECOND_PERCENT },
			       long_term = { .percent = SECOND_LONG_TERM_PERCENT };
	uint16_t but = s->first.n_hops > 1 ? s->first.hop[0] : SLOT_NONE;
	struct path best = best_relayed(l, but, &beside);

	if (is_better(&best, &s->path, &beside))
		return best;
	best = best_relayed(l, but, &long_term);
	if (is_better(&best, &s->path, &long_term) && is_no_later(&best, &s->path, beside.first_us))
		return best;
	return (struct path){ 0 };
}

void second_run(struct second *s, const struct latdb *db, const struct path_params *pp,
		uint16_t n_slots, uint16_t to, mono_t now)
{
	const struct look l = { db, pp, n_slots, to };
	struct path first = choose_first(s, &l), path;
	bool had = s->first.n_hops > 0 || s->path.n_hops > 0, same = path_same(&first, &s->first);

	s->first = first;
	path_evaluate(db, pp, SLOT_SELF, &s->path);
	if (first.n_hops > 1 && s->path.n_hops > 1 && s->path.hop[0] == first.hop[0])
		s->path.n_hops = 0;
	path = choose_second(s, &l);
	if (path.n_hops) {
		s->path = path;
		s->since = now;
		same = false;
	}
	s->n_changes += had && !same;
}
