// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show latency`: the latency database of this node, one row per origin. Control thread.
 */
#include "daemon/answer/answer.h"
#include "daemon/answer/command.h"
#include "proto/view.h"
#include "state/latency/choice.h"

/* An answer for more nodes is larger than CTL_ANSWER_MAX. */
#define NODES_MAX 600

static bool is_shown(const struct node *n)
{
	return n && n->state != NODE_LEFT;
}

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

		if (!is_shown(to) || slot == from->slot)
			continue;
		e = latdb_get(lat, from->slot, slot);
		write_entry(c, from->slot, to, &e);
	}
	jsonw_end(c->w);
	jsonw_end(c->w);
}

static void write_in_use(struct command *c, struct nodedb *db)
{
	jsonw_array(c->w, "paths");
	for (const struct node *n = NULL; (n = nodedb_next(db, n));) {
		const struct choice *ch = overlay_choice(c->overlay, n->slot);

		if (!ch || ch->path.n_hops == 0)
			continue;
		jsonw_object(c->w, NULL);
		answer_id(c->w, "destination", n->id);
		answer_hops(c->w, "hops", "hop_names", c->d, &ch->path);
		jsonw_u64(c->w, "since_ms", (uint64_t)mono_sub_ms(c->now, ch->since));
		jsonw_end(c->w);
	}
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
	answer_rules(c->w, command_conf(c));
	jsonw_array(c->w, "nodes");
	for (uint16_t slot = 0; slot < nodedb_slots(db); slot++) {
		const struct node *n = nodedb_at(db, slot);

		if (!is_shown(n))
			continue;
		jsonw_object(c->w, NULL);
		answer_node(c->w, "node_id", c->d, n->id);
		jsonw_bool(c->w, "transit_disabled", slot && pp.no_relay[slot]);
		jsonw_bool(c->w, "unreceived", slot && pp.unreceived[slot]);
		jsonw_end(c->w);
	}
	jsonw_end(c->w);
	jsonw_array(c->w, "rows");
	for (uint16_t slot = 0; slot < nodedb_slots(db); slot++) {
		const struct node *n = nodedb_at(db, slot);

		if (is_shown(n))
			write_row(c, db, n);
	}
	jsonw_end(c->w);
	write_in_use(c, db);
	return CMD_DONE;
}
