// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Commands about paths to other members. Control thread.
 */
#include <stdio.h>

#include "daemon/answer/answer.h"
#include "daemon/states.h"
#include "daemon/metrics/metrics.h"
#include "daemon/routes/routes.h"
#include "fwd/fwd.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/latency/choice.h"
#include "state/latency/gain.h"
#include "state/latency/one_way.h"
#include "state/latency/pair.h"

/* `show paths`: the path in use to every other member. */

/* Destinations of the routes through this node. */
static void write_exported(struct command *c, node_id_t node)
{
	const struct rib_route *route;
	unsigned n;

	route = rib_routes(c->d->states->routes->plan, &n);
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
	answer_begin_node(c->w, "destination", c->d, n->id);
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
	jsonw_str(c->w, "reason", choice_texts[ch->reason].name);
	jsonw_str(c->w, "chosen_by", choice_texts[ch->chosen_by].name);
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

/* `show latency`: the latency database of this node, one row per origin. */

/* An answer for more nodes is larger than CTL_ANSWER_MAX. */
#define NODES_MAX 600

static void write_entry(struct command *c, uint16_t from, const struct node *to,
			const struct lat_entry *e)
{
	bool measured = e->up || e->rtt_us;

	jsonw_object(c->w, NULL);
	answer_id(c->w, "node", to->id);
	jsonw_bool(c->w, "up", e->up);
	jsonw_bool(c->w, "silent", e->silent);
	answer_known(c->w, "rtt_us", measured, e->rtt_us);
	answer_known(c->w, "long_term_rtt_us", measured, e->long_term_us);
	answer_known(c->w, "variation_us", measured, e->var_us);
	answer_known(c->w, "loss_permille", measured, e->loss_pm);
	answer_known(c->w, "mtu", e->mtu != 0, e->mtu);
	jsonw_bool(c->w, "asymmetric", overlay_is_asymmetric(c->overlay, from, to->slot));
	jsonw_end(c->w);
}

static void write_row(struct command *c, struct nodedb *db, const struct node *from)
{
	const struct latdb *lat = overlay_latdb(c->overlay);
	uint32_t seq = latdb_row_seq(lat, from->slot);

	jsonw_object(c->w, NULL);
	answer_id(c->w, "origin", from->id);
	answer_known(c->w, "sequence", seq != 0, seq);
	jsonw_array(c->w, "entries");
	for (uint16_t slot = 0; slot < nodedb_slots(db); slot++) {
		const struct node *to = nodedb_at(db, slot);
		struct lat_entry e;

		if (!answer_is_member(to) || slot == from->slot)
			continue;
		e = latdb_get(lat, from->slot, slot);
		write_entry(c, from->slot, to, &e);
	}
	jsonw_end(c->w);
	jsonw_end(c->w);
}

static void write_in_use(struct command *c, const struct node *n)
{
	const struct choice *ch = overlay_choice(c->overlay, n->slot);

	if (!ch || ch->path.n_hops == 0)
		return;
	jsonw_object(c->w, NULL);
	answer_id(c->w, "destination", n->id);
	answer_hops(c->w, "hops", "hop_names", c->d, &ch->path);
	jsonw_u64(c->w, "since_ms", (uint64_t)mono_sub_ms(c->now, ch->since));
	jsonw_end(c->w);
}

enum command_result show_latency(struct command *c)
{
	struct path_params pp = overlay_path_params(c->overlay);
	struct nodedb *db = overlay_nodes(c->overlay);
	uint32_t n_nodes = nodedb_members(db);

	if (n_nodes > NODES_MAX)
		return command_refuse(c,
				      "the latency database has %u nodes, and at most %d fit in an "
				      "answer: use show paths",
				      n_nodes, NODES_MAX);
	answer_id(c->w, "source", c->self);
	/* Data that leonsim(1) needs in addition to the rows to compute the paths of `show
	 * paths`. */
	answer_rules(c->w, c->d->conf);
	jsonw_array(c->w, "nodes");
	for (uint16_t slot = 0; slot < nodedb_slots(db); slot++) {
		const struct node *n = nodedb_at(db, slot);

		if (!answer_is_member(n))
			continue;
		answer_begin_node(c->w, "node_id", c->d, n->id);
		jsonw_bool(c->w, "transit_disabled", slot && pp.no_relay[slot]);
		jsonw_bool(c->w, "unreceived", slot && pp.unreceived[slot]);
		jsonw_end(c->w);
	}
	jsonw_end(c->w);
	jsonw_array(c->w, "rows");
	for (uint16_t slot = 0; slot < nodedb_slots(db); slot++) {
		const struct node *n = nodedb_at(db, slot);

		if (answer_is_member(n))
			write_row(c, db, n);
	}
	jsonw_end(c->w);
	answer_nodes(c, "paths", write_in_use);
	return CMD_DONE;
}

/* `show policy`: the match of critical frames, counters, and the two paths to each node, or the
 * reason why frames are not duplicated. */

/* --- match --- */

/* A value by name, or as text without a name: the form of the configuration. */
static void write_named(struct jsonw *w, const char *key, const char *name, unsigned number)
{
	char text[8];

	snprintf(text, sizeof(text), "%u", number);
	jsonw_str(w, key, name ? name : text);
}

static void write_code_points(struct jsonw *w, uint64_t set)
{
	jsonw_array(w, "dscp");
	for (uint8_t i = 0; i < 64; i++)
		if (set >> i & 1)
			write_named(w, NULL, policy_name_of(policy_dscps, i), i);
	jsonw_end(w);
}

static void write_service(struct jsonw *w, const struct policy_service *s)
{
	jsonw_object(w, NULL);
	write_named(w, "protocol", policy_name_of(policy_protocols, s->protocol), s->protocol);
	answer_known(w, "port", s->port != 0, s->port);
	jsonw_end(w);
}

static void write_class(struct jsonw *w, const struct policy_class *p)
{
	char type[8];

	jsonw_object(w, "critical");
	write_code_points(w, p->dscp);
	jsonw_array(w, "vlan");
	for (uint16_t i = 1; i < VLAN_IDS; i++)
		if (vlan_set_has(&p->vlans, i))
			write_named(w, NULL, NULL, i);
	jsonw_end(w);
	jsonw_array(w, "mac");
	for (unsigned i = 0; i < p->n_macs; i++)
		answer_mac(w, NULL, p->mac[i]);
	jsonw_end(w);
	jsonw_array(w, "ethertype");
	for (unsigned i = 0; i < p->n_ethertypes; i++) {
		snprintf(type, sizeof(type), "0x%04x", p->ethertype[i]);
		jsonw_str(w, NULL, type);
	}
	jsonw_end(w);
	jsonw_array(w, "services");
	for (unsigned i = 0; i < p->n_services; i++)
		write_service(w, &p->service[i]);
	jsonw_end(w);
	jsonw_end(w);
}

static void write_terms(struct command *c, const struct policy *p)
{
	struct jsonw *w = c->w;

	jsonw_bool(w, "duplicate", p->duplicate);
	jsonw_bool(w, "parity", p->parity);
	jsonw_u64(w, "budget_kbits", p->budget_kbits);
	jsonw_u64(w, "budget_used_percent", fwd_budget_used_percent(c->d->fwd, c->now));
	jsonw_u64(w, "maximum_extra_delay_us", p->extra_delay_us);
	answer_known(w, "loss_permille", p->loss_pm != 0, p->loss_pm);
	answer_known(w, "jitter_us", p->jitter_us != 0, p->jitter_us);
}

/* --- counters --- */

static void write_counts(struct command *c)
{
	uint64_t n[N_COUNTERS], drop[N_DROPS];
	int64_t ms = mono_sub_ms(c->now, counters_since(c->d));
	struct jsonw *w = c->w;
	uint64_t treated;

	counters_read(c->d, n, drop);
	treated = n[CNT_critical_duplicated] + n[CNT_critical_parity];
	treated += c->d->conf->policy.parity ? 0 : n[CNT_critical_over_budget];
	jsonw_object(w, "sent");
	jsonw_u64(w, "frames", n[CNT_critical_frames]);
	jsonw_u64(w, "bytes", n[CNT_critical_bytes]);
	jsonw_u64(w, "duplicated", n[CNT_critical_duplicated]);
	jsonw_u64(w, "with_parity", n[CNT_critical_parity]);
	jsonw_u64(w, "parities", n[CNT_parity_tx]);
	jsonw_u64(w, "once_over_budget", n[CNT_critical_over_budget]);
	/* Workers count concurrently, so a difference may be negative and is limited to 0. */
	jsonw_u64(w, "once_without_second_path",
		  n[CNT_critical_frames] - min_of(n[CNT_critical_frames], treated));
	jsonw_u64(w, "extra_bytes", n[CNT_critical_extra_bytes]);
	answer_known(w, "extra_kbits_mean", ms > 0,
		     ms > 0 ? n[CNT_critical_extra_bytes] * 8 / (uint64_t)ms : 0);
	jsonw_end(w);
	jsonw_object(w, "received");
	jsonw_u64(w, "first", n[CNT_copy_first]);
	jsonw_u64(w, "second_dropped", n[CNT_copy_second]);
	jsonw_u64(w, "lost_one", n[CNT_copy_lost_one]);
	jsonw_u64(w, "late", drop[DROP_copy_old]);
	jsonw_u64(w, "parities", n[CNT_parity_rx]);
	jsonw_u64(w, "recovered", n[CNT_parity_recovered]);
	jsonw_u64(w, "unrecoverable", n[CNT_parity_unrecoverable]);
	jsonw_end(w);
	answer_age(w, "counted_seconds", c->now, counters_since(c->d));
}

/* --- the two paths to each node --- */

static void write_direction(struct command *c, const char *key, const struct path *p)
{
	jsonw_object(c->w, key);
	answer_hops(c->w, "hops", "hop_names", c->d, p);
	answer_known(c->w, "latency_us", path_works(p), p->rtt_us);
	answer_known(c->w, "long_term_us", path_works(p), p->long_term_us);
	jsonw_end(c->w);
}

static void write_pair(struct command *c, const struct node *n)
{
	const struct policy *policy = &c->d->conf->policy;
	const struct pairing *p = overlay_pair(c->overlay, n->slot);
	uint32_t difference_us = 0;
	bool both = p && pair_difference_us(p, &difference_us);

	if (!p || p->state == PAIR_OFF)
		return;
	answer_begin_node(c->w, "destination", c->d, n->id);
	jsonw_str(c->w, "state", pair_state_name(p->state, policy));
	answer_age(c->w, "since_seconds", c->now, p->since);
	jsonw_str(c->w, "reason", pair_state_text(p->state));
	write_direction(c, "first", pair_of_frames(p));
	write_direction(c, "second", pair_of_parities(p));
	answer_known(c->w, "difference_us", both, difference_us);
	jsonw_u64(c->w, "changes", p->way.n_changes);
	jsonw_u64(c->w, "loss_permille", p->loss_pm);
	jsonw_u64(c->w, "jitter_us", p->jitter_us);
	jsonw_end(c->w);
}

enum command_result show_policy(struct command *c)
{
	answer_id(c->w, "source", c->self);
	answer_call(c->w, "source_name", c->d, c->self);
	write_class(c->w, &c->d->conf->policy.critical);
	write_terms(c, &c->d->conf->policy);
	write_counts(c);
	answer_nodes(c, "pairs", write_pair);
	return CMD_DONE;
}
