// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show routes`: routes installed in the kernel, announcements that are not used, and the prefixes
 * that this node announces, each with the reason. Control thread.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/answer/answer.h"
#include "daemon/states.h"
#include "daemon/routes/routes.h"
#include "proto/view.h"
#include "state/latency/choice.h"

/* Returns the installed route of a wanted route, or NULL. */
static const struct rib_installed *installed_as(const struct routes *r, const struct rib_route *e)
{
	const struct rib_installed key = {
		.dst = e->dst,
		.gateway = e->gateway,
		.metric = rib_kernel_metric(e),
	};

	return r->n_have ? bsearch(&key, r->have, r->n_have, sizeof(key), rib_installed_compare)
			 : NULL;
}

static const char *state_of(const struct rib_installed *e)
{
	if (!e)
		return "pending";
	return e->error ? "failed" : "installed";
}

static void write_head(struct command *c, const struct prefix *dst, bool is_prefix, node_id_t node)
{
	jsonw_object(c->w, NULL);
	answer_prefix(c->w, "destination", dst);
	jsonw_str(c->w, "type", is_prefix ? "prefix" : "next-hop");
	answer_node(c->w, "node_id", c->d, node);
}

static void write_route(struct command *c, const struct routes *r, const struct rib_route *e)
{
	struct nodedb *db = overlay_nodes(c->overlay);
	const struct rib_installed *in = installed_as(r, e);
	const struct node *n = nodedb_find(db, e->node);
	const struct choice *ch = n ? overlay_choice(c->overlay, n->slot) : NULL;

	write_head(c, &e->dst, e->is_prefix, e->node);
	answer_ip(c->w, "gateway", &e->gateway);
	jsonw_u64(c->w, "metric", e->metric);
	jsonw_u64(c->w, "distance", e->distance);
	answer_known(c->w, "latency_us", ch && ch->path.n_hops, ch ? ch->path.rtt_us : 0);
	jsonw_str(c->w, "state", state_of(in));
	jsonw_str(c->w, "reason", in && in->error ? strerror(-in->error) : NULL);
	answer_age(c->w, "since_seconds", c->now, e->since);
	jsonw_end(c->w);
}

static void write_refused(struct command *c, const struct rib_refused *e)
{
	write_head(c, &e->dst, e->is_prefix, e->node);
	jsonw_null(c->w, "gateway");
	jsonw_null(c->w, "metric");
	jsonw_null(c->w, "distance");
	jsonw_null(c->w, "latency_us");
	jsonw_str(c->w, "state", rib_refusal_texts[e->why].name);
	jsonw_str(c->w, "reason", rib_refusal_texts[e->why].text);
	jsonw_null(c->w, "since_seconds");
	jsonw_end(c->w);
}

/* Prefixes of this node. */
static void write_own(struct command *c)
{
	const struct announce *a = announcer_view(c->d);

	jsonw_array(c->w, "prefixes");
	for (unsigned i = 0; i < a->n; i++) {
		const struct announced *e = &a->entry[i];

		jsonw_object(c->w, NULL);
		answer_prefix(c->w, "prefix", &e->prefix);
		jsonw_bool(c->w, "announced", e->announced);
		jsonw_str(c->w, "reason", announce_reason(a, e));
		answer_age(c->w, "since_seconds", c->now, e->since);
		jsonw_end(c->w);
	}
	jsonw_end(c->w);
}

enum command_result show_routes(struct command *c)
{
	const struct rib_route *route;
	const struct rib_refused *refused;
	const struct routes *r = c->d->states->routes;
	const char *unusable = routes_why_unusable(c->d);
	unsigned n;

	jsonw_bool(c->w, "exporting", !unusable);
	jsonw_str(c->w, "reason", unusable);
	jsonw_u64(c->w, "protocol", ROUTE_PROTOCOL);
	jsonw_u64(c->w, "table", c->d->device.table);
	jsonw_array(c->w, "routes");
	route = rib_routes(r->plan, &n);
	for (unsigned i = 0; i < n; i++)
		write_route(c, r, &route[i]);
	refused = rib_refusals(r->plan, &n);
	for (unsigned i = 0; i < n; i++)
		write_refused(c, &refused[i]);
	jsonw_end(c->w);
	write_own(c);
	jsonw_u64(c->w, "added", r->count[RIB_ADDED]);
	jsonw_u64(c->w, "changed", r->count[RIB_MOVED] + r->count[RIB_METRIC]);
	jsonw_u64(c->w, "withdrawn", r->count[RIB_WITHDRAWN]);
	jsonw_u64(c->w, "repaired", r->repaired);
	jsonw_u64(c->w, "failed", r->failed);
	jsonw_u64(c->w, "withheld", r->withheld);
	return CMD_DONE;
}
