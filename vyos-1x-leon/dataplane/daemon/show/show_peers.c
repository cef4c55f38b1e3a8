// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show peers`: each configured peer, its addresses, and the diagnosis of each. Control thread.
 */
#include "daemon/answer/answer.h"
#include "daemon/answer/command.h"
#include "daemon/transport/transport.h"
#include "daemon/underlay/reach.h"
#include "proto/view.h"
#include "state/conf/conf.h"

static void write_address(struct command *c, const struct overlay_seed *s, unsigned k, bool reached)
{
	bool requested = s->address[k].requested > 0,
	     found = !mono_is_never(s->address[k].found_at);
	enum seed_diagnosis f = s->address[k].diagnosis;
	char buf[REACH_TEXT_LEN];

	jsonw_object(c->w, NULL);
	answer_link_endpoint(c->w, "endpoint", c->d, &s->address[k].ep);
	jsonw_u64(c->w, "requested", s->address[k].requested);
	answer_age(c->w, "requested_seconds", c->now,
		   requested ? s->address[k].requested_at : MONO_NEVER);
	/* For a reached peer, the diagnosis of an absence is outdated. */
	jsonw_str(c->w, "result", reached ? NULL : reach_diagnosis_name(f));
	jsonw_str(c->w, "text", reached ? NULL : reach_diagnosis_text(f, s->address[k].error, buf));
	answer_age(c->w, "result_seconds", c->now,
		   found && !reached ? s->address[k].found_at : MONO_NEVER);
	jsonw_end(c->w);
}

/* Transport of the direct link, and state of the TLS connection that may replace it. */
static void write_transport(struct command *c, uint32_t i, const struct reach *r)
{
	struct nodedb *db = overlay_nodes(c->overlay);
	const struct node *n = r->seed.reached ? nodedb_find(db, r->seed.node) : NULL;
	struct fallback_view tls = fallback_view(c->d, i);
	struct overlay_link link = { .up = false };
	const char *transport = NULL;

	if (n && overlay_link(c->overlay, n->slot, &link) && link.up)
		transport = endpoint_is_stream(&link.ep) ? "tls" : "udp";
	jsonw_str(c->w, "transport", transport);
	answer_known(c->w, "tls_port", r->peer->tls_port != 0, r->peer->tls_port);
	jsonw_str(c->w, "tls_state", tls.state);
	jsonw_str(c->w, "tls_reason", tls.reason);
}

static void write_peer(struct command *c, uint32_t i)
{
	node_id_t node = NODE_ID_NONE;
	struct reach r;
	char buf[REACH_TEXT_LEN];

	reach_look(c->d, i, &r);
	if (!r.peer->disable)
		node = r.seed.node;
	jsonw_object(c->w, NULL);
	jsonw_str(c->w, "name", r.peer->name);
	jsonw_str(c->w, "address", r.peer->host);
	jsonw_u64(c->w, "port", r.peer->ep.port);
	jsonw_str(c->w, "description", r.peer->description[0] ? r.peer->description : NULL);
	jsonw_str(c->w, "state", r.state);
	answer_age(c->w, "since_seconds", c->now, r.since);
	answer_id(c->w, "node_id", node);
	answer_name(c->w, "node_name", c->d, node);
	jsonw_str(c->w, "reason", reach_reason(&r, buf));
	answer_age(c->w, "resolved_seconds", c->now, r.resolved_at);
	jsonw_str(c->w, "resolve_error", r.resolve_error[0] ? r.resolve_error : NULL);
	write_transport(c, i, &r);
	jsonw_array(c->w, "addresses");
	for (unsigned k = 0; k < r.seed.n; k++)
		write_address(c, &r.seed, k, r.seed.reached);
	jsonw_end(c->w);
	jsonw_end(c->w);
}

enum command_result show_peers(struct command *c)
{
	jsonw_array(c->w, "peers");
	for (uint32_t i = 0; i < command_conf(c)->n_configured_peers; i++)
		write_peer(c, i);
	jsonw_end(c->w);
	return CMD_DONE;
}
