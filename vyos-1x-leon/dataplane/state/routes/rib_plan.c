// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Plans the steps from installed to wanted routes. No destination loses its route between two
 * steps, see rib.h. Pure; control thread.
 */
#include "state/routes/rib.h"

struct steps {
	struct rib_step *step;
	unsigned n, max;
};

int rib_installed_compare(const void *a, const void *b)
{
	const struct rib_installed *x = a, *y = b;
	int order = prefix_compare(&x->dst, &y->dst);

	if (order)
		return order;
	if (x->metric != y->metric)
		return x->metric < y->metric ? -1 : 1;
	return ip_compare(&x->gateway, &y->gateway);
}

static void put(struct steps *s, enum rib_op op, const struct rib_installed *route)
{
	if (s->n < s->max)
		s->step[s->n++] = (struct rib_step){ op, *route };
}

static void put_gone(struct steps *s, const struct rib_installed *have)
{
	put(s, have->error ? RIB_FORGET : RIB_DELETE, have);
}

static bool is_wanted(const struct rib_installed *have, const struct rib_route *want)
{
	return have->metric == rib_kernel_metric(want) && ip_equal(&have->gateway, &want->gateway);
}

/* zebra identifies kernel routes by destination and metric, without the distance. It would drop the
 * new route together with the old one, so the old one is deleted first. */
static bool is_one_to_zebra(const struct rib_installed *have, uint32_t metric)
{
	return !have->error && have->metric != metric &&
	       (have->metric & RIB_METRIC_MAX) == (metric & RIB_METRIC_MAX);
}

/* Plans one destination; have[0..n) are its installed routes. While the kernel refuses the new
 * route, an old one with the same gateway stays: its metric is outdated, but it works. */
static void put_destination(struct steps *s, const struct rib_route *want,
			    const struct rib_installed *have, unsigned n, mono_t now)
{
	struct rib_installed fresh = {
		.dst = want->dst,
		.gateway = want->gateway,
		.metric = rib_kernel_metric(want),
	};
	const struct rib_installed *same = NULL, *in_place = NULL;
	bool refused, in_the_way = false;

	for (unsigned i = 0; i < n; i++) {
		if (is_wanted(&have[i], want))
			same = &have[i];
		else if (have[i].metric == fresh.metric && !have[i].error)
			in_place = &have[i];
		in_the_way |= is_one_to_zebra(&have[i], fresh.metric);
	}
	refused = same && same->error && mono_before(now, same->retry_at);
	if (!in_the_way && (!same || (same->error && !refused)))
		put(s, in_place ? RIB_REPLACE : RIB_ADD, &fresh);
	for (unsigned i = 0; i < n; i++) {
		bool outdated = ip_equal(&have[i].gateway, &want->gateway);

		if (&have[i] == same || (&have[i] == in_place && !same))
			continue;
		if (!refused || !outdated || have[i].error)
			put_gone(s, &have[i]);
	}
}

/* Merges both lists. `orphans`: only destinations without a wanted route, else only those with
 * one. */
static void walk(struct steps *s, const struct rib_route *want, unsigned n_want,
		 const struct rib_installed *have, unsigned n_have, bool orphans, mono_t now)
{
	unsigned i = 0, k = 0;

	while (i < n_want || k < n_have) {
		int order = i == n_want	  ? 1
			    : k == n_have ? -1
					  : prefix_compare(&want[i].dst, &have[k].dst);
		unsigned n = 0;

		if (order > 0) {
			if (orphans)
				put_gone(s, &have[k]);
			k++;
			continue;
		}
		while (k + n < n_have && prefix_compare(&want[i].dst, &have[k + n].dst) == 0)
			n++;
		if (!orphans)
			put_destination(s, &want[i], &have[k], n, now);
		k += n;
		i++;
	}
}

unsigned rib_plan(const struct rib *x, const struct rib_installed *have, unsigned n_have,
		  mono_t now, struct rib_step *step, unsigned max)
{
	struct steps s = { step, 0, max };
	unsigned n_want;
	const struct rib_route *want = rib_routes(x, &n_want);

	walk(&s, want, n_want, have, n_have, true, now);
	walk(&s, want, n_want, have, n_have, false, now);
	return s.n;
}
