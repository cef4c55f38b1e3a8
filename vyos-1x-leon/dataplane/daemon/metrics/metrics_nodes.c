// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Metrics for each member, one row NODE_METRIC of metrics.def for each metric. Control thread.
 */
#include <stdlib.h>

#include "base/defs.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon/metrics/metrics_out.h"
#include "daemon/underlay/ipsec.h"
#include "proto/view.h"
#include "state/latency/choice.h"
#include "state/latency/gain.h"
#include "state/latency/one_way.h"
#include "state/latency/pair.h"

/* Facts about another member at the time of the request. A pointer is NULL if the fact is
 * unknown, and `link` is zero without a link. */
struct facts {
	const struct node *node;
	char *labels; /* of all metrics */
	struct overlay_link link;
	const struct choice *choice;
	const struct one_way *one_way;
	const struct pairing *pair;
	struct gain gain;
	uint64_t path_lost, line_changes;
	bool has_link, is_ipsec, has_lines;
};

static bool is_measured(const struct facts *f)
{
	return f->has_link && f->link.filter.n_samples;
}

static bool has_path(const struct facts *f)
{
	return f->choice && path_works(&f->choice->path);
}

#define PAIR_METRIC(...)
#define NODE_METRIC(name, type, unit, is_known, value, help)                                       \
	static bool name(const struct facts *f, int64_t *out)                                      \
	{                                                                                          \
		if (!(is_known))                                                                   \
			return false;                                                              \
		*out = (int64_t)(value);                                                           \
		return true;                                                                       \
	}
#include "daemon/metrics/metrics.def"
#undef NODE_METRIC

static const struct {
	const char *name, *type, *help;
	enum unit unit;
	bool (*read)(const struct facts *f, int64_t *out);
} metrics[] = {
#define NODE_METRIC(name, type, unit, is_known, value, help) { #name, #type, help, unit, name },
#include "daemon/metrics/metrics.def"
#undef NODE_METRIC
#undef PAIR_METRIC
};

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

static void gather(struct out *o, const struct node *n, struct facts *f)
{
	const struct overlay *v = o->overlay;
	const struct gain *g = overlay_gain(v, n->slot);
	const struct one_way *w = overlay_one_way(v, n->slot);
	const uint16_t *relay;
	uint64_t tx;

	*f = (struct facts){ .node = n,
			     .labels = labels_of(o, n),
			     .choice = overlay_choice(v, n->slot),
			     .one_way = w && one_way_is_known(w, o->now) ? w : NULL,
			     .pair = overlay_pair(v, n->slot) };
	f->has_link = overlay_link(v, n->slot, &f->link);
	if (!f->has_link)
		f->link = (struct overlay_link){ 0 };
	if (f->link.ep.ip.family)
		f->is_ipsec = ipsec_protects(o->ipsec, &f->link.ep.ip, o->now);
	if (g)
		gain_add(&f->gain, g, o->now);
	overlay_path_data(v, n->slot, &tx, &f->path_lost, &relay);
	gather_lines(o, f);
}

void put_nodes(struct out *o)
{
	struct nodedb *nodes = overlay_nodes(o->overlay);
	struct facts *facts = x_calloc(nodedb_members(nodes), sizeof(*facts));
	size_t n_facts = 0;
	int64_t value;

	for (const struct node *n = NULL; (n = nodedb_next(nodes, n));)
		gather(o, n, &facts[n_facts++]);
	for (size_t i = 0; i < array_size(metrics); i++) {
		put_head(o, metrics[i].name, metrics[i].type, metrics[i].help);
		for (size_t k = 0; k < n_facts; k++) {
			if (!metrics[i].read(&facts[k], &value))
				continue;
			fprintf(o->f, "leon_%s%s", metrics[i].name, facts[k].labels);
			put_value(o, metrics[i].unit, value);
		}
	}
	for (size_t k = 0; k < n_facts; k++)
		free(facts[k].labels);
	free(facts);
}
