// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The planner of rib.h. Each run collects the announcements of reachable nodes as candidates,
 * refuses those that rules and safety forbid, sorts the others and selects one per destination. Two
 * items persist between runs to prevent route flaps: the metric of each node, and the selected
 * announcer of a prefix. Called by daemon/routes/kernel_routes.c on the control thread.
 */
#include "state/routes/rib.h"

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"

/* Metric of a node, common to all routes through it. */
struct damping {
	node_id_t id;
	uint32_t metric; /* 0: not exported */
	mono_t changed;
	uint32_t run; /* last run in which it was reachable */
};

/* An overlay address and the node that announces it. */
struct claim {
	struct ip_addr ip;
	node_id_t node;
};

struct rib_candidate {
	struct rib_route route;
	uint32_t latency_us;
};

struct rib {
	uint32_t run;
	struct damping *damping; /* indexed by slot */
	unsigned n_damping;

	struct claim *claim; /* sorted */
	unsigned n_claims, cap_claims;
	struct rib_candidate *candidate;
	unsigned n_candidates, cap_candidates;
	struct rib_route *route, *before; /* sorted by destination */
	unsigned n_routes, n_before, cap_routes, cap_before;
	struct rib_refused *refused, *refused_before; /* sorted */
	unsigned n_refused, n_refused_before, cap_refused, cap_refused_before;
	uint64_t lengths[2][3]; /* bitmap of prefix lengths in use, IPv4 and IPv6 */
};

struct rib *rib_new(void)
{
	return x_new(struct rib);
}

void rib_free(struct rib *x)
{
	if (!x)
		return;
	free(x->damping);
	free(x->claim);
	free(x->candidate);
	free(x->route);
	free(x->before);
	free(x->refused);
	free(x->refused_before);
	free(x);
}

/* --- order --- */

static int compare_ids(node_id_t a, node_id_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_claims(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;
	int order = ip_compare(&x->ip, &y->ip);

	return order ? order : compare_ids(x->node, y->node);
}

/* Overlay addresses precede prefixes: an address belongs to its node even if another announces it
 * as a prefix. */
static int compare_candidates(const void *a, const void *b)
{
	const struct rib_route *x = &((const struct rib_candidate *)a)->route,
			       *y = &((const struct rib_candidate *)b)->route;
	int order = prefix_compare(&x->dst, &y->dst);

	if (order)
		return order;
	return x->is_prefix != y->is_prefix ? (int)x->is_prefix - (int)y->is_prefix
					    : compare_ids(x->node, y->node);
}

static int compare_refused(const void *a, const void *b)
{
	const struct rib_refused *x = a, *y = b;
	int order = prefix_compare(&x->dst, &y->dst);

	if (order)
		return order;
	if (x->is_prefix != y->is_prefix)
		return (int)x->is_prefix - (int)y->is_prefix;
	order = compare_ids(x->node, y->node);
	return order ? order : (int)x->why - (int)y->why;
}

/* --- metric of a node --- */

static bool is_enough(const struct conf *c, uint32_t before, uint32_t after)
{
	uint32_t by = before > after ? before - after : after - before;

	return by && by >= c->export_threshold_min_us &&
	       (uint64_t)by * 100 >= (uint64_t)before * c->export_threshold_percent;
}

static bool is_due(const struct conf *c, mono_t changed, mono_t now)
{
	return !mono_is_recent(changed, c->export_interval_ms, now);
}

static struct damping *damping_of(struct rib *x, const struct rib_node *n)
{
	struct damping *m;

	x->damping = x_grow(x->damping, &x->n_damping, n->slot + 1u, sizeof(*x->damping));
	m = &x->damping[n->slot];
	if (m->id != n->id)
		*m = (struct damping){ .id = n->id };
	return m;
}

/* Metric of a reachable node; 0 while its return is damped. */
static uint32_t node_metric(struct rib *x, const struct rib_input *in, const struct rib_node *n,
			    mono_t now)
{
	struct damping *m = damping_of(x, n);
	uint32_t latency = max_of(1u, min_of(n->latency_us, RIB_METRIC_MAX));

	m->run = x->run;
	if (is_due(in->conf, m->changed, now) &&
	    (m->metric == 0 || is_enough(in->conf, m->metric, latency))) {
		m->metric = latency;
		m->changed = now;
	}
	return m->metric;
}

/* A withdrawal takes effect at once; the return of a flapping node is delayed. */
static void damping_expire(struct rib *x, mono_t now)
{
	for (unsigned i = 0; i < x->n_damping; i++) {
		struct damping *m = &x->damping[i];

		if (m->run == x->run || m->metric == 0)
			continue;
		m->metric = 0;
		m->changed = now;
	}
}

/* --- candidates --- */

static void refuse(struct rib *x, const struct prefix *dst, bool is_prefix, node_id_t node,
		   enum rib_refusal why)
{
	if (x->n_refused >= RIB_ROUTES_MAX)
		return;
	x_double(x->refused, x->n_refused, x->cap_refused);
	x->refused[x->n_refused++] = (struct rib_refused){ *dst, is_prefix, node, why };
}

static void add_candidate(struct rib *x, const struct rib_node *n, uint32_t metric,
			  const struct prefix *dst, const struct ip_addr *gateway)
{
	struct rib_candidate *c;

	x_double(x->candidate, x->n_candidates, x->cap_candidates);
	c = &x->candidate[x->n_candidates++];
	*c = (struct rib_candidate){
		.route = { .dst = *dst, .node = n->id, .metric = metric },
		.latency_us = n->latency_us,
	};
	if (gateway) {
		c->route.is_prefix = true;
		c->route.gateway = *gateway;
	}
}

static void collect_claims(struct rib *x, const struct rib_input *in)
{
	x->n_claims = 0;
	for (unsigned i = 0; i < in->n_nodes; i++) {
		const struct rib_node *n = &in->node[i];

		for (uint8_t k = 0; k < n->rec->n_overlay; k++) {
			x_double(x->claim, x->n_claims, x->cap_claims);
			x->claim[x->n_claims++] = (struct claim){ n->rec->overlay[k], n->id };
		}
	}
	if (x->n_claims)
		qsort(x->claim, x->n_claims, sizeof(*x->claim), compare_claims);
}

/* If several nodes have the same address, the lowest node-id wins, equally on every node. */
static bool owns(const struct rib *x, const struct ip_addr *ip, node_id_t node)
{
	const struct claim key = { *ip, NODE_ID_NONE };
	size_t i = lower_bound(&key, x->claim, x->n_claims, sizeof(key), compare_claims);

	return i < x->n_claims && ip_equal(&x->claim[i].ip, ip) && x->claim[i].node == node;
}

static void collect_addresses(struct rib *x, const struct rib_input *in, const struct rib_node *n,
			      uint32_t metric)
{
	enum rib_refusal why;

	for (uint8_t i = 0; i < n->rec->n_overlay; i++) {
		const struct ip_addr *ip = &n->rec->overlay[i];
		struct prefix dst = prefix_of_host(ip);

		if (!rib_address_is_accepted(in, ip, n, &why))
			refuse(x, &dst, false, n->id, why);
		else if (!owns(x, ip, n->id))
			refuse(x, &dst, false, n->id, RIB_CONFLICT);
		else if (metric)
			add_candidate(x, n, metric, &dst, NULL);
	}
}

static const struct ip_addr *gateway_of(const struct rib *x, const struct rib_input *in,
					const struct rib_node *n, uint8_t family)
{
	enum rib_refusal why;

	for (uint8_t i = 0; i < n->rec->n_overlay; i++) {
		const struct ip_addr *ip = &n->rec->overlay[i];

		if (ip->family == family && rib_address_is_safe(in, ip, n, &why) &&
		    owns(x, ip, n->id))
			return ip;
	}
	return NULL;
}

static void collect_prefixes(struct rib *x, const struct rib_input *in, const struct rib_node *n,
			     uint32_t metric)
{
	enum rib_refusal why;

	for (uint8_t i = 0; i < n->rec->n_prefixes; i++) {
		const struct prefix *p = &n->rec->prefix[i];
		const struct ip_addr *gateway;

		if (!rib_prefix_is_usable(in, p, n, &why)) {
			refuse(x, p, true, n->id, why);
			continue;
		}
		gateway = gateway_of(x, in, n, p->ip.family);
		if (!gateway)
			refuse(x, p, true, n->id, RIB_NO_GATEWAY);
		else if (metric)
			add_candidate(x, n, metric, p, gateway);
	}
}

static void collect(struct rib *x, const struct rib_input *in, mono_t now)
{
	x->n_candidates = 0;
	collect_claims(x, in);
	for (unsigned i = 0; i < in->n_nodes; i++) {
		const struct rib_node *n = &in->node[i];
		uint32_t metric = node_metric(x, in, n, now);

		if (in->conf->export_next_hop)
			collect_addresses(x, in, n, metric);
		if (in->conf->n_imports)
			collect_prefixes(x, in, n, metric);
	}
	damping_expire(x, now);
	if (x->n_candidates)
		qsort(x->candidate, x->n_candidates, sizeof(*x->candidate), compare_candidates);
}

/* --- selection per destination --- */

static int compare_dst(const void *key, const void *route)
{
	return prefix_compare(key, &((const struct rib_route *)route)->dst);
}

static const struct rib_route *find(const struct rib_route *list, unsigned n,
				    const struct prefix *dst)
{
	return n ? bsearch(dst, list, n, sizeof(*list), compare_dst) : NULL;
}

/* The selected announcer stays until another is nearer by at least the metric threshold. */
static const struct rib_candidate *nearest(const struct rib_input *in,
					   const struct rib_candidate *c, unsigned n,
					   const struct rib_route *before, mono_t now)
{
	const struct rib_candidate *best = c, *in_use = NULL;

	for (unsigned i = 0; i < n; i++) {
		if (c[i].latency_us < best->latency_us)
			best = &c[i];
		if (before && before->is_prefix && before->node == c[i].route.node)
			in_use = &c[i];
	}
	if (!in_use || in_use == best)
		return best;
	return is_enough(in->conf, in_use->latency_us, best->latency_us) &&
			       is_due(in->conf, before->since, now)
		       ? best
		       : in_use;
}

/* The candidates c[0..n) have the same destination. */
static void pick(struct rib *x, const struct rib_input *in, const struct rib_candidate *c,
		 unsigned n, mono_t now)
{
	const struct rib_route *before = find(x->before, x->n_before, &c->route.dst);
	const struct rib_candidate *won =
		c->route.is_prefix ? nearest(in, c, n, before, now) : &c[0];
	struct rib_route *r;

	for (unsigned i = 0; i < n; i++)
		if (&c[i] != won)
			refuse(x, &c[i].route.dst, c[i].route.is_prefix, c[i].route.node,
			       won->route.is_prefix ? RIB_FARTHER : RIB_CONFLICT);
	if (x->n_routes >= RIB_ROUTES_MAX) {
		refuse(x, &won->route.dst, won->route.is_prefix, won->route.node, RIB_LIMIT);
		return;
	}
	x_double(x->route, x->n_routes, x->cap_routes);
	r = &x->route[x->n_routes++];
	*r = won->route;
	if (r->is_prefix)
		r->distance = (uint8_t)in->conf->import_distance;
	r->since = before && before->node == r->node ? before->since : now;
}

static void note_lengths(struct rib *x)
{
	memset(x->lengths, 0, sizeof(x->lengths));
	for (unsigned i = 0; i < x->n_routes; i++) {
		const struct prefix *dst = &x->route[i].dst;

		x->lengths[dst->ip.family == 6][dst->len / 64] |= 1ULL << dst->len % 64;
	}
}

/* --- changes --- */

static void notify_routes(const struct rib *x, const struct rib_report *report)
{
	unsigned i = 0, k = 0;

	while (i < x->n_before || k < x->n_routes) {
		const struct rib_route *old = i < x->n_before ? &x->before[i] : NULL;
		const struct rib_route *new = k < x->n_routes ? &x->route[k] : NULL;
		int order = !old ? 1 : !new ? -1 : prefix_compare(&old->dst, &new->dst);

		i += order <= 0;
		k += order >= 0;
		if (order < 0)
			report->change(report->arg, RIB_WITHDRAWN, old, NULL);
		else if (order > 0)
			report->change(report->arg, RIB_ADDED, NULL, new);
		else if (old->node != new->node || !ip_equal(&old->gateway, &new->gateway))
			report->change(report->arg, RIB_MOVED, old, new);
		else if (rib_kernel_metric(old) != rib_kernel_metric(new))
			report->change(report->arg, RIB_METRIC, old, new);
	}
}

static void notify_refusals(const struct rib *x, const struct rib_report *report)
{
	for (unsigned i = 0; i < x->n_refused; i++)
		if (!x->n_refused_before ||
		    !bsearch(&x->refused[i], x->refused_before, x->n_refused_before,
			     sizeof(*x->refused), compare_refused))
			report->refused(report->arg, &x->refused[i]);
}

#define SWAP(a, b)                                                                                 \
	do {                                                                                       \
		__typeof__(a) swap_ = (a);                                                         \
		(a) = (b);                                                                         \
		(b) = swap_;                                                                       \
	} while (0)

void rib_run(struct rib *x, const struct rib_input *in, const struct rib_report *report, mono_t now)
{
	SWAP(x->route, x->before);
	SWAP(x->cap_routes, x->cap_before);
	SWAP(x->refused, x->refused_before);
	SWAP(x->cap_refused, x->cap_refused_before);
	x->n_before = x->n_routes;
	x->n_refused_before = x->n_refused;
	x->n_routes = x->n_refused = 0;
	x->run++;
	collect(x, in, now);
	for (unsigned i = 0, n; i < x->n_candidates; i += n) {
		const struct rib_candidate *c = &x->candidate[i];

		for (n = 1; i + n < x->n_candidates &&
			    prefix_compare(&c->route.dst, &c[n].route.dst) == 0;)
			n++;
		pick(x, in, c, n, now);
	}
	note_lengths(x);
	if (x->n_refused)
		qsort(x->refused, x->n_refused, sizeof(*x->refused), compare_refused);
	notify_routes(x, report);
	notify_refusals(x, report);
}

/* --- queries --- */

const struct rib_route *rib_routes(const struct rib *x, unsigned *n)
{
	*n = x->n_routes;
	return x->route;
}

const struct rib_refused *rib_refusals(const struct rib *x, unsigned *n)
{
	*n = x->n_refused;
	return x->refused;
}

bool rib_covers(const struct rib *x, const struct ip_addr *ip)
{
	const uint64_t *lengths = x->lengths[ip->family == 6];

	for (uint8_t len = 0; len <= prefix_host_len(ip); len++) {
		struct prefix p = { .ip = *ip, .len = len };

		if (!(lengths[len / 64] & 1ULL << len % 64))
			continue;
		prefix_mask(&p);
		if (find(x->route, x->n_routes, &p))
			return true;
	}
	return false;
}
