// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show lines`: the lines of this node, and the pairs of lines to other nodes with their
 * measurements. Control thread.
 */
#include "daemon/answer/answer.h"
#include "daemon/answer/command.h"
#include "daemon/underlay/underlay.h"
#include "proto/view.h"
#include "state/conf/conf.h"

static void write_line(struct command *c, uint8_t i)
{
	const struct conf_line *l = &command_conf(c)->line[i];

	jsonw_object(c->w, NULL);
	jsonw_str(c->w, "name", l->name);
	jsonw_u64(c->w, "number", i + 1u);
	answer_ip(c->w, "address", &l->ip);
	jsonw_str(c->w, "line_interface", l->interface[0] ? l->interface : NULL);
	jsonw_str(c->w, "state", lines_lost(c->d, i) ? "lost" : "present");
	jsonw_str(c->w, "reason", lines_lost(c->d, i));
	jsonw_u64(c->w, "links", lines_links(c->d, i));
	jsonw_end(c->w);
}

static const char *state_of(const struct overlay_pair_view *v)
{
	if (v->in_use)
		return v->silent ? "in-use-silent" : "in-use";
	if (!v->verified)
		return "no-answer";
	return v->silent ? "silent" : "standby";
}

static void write_pair(struct command *c, const struct node *n, const struct overlay_pair_view *v)
{
	const struct link_filter *f = &v->filter;
	bool sampled = f->n_samples > 0;

	jsonw_object(c->w, NULL);
	answer_node(c->w, "node_id", c->d, n->id);
	jsonw_str(c->w, "line", conf_line_name(command_conf(c), v->ep.line));
	jsonw_u64(c->w, "peer_line", v->theirs + 1u);
	answer_endpoint(c->w, "endpoint", &v->ep);
	jsonw_str(c->w, "state", state_of(v));
	answer_known(c->w, "rtt_us", sampled, (uint64_t)f->now_us);
	answer_known(c->w, "variation_us", sampled, (uint64_t)f->variation_us);
	answer_known(c->w, "loss_permille", sampled, f->loss_pm);
	answer_known(c->w, "rate_kbits", v->kbits, v->kbits);
	jsonw_bool(c->w, "distributed", v->distributed);
	jsonw_u64(c->w, "probes_sent", v->probes_tx);
	jsonw_u64(c->w, "probes_lost", v->probes_lost);
	answer_age(c->w, "answered_seconds", c->now, v->answered);
	answer_age(c->w, "in_use_seconds", c->now, v->in_use ? v->since : MONO_NEVER);
	jsonw_u64(c->w, "changes", v->changes);
	jsonw_end(c->w);
}

enum command_result show_lines(struct command *c)
{
	struct nodedb *db = overlay_nodes(c->overlay);
	struct overlay_pair_view v;

	answer_id(c->w, "source", c->self);
	answer_call(c->w, "source_name", c->d, c->self);
	jsonw_array(c->w, "lines");
	for (uint8_t i = 0; i < command_conf(c)->n_lines; i++)
		write_line(c, i);
	jsonw_end(c->w);
	jsonw_array(c->w, "pairs");
	for (uint16_t slot = 0; slot < nodedb_slots(db); slot++)
		for (unsigned k = 0; slot != SLOT_SELF && k < LINE_PAIRS; k++)
			if (nodedb_at(db, slot) && overlay_line_pair(c->overlay, slot, k, &v))
				write_pair(c, nodedb_at(db, slot), &v);
	jsonw_end(c->w);
	return CMD_DONE;
}
