// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show paths`: the path in use to every other member. Control thread.
 */
#include "daemon/answer/answer.h"
#include "daemon/answer/command.h"
#include "daemon/routes/routes.h"
#include "proto/view.h"
#include "state/latency/choice.h"
#include "state/latency/gain.h"
#include "state/latency/one_way.h"

/* Destinations of the routes through this node. */
static void write_exported(struct command *c, node_id_t node)
{
	const struct rib_route *route;
	struct routes_view v;
	unsigned n;

	routes_view(c->d, &v);
	route = rib_routes(v.plan, &n);
	jsonw_array(c->w, "exported");
	for (unsigned i = 0; i < n; i++)
		if (route[i].node == node)
			answer_prefix(c->w, NULL, &route[i].dst);
	jsonw_end(c->w);
}

/* IPsec state of the first link; only the nodes of the other links know theirs. */
static void write_protected(struct command *c, const struct path *p)
{
	struct overlay_link link = { .up = false };

	if (p->n_hops > 0)
		overlay_link(c->overlay, p->hop[0], &link);
	answer_protected(c->w, c->d, &link.ep.ip, c->now);
}

/* Average since start, weighted by time: latency of the path in use and of the direct link. */
static void write_gain(struct command *c, const struct gain *g)
{
	jsonw_object(c->w, "gain");
	jsonw_u64(c->w, "compared_seconds", g->both_ms / 1000);
	answer_known(c->w, "mean_latency_us", g->both_ms > 0, gain_used_us(g));
	answer_known(c->w, "mean_direct_latency_us", g->both_ms > 0, gain_direct_us(g));
	jsonw_u64(c->w, "without_direct_seconds", g->without_direct_ms / 1000);
	jsonw_end(c->w);
}

static uint64_t us_of(int64_t us)
{
	return us > 0 ? (uint64_t)us : 0;
}

/* Measurements of PINGs along the path. */
static void write_jitter(struct command *c, const struct node *n)
{
	static const struct one_way none;
	const struct one_way *w = overlay_one_way(c->overlay, n->slot);
	bool known = w && one_way_is_known(w, c->now);

	if (!w)
		w = &none;
	answer_known(c->w, "jitter_us", known, us_of(w->jitter_us));
	answer_known(c->w, "forward_variation_us", known, us_of(w->forward.beyond_us));
	answer_known(c->w, "return_variation_us", known, us_of(w->reverse.beyond_us));
}

static void write_path(struct command *c, const struct node *n, const struct choice *ch,
		       const struct gain *gain)
{
	static const struct choice none = { .path.cost_us = COST_INFINITE,
					    .best.cost_us = COST_INFINITE,
					    .direct.cost_us = COST_INFINITE,
					    .reason = CHOICE_NO_PATH,
					    .chosen_by = CHOICE_NO_PATH };
	bool usable;

	if (!ch)
		ch = &none;
	usable = path_works(&ch->path);
	jsonw_object(c->w, NULL);
	answer_node(c->w, "destination", c->d, n->id);
	answer_hops(c->w, "hops", "hop_names", c->d, &ch->path);
	answer_known(c->w, "latency_us", usable, ch->path.rtt_us);
	answer_known(c->w, "direct_latency_us", path_works(&ch->direct), ch->direct.rtt_us);
	jsonw_bool(c->w, "unresponsive", usable && ch->path.silent);
	jsonw_bool(c->w, "direct_unresponsive", path_works(&ch->direct) && ch->direct.silent);
	answer_known(c->w, "cost_us", usable, ch->path.cost_us);
	answer_known(c->w, "best_cost_us", path_works(&ch->best), ch->best.cost_us);
	answer_known(c->w, "variation_us", usable, ch->path.noise_us);
	answer_known(c->w, "loss_permille", usable, ch->path.loss_pm);
	write_jitter(c, n);
	answer_known(c->w, "mtu", usable && ch->path.mtu, ch->path.mtu);
	write_protected(c, &ch->path);
	answer_time(c->w, "since", wall_of(c->now, ch->since));
	answer_age(c->w, "since_seconds", c->now, ch->since);
	jsonw_str(c->w, "reason", choice_reason_name(ch->reason));
	jsonw_str(c->w, "chosen_by", choice_reason_name(ch->chosen_by));
	jsonw_u64(c->w, "changes", ch->n_changes);
	answer_path_data(c->w, c->d, n->slot, &ch->path);
	write_exported(c, n->id);
	write_gain(c, gain);
	jsonw_end(c->w);
}

enum command_result show_paths(struct command *c)
{
	struct nodedb *db = overlay_nodes(c->overlay);
	struct gain all = { 0 };

	answer_id(c->w, "source", c->self);
	answer_call(c->w, "source_name", c->d, c->self);
	jsonw_array(c->w, "paths");
	for (const struct node *n = NULL; (n = nodedb_next(db, n));) {
		const struct gain *gain = overlay_gain(c->overlay, n->slot);
		struct gain one = { 0 };

		if (gain) {
			gain_add(&one, gain, c->now);
			gain_add(&all, gain, c->now);
		}
		write_path(c, n, overlay_choice(c->overlay, n->slot), &one);
	}
	jsonw_end(c->w);
	write_gain(c, &all);
	return CMD_DONE;
}
