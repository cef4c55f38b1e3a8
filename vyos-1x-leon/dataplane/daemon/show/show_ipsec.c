// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show ipsec`: every address that datagrams are or may be sent to, and its IPsec state; and
 * `report ipsec`, the report of the IPsec manager. The manager creates its connections from the
 * same list. Control thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "daemon/answer/answer.h"
#include "daemon/answer/command.h"
#include "daemon/leond.h"
#include "daemon/underlay/ipsec.h"
#include "proto/overlay_seeds.h"
#include "proto/view.h"
#include "state/conf/conf.h"

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

static void write_peer(struct command *c, const struct endpoint *ep, const char *name)
{
	if (!is_of_a_node(c, ep))
		write_endpoint(c, ep, NULL, name);
}

static void write_peers(struct command *c)
{
	const struct conf *conf = c->d->conf;
	struct overlay_seed s;

	for (uint32_t i = 0; i < conf->n_peers; i++) {
		const struct conf_peer *p = &conf->peer[i];

		if (p->disable)
			continue;
		if (p->is_ip)
			write_peer(c, &p->ep, p->name);
		else if (overlay_seed(c->overlay, i, &s))
			for (unsigned k = 0; k < s.n; k++)
				if (!endpoint_is_stream(&s.address[k].ep))
					write_peer(c, &s.address[k].ep, p->name);
	}
}

/* The endpoint, and announced addresses other than it. */
static void write_node(struct command *c, const struct node *n)
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
	write_peers(c);
	for (const struct node *n = NULL; (n = nodedb_next(db, n));)
		write_node(c, n);
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
