// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Metrics of the lines of this node, and of pairs of lines, one row PAIR_METRIC of metrics.def for
 * each. A node without lines and pairs has none. Control thread.
 */
#include <stdio.h>

#include "base/defs.h"
#include "daemon/metrics/metrics_out.h"
#include "daemon/underlay/lines.h"
#include "proto/view.h"
#include "state/conf/conf.h"

#define NODE_METRIC(...)
#define PAIR_METRIC(name, type, unit, is_known, value, help)                                       \
	static bool name(const struct overlay_pair_view *f, int64_t *out)                          \
	{                                                                                          \
		if (!(is_known))                                                                   \
			return false;                                                              \
		*out = (int64_t)(value);                                                           \
		return true;                                                                       \
	}
#include "daemon/metrics/metrics.def"
#undef PAIR_METRIC

static const struct metric {
	const char *name, *type, *help;
	enum unit unit;
	bool (*read)(const struct overlay_pair_view *f, int64_t *out);
} metrics[] = {
#define PAIR_METRIC(name, type, unit, is_known, value, help) { #name, #type, help, unit, name },
#include "daemon/metrics/metrics.def"
#undef PAIR_METRIC
#undef NODE_METRIC
};

/* --- lines --- */

static void put_own_lines(struct out *o)
{
	const struct conf_line *line = o->conf->line;

	put_head(o, "line_present", "gauge", "1 if the line has its interface and address.");
	for (uint8_t i = 0; i < o->conf->n_lines; i++)
		put_labelled(o, "line_present", "line", line[i].name, !lines_lost(o->d, i));
	put_head(o, "line_links", "gauge", "Links that use the line.");
	for (uint8_t i = 0; i < o->conf->n_lines; i++)
		put_labelled(o, "line_links", "line", line[i].name, lines_links(o->d, i));
}

/* --- pairs --- */

static void put_pair(struct out *o, const struct metric *m, const struct node *n,
		     const struct overlay_pair_view *v)
{
	const char *line = conf_line_name(o->conf, v->ep.line);
	char theirs[8];
	int64_t value;

	if (!m->read(v, &value))
		return;
	snprintf(theirs, sizeof(theirs), "%u", v->theirs + 1u);
	put_node_sample(o, m->name, n);
	put_label(o, "line", line ? line : "");
	put_label(o, "peer_line", theirs);
	put_value(o, m->unit, value);
}

static void put_pairs(struct out *o, const struct metric *m)
{
	struct nodedb *nodes = overlay_nodes(o->overlay);
	struct overlay_pair_view v;

	put_head(o, m->name, m->type, m->help);
	for (const struct node *n = NULL; (n = nodedb_next(nodes, n));)
		for (unsigned k = 0; k < LINE_PAIRS; k++)
			if (overlay_line_pair(o->overlay, n->slot, k, &v))
				put_pair(o, m, n, &v);
}

static bool has_pairs(const struct out *o)
{
	struct overlay_pair_view v;

	for (const struct node *n = NULL; (n = nodedb_next(overlay_nodes(o->overlay), n));)
		for (unsigned k = 0; k < LINE_PAIRS; k++)
			if (overlay_line_pair(o->overlay, n->slot, k, &v))
				return true;
	return false;
}

void put_lines(struct out *o)
{
	if (o->conf->n_lines)
		put_own_lines(o);
	for (size_t i = 0; has_pairs(o) && i < array_size(metrics); i++)
		put_pairs(o, &metrics[i]);
}
