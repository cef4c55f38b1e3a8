// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Commands about the underlay: configured peers, lines, and IPsec. Control thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "daemon/answer/answer.h"
#include "daemon/leond.h"
#include "daemon/states.h"
#include "daemon/transport/transport.h"
#include "daemon/underlay/underlay.h"
#include "proto/overlay_seeds.h"
#include "proto/view.h"
#include "state/conf/conf.h"

/* `show peers`: each configured peer, its addresses, and the diagnosis of each. */

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
static void write_peer_transport(struct command *c, uint32_t i, const struct reach *r)
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
	write_peer_transport(c, i, &r);
	jsonw_array(c->w, "addresses");
	for (unsigned k = 0; k < r.seed.n; k++)
		write_address(c, &r.seed, k, r.seed.reached);
	jsonw_end(c->w);
	jsonw_end(c->w);
}

enum command_result show_peers(struct command *c)
{
	jsonw_array(c->w, "peers");
	for (uint32_t i = 0; i < c->d->conf->n_configured_peers; i++)
		write_peer(c, i);
	jsonw_end(c->w);
	return CMD_DONE;
}

/* `show lines`: the lines of this node, and the pairs of lines to other nodes with their
 * measurements. */

static void write_line(struct command *c, uint8_t i)
{
	const struct conf_line *l = &c->d->conf->line[i];
	const char *lost = c->d->states->lines->line[i].lost;

	jsonw_object(c->w, NULL);
	jsonw_str(c->w, "name", l->name);
	jsonw_u64(c->w, "number", i + 1u);
	answer_ip(c->w, "address", &l->ip);
	jsonw_str(c->w, "line_interface", l->interface[0] ? l->interface : NULL);
	jsonw_str(c->w, "state", lost ? "lost" : "present");
	jsonw_str(c->w, "reason", lost);
	jsonw_u64(c->w, "links", lines_links(c->d, i));
	jsonw_end(c->w);
}

static const char *pair_state(const struct overlay_pair_view *v)
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

	answer_begin_node(c->w, "node_id", c->d, n->id);
	jsonw_str(c->w, "line", conf_line_name(c->d->conf, v->ep.line));
	jsonw_u64(c->w, "peer_line", v->theirs + 1u);
	answer_endpoint(c->w, "endpoint", &v->ep);
	jsonw_str(c->w, "state", pair_state(v));
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

static void write_pairs(struct command *c, const struct node *n)
{
	struct overlay_pair_view v;

	for (unsigned k = 0; k < LINE_PAIRS; k++)
		if (overlay_line_pair(c->overlay, n->slot, k, &v))
			write_pair(c, n, &v);
}

enum command_result show_lines(struct command *c)
{
	answer_id(c->w, "source", c->self);
	answer_call(c->w, "source_name", c->d, c->self);
	jsonw_array(c->w, "lines");
	for (uint8_t i = 0; i < c->d->conf->n_lines; i++)
		write_line(c, i);
	jsonw_end(c->w);
	answer_nodes(c, "pairs", write_pairs);
	return CMD_DONE;
}

/* `show ipsec`: every address that datagrams are or may be sent to, and its IPsec state; and
 * `report ipsec`, the report of the IPsec manager. The manager creates its connections from the
 * same list. */

#define REPORT_MAX (2 * CONF_NODES_LIMIT)

static const struct ip_addr about_all = { .family = 0 };

/* node: NULL for a configured peer with an unknown node. */
static void write_endpoint(struct command *c, const struct endpoint *ep, const struct node *node,
			   const char *peer)
{
	if (!endpoint_is_usable(ep))
		return;
	jsonw_object(c->w, NULL);
	answer_ip(c->w, "address", &ep->ip);
	jsonw_u64(c->w, "port", ep->port);
	answer_id(c->w, "node_id", node ? node->id : NODE_ID_NONE);
	if (node)
		answer_name(c->w, "name", c->d, node->id);
	else
		jsonw_str(c->w, "name", peer);
	answer_protected(c->w, c->d, &ep->ip, c->now);
	jsonw_str(c->w, "reason",
		  ipsec_protects(c->d->ipsec, &ep->ip, c->now)
			  ? NULL
			  : ipsec_problem(c->d->ipsec, &ep->ip, c->now));
	jsonw_end(c->w);
}

/* Iterates the addresses of a node: the endpoint, then the announced addresses. Returns false
 * behind the last one. */
static bool node_endpoint(struct command *c, const struct node *n, unsigned i, struct endpoint *ep)
{
	struct overlay_link link = { .up = false };

	*ep = (struct endpoint){ 0 };
	if (i == 0 && overlay_link(c->overlay, n->slot, &link))
		*ep = link.ep;
	if (i > 0 && n->has_record && i <= n->rec.n_locators)
		*ep = n->rec.locator[i - 1];
	return i == 0 || (n->has_record && i <= n->rec.n_locators);
}

/* A configured peer that is a member is shown as a member. */
static bool is_of_a_node(struct command *c, const struct endpoint *wanted)
{
	struct nodedb *db = overlay_nodes(c->overlay);
	struct endpoint ep;

	for (const struct node *n = NULL; (n = nodedb_next(db, n));)
		for (unsigned i = 0; node_endpoint(c, n, i, &ep); i++)
			if (endpoint_equal(&ep, wanted))
				return true;
	return false;
}

static void write_ipsec_peer(struct command *c, const struct endpoint *ep, const char *name)
{
	if (!is_of_a_node(c, ep))
		write_endpoint(c, ep, NULL, name);
}

static void write_ipsec_peers(struct command *c)
{
	const struct conf *conf = c->d->conf;
	struct overlay_seed s;

	for (uint32_t i = 0; i < conf->n_peers; i++) {
		const struct conf_peer *p = &conf->peer[i];

		if (p->disable)
			continue;
		if (p->is_ip)
			write_ipsec_peer(c, &p->ep, p->name);
		else if (overlay_seed(c->overlay, i, &s))
			for (unsigned k = 0; k < s.n; k++)
				if (!endpoint_is_stream(&s.address[k].ep))
					write_ipsec_peer(c, &s.address[k].ep, p->name);
	}
}

/* The endpoint, and announced addresses other than it. */
static void write_endpoints(struct command *c, const struct node *n)
{
	struct endpoint first, ep;

	node_endpoint(c, n, 0, &first);
	for (unsigned i = 0; node_endpoint(c, n, i, &ep); i++)
		if (i == 0 || !endpoint_equal(&ep, &first))
			write_endpoint(c, &ep, n, NULL);
}

static void write_problems(struct command *c)
{
	const struct ipsec_report *r = c->d->ipsec;

	jsonw_array(c->w, "problems");
	for (size_t i = 0; ipsec_problem(r, &about_all, c->now) && i < r->n_problems; i++)
		if (r->problem[i].ip.family == 0)
			jsonw_str(c->w, NULL, r->problem[i].text);
	jsonw_end(c->w);
}

/* A configuration with other values needs a restart. Until then, leond uses these. */
static void write_own(struct command *c)
{
	const struct conf *conf = c->d->conf;

	answer_id(c->w, "node_id", c->self);
	jsonw_u64(c->w, "port", conf->port);
	jsonw_array(c->w, "source_addresses");
	if (conf->source4.family)
		answer_ip(c->w, NULL, &conf->source4);
	if (conf->source6.family)
		answer_ip(c->w, NULL, &conf->source6);
	jsonw_end(c->w);
}

enum command_result show_ipsec(struct command *c)
{
	struct nodedb *db = overlay_nodes(c->overlay);

	write_own(c);
	answer_age(c->w, "reported_seconds", c->now, c->d->ipsec->at);
	write_problems(c);
	jsonw_array(c->w, "endpoints");
	write_ipsec_peers(c);
	for (const struct node *n = NULL; (n = nodedb_next(db, n));)
		write_endpoints(c, n);
	jsonw_end(c->w);
	return CMD_DONE;
}

static bool read_problem(struct jsonr_node *n, struct ipsec_problem *p)
{
	const char *text, *address;

	if (!n || !jsonr_str(n, "text", &text))
		return false;
	*p = (struct ipsec_problem){ .ip = about_all };
	snprintf(p->text, sizeof(p->text), "%s", text);
	log_mask(p->text);
	return !jsonr_str(n, "address", &address) || ip_parse(address, &p->ip) == 0;
}

/* Problems of the current report; a manager of an earlier build sends none. */
static bool report_problems(struct command *c)
{
	struct jsonr_node *list = jsonr_array(c->arguments, "problems");
	size_t n = jsonr_len(list);
	struct ipsec_problem *problem = x_calloc(n ? n : 1, sizeof(*problem));

	for (size_t i = 0; i < n; i++) {
		if (n <= REPORT_MAX && read_problem(jsonr_at(list, i), &problem[i]))
			continue;
		free(problem);
		return false;
	}
	ipsec_report_problems(c->d->ipsec, problem, n);
	return true;
}

enum command_result report_ipsec(struct command *c)
{
	struct jsonr_node *list = jsonr_array(c->arguments, "protected");
	size_t n = jsonr_len(list);
	struct ip_addr *ip;
	const char *text;

	if (!list)
		return command_refuse(c, "argument \"protected\" is missing: a list of addresses");
	if (n > REPORT_MAX)
		return command_refuse(c, "argument \"protected\" has more than %d addresses",
				      REPORT_MAX);
	ip = x_calloc(n ? n : 1, sizeof(*ip));
	for (size_t i = 0; i < n; i++) {
		if (jsonr_str_at(list, i, &text) && ip_parse(text, &ip[i]) == 0)
			continue;
		free(ip);
		return command_refuse(c, "argument \"protected\": entry %zu is no IP address",
				      i + 1);
	}
	ipsec_report_set(c->d->ipsec, ip, n, c->now);
	if (!report_problems(c))
		return command_refuse(c, "argument \"problems\" is no list of {address, text}");
	jsonw_u64(c->w, "count", n);
	return CMD_DONE;
}
