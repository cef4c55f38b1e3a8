// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Metrics for each member, one row of the table for each metric. Control thread.
 */
#include "base/defs.h"
#include "daemon/control/metrics_out.h"
#include "daemon/leond.h"

static void node_reachable(struct out *o, const char *name, const struct node *n)
{
	put_node_sample(o, name, n);
	put_u64(o, n->state == NODE_REACHABLE);
}

static bool link_of(struct out *o, const struct node *n, struct overlay_link *l)
{
	return overlay_link(o->d->overlay, n->slot, l);
}

static void link_is_up(struct out *o, const char *name, const struct node *n)
{
	struct overlay_link l;

	if (!link_of(o, n, &l))
		return;
	put_node_sample(o, name, n);
	put_u64(o, l.up);
}

static void link_silences(struct out *o, const char *name, const struct node *n)
{
	struct overlay_link l;

	if (!link_of(o, n, &l))
		return;
	put_node_sample(o, name, n);
	put_u64(o, l.silences);
}

static void link_rtt(struct out *o, const char *name, const struct node *n)
{
	struct overlay_link l;

	if (!link_of(o, n, &l) || !l.up || l.filter.n_samples == 0)
		return;
	put_node_sample(o, name, n);
	put_seconds(o, (uint64_t)l.filter.now_us);
}

static void link_variation(struct out *o, const char *name, const struct node *n)
{
	struct overlay_link l;

	if (!link_of(o, n, &l) || !l.up || l.filter.n_samples == 0)
		return;
	put_node_sample(o, name, n);
	put_seconds(o, (uint64_t)l.filter.variation_us);
}

static void link_loss(struct out *o, const char *name, const struct node *n)
{
	struct overlay_link l;

	if (!link_of(o, n, &l) || l.filter.n_samples == 0)
		return;
	put_node_sample(o, name, n);
	fprintf(o->f, "} %u.%03u\n", l.filter.loss_pm / 1000, l.filter.loss_pm % 1000);
}

static void link_data_compared(struct out *o, const char *name, const struct node *n)
{
	struct overlay_link l;

	if (!link_of(o, n, &l))
		return;
	put_node_sample(o, name, n);
	fprintf(o->f, "} %llu\n", (unsigned long long)l.data_tx);
}

static void link_data_lost(struct out *o, const char *name, const struct node *n)
{
	struct overlay_link l;

	if (!link_of(o, n, &l))
		return;
	put_node_sample(o, name, n);
	fprintf(o->f, "} %llu\n", (unsigned long long)l.data_lost);
}

static void path_data_lost(struct out *o, const char *name, const struct node *n)
{
	uint64_t tx, lost;
	const uint16_t *relay;

	overlay_path_data(o->d->overlay, n->slot, &tx, &lost, &relay);
	put_node_sample(o, name, n);
	fprintf(o->f, "} %llu\n", (unsigned long long)lost);
}

static void link_is_sealed(struct out *o, const char *name, const struct node *n)
{
	struct overlay_link l;

	if (!link_of(o, n, &l) || !l.session)
		return;
	put_node_sample(o, name, n);
	put_u64(o, l.cipher != SEAL_NONE);
}

static void link_is_ipsec(struct out *o, const char *name, const struct node *n)
{
	struct overlay_link l;

	if (!link_of(o, n, &l) || !l.ep.ip.family)
		return;
	put_node_sample(o, name, n);
	put_u64(o, ipsec_protects(&o->d->ipsec, &l.ep.ip, loop_now(o->d->loop)));
}

static void link_mtu(struct out *o, const char *name, const struct node *n)
{
	struct overlay_link l;

	if (!link_of(o, n, &l) || l.mtu == 0)
		return;
	put_node_sample(o, name, n);
	put_u64(o, l.mtu);
}

static const struct choice *choice_of(struct out *o, const struct node *n)
{
	const struct choice *c = overlay_choice(o->d->overlay, n->slot);

	return c && path_works(&c->path) ? c : NULL;
}

static void path_latency(struct out *o, const char *name, const struct node *n)
{
	const struct choice *c = choice_of(o, n);

	if (!c)
		return;
	put_node_sample(o, name, n);
	put_seconds(o, c->path.rtt_us);
}

static void path_hops(struct out *o, const char *name, const struct node *n)
{
	const struct choice *c = choice_of(o, n);

	if (!c)
		return;
	put_node_sample(o, name, n);
	put_u64(o, c->path.n_hops);
}

static void path_changes(struct out *o, const char *name, const struct node *n)
{
	const struct choice *c = overlay_choice(o->d->overlay, n->slot);

	if (!c)
		return;
	put_node_sample(o, name, n);
	put_u64(o, c->n_changes);
}

/* Value of the path in use, or of the direct link if it has none yet. */
static void mean_latency(struct out *o, const char *name, const struct node *n, bool direct)
{
	const struct gain *g = overlay_gain(o->d->overlay, n->slot);
	struct gain sum = { 0 };

	if (g)
		gain_add(&sum, g, o->now);
	if (!sum.both_ms)
		return;
	put_node_sample(o, name, n);
	put_seconds(o, direct ? gain_direct_us(&sum) : gain_used_us(&sum));
}

static void path_mean_latency(struct out *o, const char *name, const struct node *n)
{
	mean_latency(o, name, n, false);
}

static void path_mean_direct_latency(struct out *o, const char *name, const struct node *n)
{
	mean_latency(o, name, n, true);
}

static const struct one_way *directions_of(struct out *o, const struct node *n)
{
	const struct one_way *w = overlay_one_way(o->d->overlay, n->slot);

	return w && one_way_is_known(w, o->now) ? w : NULL;
}

static void put_us(struct out *o, const char *name, const struct node *n, int64_t us)
{
	put_node_sample(o, name, n);
	put_seconds(o, us > 0 ? (uint64_t)us : 0);
}

static void path_jitter(struct out *o, const char *name, const struct node *n)
{
	const struct one_way *w = directions_of(o, n);

	if (w)
		put_us(o, name, n, w->jitter_us);
}

static void path_forward_variation(struct out *o, const char *name, const struct node *n)
{
	const struct one_way *w = directions_of(o, n);

	if (w)
		put_us(o, name, n, w->forward.beyond_us);
}

static void path_return_variation(struct out *o, const char *name, const struct node *n)
{
	const struct one_way *w = directions_of(o, n);

	if (w)
		put_us(o, name, n, w->reverse.beyond_us);
}

static void critical_paths(struct out *o, const char *name, const struct node *n)
{
	const struct pairing *p = overlay_pair(o->d->overlay, n->slot);

	if (!p || p->state == PAIR_OFF)
		return;
	put_node_sample(o, name, n);
	put_u64(o, p->state == PAIR_TWICE ? 2 : 1);
}

static const struct {
	const char *name, *type;
	put_node_fn fn;
	const char *help;
} metrics[] = {
	{ "node_reachable", "gauge", node_reachable, "1 if a path leads to the node." },
	{ "link_up", "gauge", link_is_up, "1 if the direct link to the node works." },
	{ "link_silences_total", "counter", link_silences,
	  "Silences of the direct link: unanswered probes that increased its cost." },
	{ "link_rtt_seconds", "gauge", link_rtt, "Smoothed round-trip time of the direct link." },
	{ "link_rtt_variation_seconds", "gauge", link_variation,
	  "Smoothed mean deviation of the direct link's round-trip time." },
	{ "link_loss_ratio", "gauge", link_loss, "Smoothed loss of probes on the direct link." },
	{ "link_data_compared_total", "counter", link_data_compared,
	  "Data datagrams sent on the direct link and compared by both ends." },
	{ "link_data_lost_total", "counter", link_data_lost,
	  "Data datagrams compared by both ends of the direct link that did not arrive." },
	{ "path_data_lost_total", "counter", path_data_lost,
	  "Data datagrams to the node lost on paths through relays." },
	{ "link_mtu_bytes", "gauge", link_mtu, "Largest datagram that the direct link carries." },
	{ "node_sealed", "gauge", link_is_sealed,
	  "1 if frames to and from the node are encrypted end to end." },
	{ "link_ipsec", "gauge", link_is_ipsec, "1 if IPsec protects the direct link." },
	{ "path_latency_seconds", "gauge", path_latency, "Round-trip time of the path in use." },
	{ "path_hops", "gauge", path_hops, "Hops of the path in use, 1 is direct." },
	{ "path_changes_total", "counter", path_changes, "Changes of the path in use." },
	{ "path_mean_latency_seconds", "gauge", path_mean_latency,
	  "Mean round-trip time of the path in use since the start, while the direct link"
	  " worked." },
	{ "path_mean_direct_latency_seconds", "gauge", path_mean_direct_latency,
	  "Mean round-trip time of the direct link in the same periods." },
	{ "path_jitter_seconds", "gauge", path_jitter,
	  "Mean difference between consecutive round-trip times of the path in use." },
	{ "path_forward_variation_seconds", "gauge", path_forward_variation,
	  "One-way delay to the node above its recent minimum." },
	{ "path_return_variation_seconds", "gauge", path_return_variation,
	  "One-way delay from the node above its recent minimum." },
	{ "critical_paths", "gauge", critical_paths,
	  "Number of paths that carry critical frames to the node at a time." },
};

void put_nodes(struct out *o)
{
	for (unsigned i = 0; i < array_size(metrics); i++)
		put_per_node(o, metrics[i].name, metrics[i].type, metrics[i].help, metrics[i].fn);
}
