// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The metrics of metrics.def. Control thread.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/defs.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon/accel/leon_accel.h"
#include "daemon/guard/loop_guard.h"
#include "daemon/metrics/metrics.h"
#include "daemon/metrics/metrics_out.h"
#include "daemon/report/report.h"
#include "daemon/routes/routes.h"
#include "daemon/states.h"
#include "daemon/transport/transport.h"
#include "daemon/underlay/underlay.h"
#include "fwd/fwd.h"
#include "io/tap.h"
#include "proto/overlay_ops.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/latency/choice.h"
#include "state/latency/gain.h"
#include "state/latency/one_way.h"
#include "state/latency/pair.h"

/* Facts at the time of the request. A pointer is NULL if the fact is unknown. */
struct facts {
	struct leond *d;
	mono_t now;
	const struct overlay_counters *control;
	struct stream_counts tls;
	const struct portmap_view *port;
	const struct routes *routes;
	unsigned n_wanted, n_refused, n_failed, n_announced;
	uint64_t backlog_bytes;
	const struct accel_totals *accel;

	/* about another member; `link` is zero without a link */
	const struct node *node;
	char *labels; /* of all metrics */
	struct overlay_link link;
	const struct choice *choice;
	const struct one_way *one_way;
	const struct pairing *pair;
	struct gain gain;
	struct accel_node accel_node;
	uint64_t path_lost, line_changes;
	uint32_t limit_kbits, requested_kbits, share_kbits, received_kbits; /* direct traffic */
	bool has_link, is_ipsec, has_lines, has_accel_node;

	const struct overlay_pair_view *lines; /* about a pair of lines */
};

static bool is_measured(const struct facts *f)
{
	return f->has_link && f->link.filter.n_samples;
}

static bool has_path(const struct facts *f)
{
	return f->choice && path_works(&f->choice->path);
}

#define METRIC(group, name, type, unit, is_known, value, help)                                     \
	static bool read_##name(const struct facts *f attr_unused, int64_t *out)                   \
	{                                                                                          \
		if (!(is_known))                                                                   \
			return false;                                                              \
		*out = (int64_t)(value);                                                           \
		return true;                                                                       \
	}
#include "daemon/metrics/metrics.def"
#undef METRIC

static const struct metric {
	enum metric_group group;
	const char *name, *type, *help;
	enum unit unit;
	bool (*read)(const struct facts *f, int64_t *out);
} metrics[] = {
#define METRIC(group, name, type, unit, is_known, value, help)                                     \
	{ METRICS_##group, #name, #type, help, unit, read_##name },
#include "daemon/metrics/metrics.def"
#undef METRIC
};

/* --- metrics with one sample --- */

static void gather_routes(struct facts *f)
{
	struct prefix announced[MSG_PREFIXES_MAX];

	rib_routes(f->routes->plan, &f->n_wanted);
	rib_refusals(f->routes->plan, &f->n_refused);
	for (unsigned i = 0; i < f->routes->n_have; i++)
		f->n_failed += f->routes->have[i].error != 0;
	f->n_announced = announce_list(announcer_view(f->d), announced);
}

static struct facts gather(const struct out *o)
{
	struct facts f = { .d = o->d,
			   .now = o->now,
			   .control = overlay_counters(o->overlay),
			   .tls = streams_counts(o->d),
			   .port = portmap_view(o->d),
			   .routes = o->d->states->routes,
			   .accel = o->conf->acceleration ? accel_reports_totals(o->d) : NULL };
	struct fwd_queue q;

	gather_routes(&f);
	for (unsigned i = 0; i < o->d->tap->n_queues; i++) {
		fwd_queue(o->d->fwd, i, &q);
		f.backlog_bytes += q.backlog_bytes;
	}
	return f;
}

void put_ones(struct out *o)
{
	const struct facts f = gather(o);
	int64_t value;

	for (const struct metric *m = metrics; m < metrics + array_size(metrics); m++)
		if (m->group == METRICS_ONE && m->read(&f, &value))
			put_metric(o, m->name, m->type, m->unit, m->help, (uint64_t)value);
}

/* --- members --- */

static void gather_lines(const struct out *o, struct facts *f)
{
	struct overlay_pair_view v;

	for (unsigned i = 0; i < LINE_PAIRS; i++) {
		if (!overlay_line_pair(o->overlay, f->node->slot, i, &v))
			continue;
		f->has_lines = true;
		f->line_changes = v.changes;
	}
}

/* Text for free(). */
static char *labels_of(const struct out *o, const struct node *n)
{
	struct out labels = *o;
	char *text = NULL;
	size_t len = 0;

	labels.f = open_memstream(&text, &len);
	if (!labels.f)
		bug("out of memory for metrics");
	put_node_labels(&labels, n);
	fclose(labels.f);
	return text;
}

static void gather_node(struct out *o, const struct node *n, struct facts *f)
{
	const struct overlay *v = o->overlay;
	const struct gain *g = overlay_gain(v, n->slot);
	const struct one_way *w = overlay_one_way(v, n->slot);
	const uint16_t *relay;
	uint64_t tx;

	*f = (struct facts){ .d = o->d,
			     .node = n,
			     .labels = labels_of(o, n),
			     .choice = overlay_choice(v, n->slot),
			     .one_way = w && one_way_is_known(w, o->now) ? w : NULL,
			     .pair = overlay_pair(v, n->slot),
			     .limit_kbits = fwd_hop_kbits(o->d->fwd, n->slot),
			     .requested_kbits = overlay_requested_kbits(v, n->slot),
			     .share_kbits = overlay_share(v, n->slot),
			     .received_kbits = senders_kbits(o->d, n->slot) };
	f->has_link = overlay_link(v, n->slot, &f->link);
	if (!f->has_link)
		f->link = (struct overlay_link){ 0 };
	if (f->link.ep.ip.family)
		f->is_ipsec = ipsec_protects(o->d->ipsec, &f->link.ep.ip, o->now);
	if (g)
		gain_add(&f->gain, g, o->now);
	f->has_accel_node = accel_reports_node(o->d, n->id, &f->accel_node);
	overlay_path_data(v, n->slot, &tx, &f->path_lost, &relay);
	gather_lines(o, f);
}

void put_nodes(struct out *o, enum metric_group group)
{
	struct nodedb *nodes = overlay_nodes(o->overlay);
	struct facts *facts = x_calloc(nodedb_members(nodes), sizeof(*facts));
	size_t n_facts = 0;
	int64_t value;

	for (const struct node *n = NULL; (n = nodedb_next(nodes, n));)
		gather_node(o, n, &facts[n_facts++]);
	for (const struct metric *m = metrics; m < metrics + array_size(metrics); m++) {
		if (m->group != group)
			continue;
		put_head(o, m->name, m->type, m->help);
		for (size_t k = 0; k < n_facts; k++) {
			if (!m->read(&facts[k], &value))
				continue;
			fprintf(o->f, "leon_%s%s", m->name, facts[k].labels);
			put_value(o, m->unit, value);
		}
	}
	for (size_t k = 0; k < n_facts; k++)
		free(facts[k].labels);
	free(facts);
}

/* --- pairs of lines --- */

static void put_pair(struct out *o, const struct metric *m, const struct node *n,
		     const struct overlay_pair_view *v)
{
	const char *line = conf_line_name(o->conf, v->ep.line);
	const struct facts f = { .lines = v };
	char theirs[8];
	int64_t value;

	if (!m->read(&f, &value))
		return;
	snprintf(theirs, sizeof(theirs), "%u", v->theirs + 1u);
	put_node_sample(o, m->name, n);
	put_label(o, "line", line ? line : "");
	put_label(o, "peer_line", theirs);
	put_value(o, m->unit, value);
}

/* A node without pairs has no metrics of pairs. */
static void put_all_pairs(struct out *o, const struct metric *m)
{
	struct nodedb *nodes = overlay_nodes(o->overlay);
	struct overlay_pair_view v;
	bool any = false;

	for (const struct node *n = NULL; (n = nodedb_next(nodes, n));)
		for (unsigned k = 0; k < LINE_PAIRS; k++) {
			if (!overlay_line_pair(o->overlay, n->slot, k, &v))
				continue;
			if (!any)
				put_head(o, m->name, m->type, m->help);
			any = true;
			put_pair(o, m, n, &v);
		}
}

void put_pairs(struct out *o)
{
	for (const struct metric *m = metrics; m < metrics + array_size(metrics); m++)
		if (m->group == METRICS_PAIR)
			put_all_pairs(o, m);
}
